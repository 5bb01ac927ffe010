"""Apply what a turn changes in the world: the journal, and where everybody is. Strictly in the order of the line.

1. The turns are found that were marked on the way to this one and are not applied yet; mostly it is the only one.
2. They are applied from the oldest on, each from the record of the one before. A piece of work that comes early thus
   does first what should have come before it, and that is then found done: nothing waits for a lost or buried one.

What is kept first for a turn stays, so that it is applied once in effect however often this runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from fabula.actions.house import House
from fabula.actions.plays.world_records import make_missing_records
from fabula.actions.repositories import SESSIONS
from fabula.actions.work.work_kind import HeldWork, taken_over
from fabula.ports.store import Unit
from fabula.ports.work import Work
from fabula.story.values import JsonObject
from fabula.story.world_records import WorldRecord

AT_ONCE = 64
"""So many turns are applied in one transaction, so that nobody waits long for it; mostly there is one."""

Made = Sequence[tuple[str, WorldRecord]]


async def apply_world(house: House, held: HeldWork) -> JsonObject | None:
    """Applies the changes of a turn, and before them those that are missing on its line."""
    is_all = False
    while not is_all:
        made = await _missing(house, str(held.work.input["turn_id"]), session_id=held.work.subject)
        is_all = len(made) < AT_ONCE
        await house.store.write(partial(_keep, made, held.work if is_all else None), durable=False)
    return None


async def _missing(house: House, turn_id: str, *, session_id: str) -> Made:
    """What is to be applied, oldest first; nothing where the turn itself is gone."""
    async with house.store.reading() as unit:
        turn = await unit.plays.turn(turn_id)
        session = await SESSIONS.find(unit, session_id)
        if turn is None or session is None or turn.status != "committed":
            return []
        return await make_missing_records(house, unit, session, turn_id, most=AT_ONCE)


async def _keep(made: Made, ends: Work | None, unit: Unit) -> None:
    """Keeps records, and with the last of them ends the work."""
    for turn_id, record in made:
        # The play may have been deleted meanwhile, with all its turns.
        if await unit.plays.turn(turn_id) is not None:
            await unit.plays.keep_world(turn_id, record.as_json())
    if ends is not None and not await unit.work.finish(ends):
        raise taken_over(ends)
