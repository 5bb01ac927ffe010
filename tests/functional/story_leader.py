"""A process that leads a free play on to its next scene, and dies at one step of what that writes."""

from __future__ import annotations

import asyncio
import sys

from tests.mortal_house import mortal_house

from fabula.actions.campaigns.story_loop import lead_on


async def main(settings: str, session_id: str, lives_for: int) -> None:
    async with mortal_house(settings, lives_for) as house:
        await lead_on(house, session_id)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
