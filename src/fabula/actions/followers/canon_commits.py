"""Commit canon after a turn at which a scene ended, somebody died, something was found, or much was told.

What fails is tried again; until it succeeds the scene is `finalizing`, and nothing of it is canon.
"""

from __future__ import annotations

from collections.abc import Callable

from fabula.actions.canon.keeper import SceneTools, commit_line
from fabula.actions.house import House
from fabula.actions.work.work_kind import HeldWork, taken_over
from fabula.ports.store import Unit
from fabula.story.values import JsonObject

ToolsOf = Callable[[str], SceneTools]
"""The tools with which agents reach the scenes of a session."""


async def commit_canon(house: House, tools_of: ToolsOf, held: HeldWork) -> JsonObject | None:
    """Has the canon keeper do its work for a turn, and before it for those above that it was not done for yet."""
    session_id = held.work.subject
    await commit_line(house, session_id, str(held.work.input["turn_id"]), tools_of(session_id))

    async def end(unit: Unit) -> None:
        if not await unit.work.finish(held.work):
            raise taken_over(held.work)

    await house.store.write(end)
    return None
