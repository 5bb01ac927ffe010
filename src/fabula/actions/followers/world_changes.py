"""Apply what a turn changes in the world: the journal, and where everybody is. Strictly in the order of the line.

1. The turns are found that were marked on the way to this one and are not applied yet; mostly it is the only one.
2. They are applied from the oldest on, each from the record of the one before. A piece of work that comes early thus
   does first what should have come before it, and that is then found done: nothing waits for a lost or buried one.

What is kept first for a turn stays, so that it is applied once in effect however often this runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fabula.actions.house import House
from fabula.actions.plays.world_records import make_record, missing_records
from fabula.actions.repositories import SESSIONS
from fabula.actions.work.work_kind import HeldWork, taken_over
from fabula.ports.store import Unit
from fabula.story.values import JsonObject


async def apply_world(house: House, held: HeldWork) -> JsonObject | None:
    """Applies the changes of a turn, and before them those that are missing on its line."""
    turn_id = str(held.work.input["turn_id"])
    missing = await _missing(house, turn_id)
    for earlier in missing[:-1]:
        await house.store.write(await _applied(house, earlier, session_id=held.work.subject), durable=False)
    keep = await _applied(house, missing[-1], session_id=held.work.subject) if missing else None

    async def end(unit: Unit) -> None:
        # Mostly there is one turn to apply, and this the only transaction.
        if keep is not None:
            await keep(unit)
        if not await unit.work.finish(held.work):
            raise taken_over(held.work)

    await house.store.write(end, durable=False)
    return None


async def _missing(house: House, turn_id: str) -> list[str]:
    """The turns to be applied, oldest first; none where the turn itself is gone."""
    async with house.store.reading() as unit:
        turn = await unit.plays.turn(turn_id)
        return [] if turn is None or turn.status != "committed" else await missing_records(house, unit, turn_id)


async def _applied(house: House, turn_id: str, *, session_id: str) -> Callable[[Unit], Awaitable[None]]:
    """Works out the record of a turn; what it answers writes that down."""
    async with house.store.reading() as unit:
        session = await SESSIONS.find(unit, session_id)
        record = None if session is None else await make_record(house, unit, session, turn_id)

    async def keep(unit: Unit) -> None:
        # The play may have been deleted meanwhile, with all its turns.
        if record is not None and await unit.plays.turn(turn_id) is not None:
            await unit.plays.keep_world(turn_id, record.as_json())

    return keep
