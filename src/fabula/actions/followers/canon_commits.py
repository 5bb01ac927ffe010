"""Commit canon after a turn at which a scene ended, somebody died, something was found, or much was told.

What fails is tried again; until it succeeds the scene is `finalizing`, and nothing of it is canon.
"""

from __future__ import annotations

from fabula.actions.canon.keeper import commit_line
from fabula.actions.house import House
from fabula.actions.work.work_kind import HeldWork, taken_over
from fabula.ports.store import Unit
from fabula.story.values import JsonObject


async def commit_canon(house: House, held: HeldWork) -> JsonObject | None:
    """Has the canon keeper do its work for a turn, and before it for those above that it was not done for yet."""
    await commit_line(house, held.work.subject, str(held.work.input["turn_id"]))

    async def end(unit: Unit) -> None:
        if not await unit.work.finish(held.work):
            raise taken_over(held.work)

    await house.store.write(end)
    return None
