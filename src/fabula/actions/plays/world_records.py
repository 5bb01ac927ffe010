"""Read what followers have made of the world on a line, as far as they have come."""

from __future__ import annotations

from fabula.actions.house import House
from fabula.actions.plays.play_states import known_state
from fabula.ports.store import Unit
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.state import Snapshot
from fabula.story.world_records import WorldRecord, record_after

STEPS_UP = 400
"""How far above a turn its last record is looked for, when those of its own are not applied yet."""
MOST_READ_AHEAD = 32
"""A reader who cannot wait for followers works out so many records for itself."""


async def record_of(unit: Unit, turn_id: str) -> WorldRecord | None:
    """The record of exactly this turn."""
    kept = await unit.plays.nearest_world(turn_id, within=0)
    return None if kept is None else WorldRecord.model_validate(kept)


async def newest_record(unit: Unit, state: PlayState) -> WorldRecord | None:
    """The newest record on the line to a state; None where the story has no calendar, or nothing was applied yet."""
    if state.world_mark is None:
        return None
    kept = await unit.plays.nearest_world(state.world_mark.turn_id, within=STEPS_UP)
    return None if kept is None else WorldRecord.model_validate(kept)


async def with_applied_version(unit: Unit, state: PlayState) -> Snapshot:
    """The snapshot of a state, which also says how far followers have come with it."""
    if state.world_mark is None:
        return state.snapshot
    record = await newest_record(unit, state)
    return state.snapshot.model_copy(update={"applied_version": 0 if record is None else record.version})


async def missing_records(house: House, unit: Unit, turn_id: str, *, most: int | None = None) -> list[str]:
    """The marked turns up to this one that have no record yet, oldest first; no more than `most` of the newest."""
    found: list[str] = []
    wanted: str | None = turn_id
    while wanted is not None and (most is None or len(found) < most) and await record_of(unit, wanted) is None:
        found.append(wanted)
        mark = (await known_state(house, unit, wanted)).world_mark
        wanted = None if mark is None else mark.before
    return found[::-1]


async def make_missing_records(
    house: House, unit: Unit, session: SessionSettings, turn_id: str, *, most: int
) -> list[tuple[str, WorldRecord]]:
    """The records that are missing up to a turn, each from the one before; of more than `most` the oldest."""
    made: list[tuple[str, WorldRecord]] = []
    for missing in (await missing_records(house, unit, turn_id))[:most]:
        if made:
            before: WorldRecord | None = made[-1][1]
        else:
            mark = (await known_state(house, unit, missing)).world_mark
            before = None if mark is None or mark.before is None else await record_of(unit, mark.before)
        made.append((missing, await _record_on(house, unit, session, missing, before or WorldRecord())))
    return made


async def record_at_head(house: House, unit: Unit, session: SessionSettings, state: PlayState) -> WorldRecord | None:
    """The record of a state, worked out as far as followers have not come; where that is too much, the newest one."""
    applied = await newest_record(unit, state)
    if state.world_mark is None:
        return None
    missing = await missing_records(house, unit, state.world_mark.turn_id, most=MOST_READ_AHEAD)
    if len(missing) == MOST_READ_AHEAD:
        return applied
    record = applied or WorldRecord()
    for turn_id in missing:
        record = await _record_on(house, unit, session, turn_id, record)
    return record


async def _record_on(
    house: House, unit: Unit, session: SessionSettings, turn_id: str, before: WorldRecord
) -> WorldRecord:
    state = await known_state(house, unit, turn_id)
    setup = await house.play_setups.of(unit, session, state.graph)
    return record_after(before, setup.world, setup.nodes, state, turn_id)
