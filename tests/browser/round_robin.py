"""A door before several servers: each request goes to the next one, as with the plainest of load balancers."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle

LARGEST_HEAD = 65536
_KEPT_OPEN = re.compile(rb"\r\nconnection:[^\r]*", re.IGNORECASE)


class RoundRobin:
    """Counts how many requests each server got. A connection is for one request, so that the next one is another's."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._next = cycle(ports)
        self.asked = dict.fromkeys(ports, 0)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            port = next(self._next)
            self.asked[port] += 1
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
            once = _KEPT_OPEN.sub(b"", head[:-4]) + b"\r\nConnection: close\r\n\r\n"
            far_writer.write(once)
            ways = [asyncio.ensure_future(_pass_on(*way)) for way in ((reader, far_writer), (far_reader, writer))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.wait(ways)
                far_writer.transport.abort()
        with suppress(OSError):
            await writer.drain()
        writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(LARGEST_HEAD):
            writer.write(data)
            await writer.drain()


@contextmanager
def round_robin(*addresses: str) -> Iterator[tuple[str, RoundRobin]]:
    """The address of the door, in a thread of its own."""
    robin = RoundRobin([int(address.rpartition(":")[2]) for address in addresses])
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    begun = asyncio.run_coroutine_threadsafe(asyncio.start_server(robin.serve, "127.0.0.1", 0), loop).result(10)
    try:
        yield f"http://127.0.0.1:{begun.sockets[0].getsockname()[1]}", robin
    finally:
        begun.close()
        asyncio.run_coroutine_threadsafe(_end_all(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


async def _end_all() -> None:
    """Ends what is still passed on, so that nothing is left to complain about."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
