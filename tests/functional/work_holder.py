"""A process that holds a piece of work until it is killed."""

from __future__ import annotations

import asyncio
import sys

from fabula.adapters.stores import open_store
from fabula.adapters.world import SystemClock
from fabula.ports.work import Lease, NewWork
from fabula.settings import Settings


async def main(settings: str, owner: str, lease_ms: int) -> None:
    clock = SystemClock()
    store = open_store(Settings.model_validate_json(settings), clock)
    await store.open()
    lease = Lease(owner=owner, until_ms=clock.now_ms() + lease_ms)
    async with store.writing() as unit:
        await unit.work.begin(NewWork(work_id="w1", kind="errand", held=lease))
    print("held", flush=True)  # noqa: T201
    await asyncio.Event().wait()


if __name__ == "__main__":
    import os

    name = sys.argv[2].replace("PID", str(os.getpid()))
    asyncio.run(main(sys.argv[1], name, int(sys.argv[3])))
