"""After a scene of a free play has ended, the story goes on: done here, unless the player was quicker."""

from __future__ import annotations

from fabula.actions.campaigns.story_loop import lead_on
from fabula.actions.house import House
from fabula.actions.repositories import SESSIONS
from fabula.actions.work.work_kind import HeldWork
from fabula.story.values import JsonObject


async def lead_story_on(house: House, held: HeldWork) -> JsonObject | None:
    """Leads a play on to its next scene. One that is gone, or is in a scene by now, has nothing to be done."""
    session_id = held.work.subject
    async with house.store.reading() as unit:
        if await SESSIONS.find(unit, session_id) is None:
            return {}
    await lead_on(house, session_id)
    return {}
