"""A process that listens to a queue, and says on its standard output what it was given."""

from __future__ import annotations

import asyncio
import sys

import orjson

from fabula.adapters.queues import broker_queue
from fabula.ports.queue import Announcement
from fabula.ports.work import QUEUES


def tell(**told: object) -> None:
    sys.stdout.write(orjson.dumps(told).decode() + "\n")
    sys.stdout.flush()


async def main(address: str, prefix: str, queues: str, most: int, limit_s: float) -> None:
    held: dict[str, asyncio.Event] = {}

    async def take(announcement: Announcement) -> None:
        tell(given=announcement.work_id, queue=announcement.queue, trace_id=announcement.trace_id)
        if announcement.work_id.startswith("bad"):
            raise KeyError(announcement.work_id)
        if not announcement.work_id.startswith("quick"):
            try:
                await held.setdefault(announcement.work_id, asyncio.Event()).wait()
            except asyncio.CancelledError:
                tell(cancelled=announcement.work_id)
                raise

    queue = broker_queue(address, prefix=prefix)
    await queue.listen([name for name in QUEUES if name in queues.split(",")], take, most=most, limit_s=limit_s)
    while not (await queue.status()).listeners:
        await asyncio.sleep(0.1)
    tell(ready=True)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    stopping: asyncio.Task[None] | None = None
    while line := (await reader.readline()).decode().strip():
        if line == "stop":
            stopping = asyncio.create_task(queue.close())
            stopping.add_done_callback(lambda _: reader.feed_eof())
        else:
            held.setdefault(line, asyncio.Event()).set()
    if stopping is not None:
        await stopping
        tell(stopped=True)


if __name__ == "__main__":
    place, begins, names, at_once, limit = sys.argv[1:]
    asyncio.run(main(place, begins, names, int(at_once), float(limit)))
