"""Prepare the lore of a large story once, for every process that plays it.

A bundle is an index of all its lore and what each of its scenes calls up, kept under the version of exactly what it was
made of. Whoever gathers what a session plays reads it with the rest; whoever finds none works the same out itself. So
it never changes what a prompt says, only who did the work for it, and when.
"""

from __future__ import annotations

from functools import partial

from fabula.actions.house import House
from fabula.actions.plays.play_states import known_state
from fabula.actions.repositories import SESSIONS
from fabula.actions.work.work_kind import HeldWork, taken_over
from fabula.loops.scene.play_setup import PlaySetup
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.values import JsonObject

MOST_KEPT = 500
"""So many bundles are kept. They take some hundred kilobytes each; one that went is made again when it is missed."""


MOST_PLAYS = 100


async def precompute_lore(house: House, held: HeldWork) -> JsonObject | None:
    """Keeps a bundle of the lore that a turn was played with, unless there is one."""
    made = await _missing_bundle(house, held.work.subject, str(held.work.input["turn_id"]))

    async def end(unit: Unit) -> None:
        if made is not None:
            await unit.lore_bundles.put(*made)
        if not await unit.work.finish(held.work):
            raise taken_over(held.work)

    await house.store.write(end, durable=False)
    return None


async def refresh_lore(house: House) -> int:
    """Keeps bundles of lore that was changed meanwhile, for the plays that changed last; answers how many."""
    plays = await house.store.read(lambda unit: unit.plays.recent(limit=MOST_PLAYS))
    count = 0
    for play in plays:
        made = await _missing_bundle(house, play.session_id, play.head_turn_id)
        if made is not None:
            await house.store.write(partial(_keep, *made), durable=False)
            count += 1
    return count


async def prune_lore_bundles(house: House) -> int:
    """Removes all but the newest bundles; answers how many."""
    return await house.store.write(lambda unit: unit.lore_bundles.prune(keep=MOST_KEPT), durable=False)


async def _keep(version: str, bundle: JsonObject, unit: Unit) -> None:
    await unit.lore_bundles.put(version, bundle)


async def _missing_bundle(house: House, session_id: str, turn_id: str) -> tuple[str, JsonObject] | None:
    """A bundle of what a session plays after a turn, under its version; None where it needs none, or there is one."""
    async with house.store.reading() as unit:
        setup = await _played_after(house, unit, session_id, turn_id)
        if setup is None or not setup.wants_bundle:
            return None
        version = await run_in_thread(lambda: setup.lore_version)
        if await unit.lore_bundles.has(version):
            return None
    return version, await run_in_thread(setup.make_lore_bundle)


async def _played_after(house: House, unit: Unit, session_id: str, turn_id: str) -> PlaySetup | None:
    session = await SESSIONS.find(unit, session_id)
    turn = await unit.plays.turn(turn_id)
    if session is None or turn is None or turn.status != "committed":
        return None
    state = await known_state(house, unit, turn_id)
    # Ink stories have no lorebooks.
    return await house.play_setups.of(unit, session, state.graph) if state.ink is None else None
