"""A process that writes units through the store until it is killed; each acknowledged one is a line on its output.

Each unit adds a schema, two characters that refer to it, and a blob, so that a unit that is half there can be told.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from fabula.adapters.stores import open_store
from fabula.adapters.world import SystemClock
from fabula.ports.store import Reference, Unit
from fabula.settings import Settings


async def write_one(unit: Unit, name: str) -> None:
    blob = await unit.blobs.put(name.encode() * 500)
    await unit.resources.add("schema", name, {"blob": blob, "text": name * 100})
    for part in ("left", "right"):
        used = [Reference(kind="schema", id=name)]
        await unit.resources.add("character", f"{name}-{part}", {"text": part * 300}, references=used)


async def main(folder: Path, prefix: str) -> None:
    store = open_store(Settings(data_dir=folder), SystemClock())
    await store.open()
    print("ready", flush=True)  # noqa: T201

    async def write(lane: int) -> None:
        for number in range(1_000_000):
            name = f"{prefix}-{lane}-{number}"
            async with store.writing() as unit:
                await write_one(unit, name)
            print(name, flush=True)  # noqa: T201

    await asyncio.gather(*(write(lane) for lane in range(4)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
