"""A process that works on memories, and dies at one step of what that writes: `consolidate TURN` or `embed`."""

from __future__ import annotations

import asyncio
import sys

from tests.mortal_house import mortal_house

from fabula.actions.followers.consolidation import consolidate_at
from fabula.actions.memories.embed_memories import embed_all


async def main(settings: str, lives_for: int, work: str, turn_id: str = "") -> None:
    async with mortal_house(settings, lives_for) as house:
        if work == "embed":
            await embed_all(house)
        else:
            await consolidate_at(house, turn_id)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:]))
