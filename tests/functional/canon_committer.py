"""A process that has the canon keeper do its work for a turn, and dies at one step of what that writes."""

from __future__ import annotations

import asyncio
import sys

from tests.mortal_house import mortal_house

from fabula.actions.canon.keeper import commit_line


async def main(settings: str, session_id: str, turn_id: str, lives_for: int) -> None:
    async with mortal_house(settings, lives_for) as house:
        await commit_line(house, session_id, turn_id)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
