"""Prepare lore before it is asked for, once for every process that plays a story.

Of a large story the bundle is an index of all its lore and what each of its scenes calls up; of a world it is what may
be said at the places that the present scene leads to (`setups/scene_bundles.py`). Each is kept under the version of
exactly what it was made of. Whoever needs one reads it with the rest, and whoever finds none works the same out itself.
So it never changes what a prompt says, only who did the work for it, and when.
"""

from __future__ import annotations

from functools import partial

from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import known_state
from fabula.actions.repositories import SESSIONS
from fabula.actions.setups.scene_bundles import missing_bundle
from fabula.actions.work.work_kind import HeldWork, taken_over
from fabula.loops.scene.play_setup import PlaySetup
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.plays import PlayState
from fabula.story.values import JsonObject

MOST_KEPT = 500
"""So many bundles are kept. They take some hundred kilobytes each; one that went is made again when it is missed."""


MOST_PLAYS = 100


async def precompute_lore(house: House, held: HeldWork) -> JsonObject | None:
    """Keeps bundles of the lore that a turn was played with and of where it leads, unless they are there."""
    made = await _missing_bundles(house, held.work.subject, str(held.work.input["turn_id"]))

    async def end(unit: Unit) -> None:
        for one in made:
            await unit.lore_bundles.put(*one)
        if not await unit.work.finish(held.work):
            raise taken_over(held.work)

    await house.store.write(end, durable=False)
    return None


async def refresh_lore(house: House) -> int:
    """Keeps bundles of lore that was changed meanwhile, for the plays that changed last; answers how many."""
    plays = await house.store.read(lambda unit: unit.plays.recent(limit=MOST_PLAYS))
    count = 0
    for play in plays:
        for made in await _missing_bundles(house, play.session_id, play.head_turn_id):
            await house.store.write(partial(_keep, *made), durable=False)
            count += 1
    return count


async def prune_lore_bundles(house: House) -> int:
    """Removes all but the newest bundles; answers how many."""
    return await house.store.write(lambda unit: unit.lore_bundles.prune(keep=MOST_KEPT), durable=False)


async def _keep(version: str, bundle: JsonObject, unit: Unit) -> None:
    await unit.lore_bundles.put(version, bundle)


async def _missing_bundles(house: House, session_id: str, turn_id: str) -> list[tuple[str, JsonObject]]:
    """Bundles of what a session plays after a turn, each under its version, as far as they are needed and not there."""
    made: list[tuple[str, JsonObject]] = []
    async with house.store.reading() as unit:
        played = await _played_after(house, unit, session_id, turn_id)
        if played is None:
            return []
        setup, state = played
        scenes = await missing_bundle(unit, setup, state)
        if scenes is not None:
            made.append(scenes)
        version = await run_in_thread(lambda: setup.lore_version) if setup.wants_bundle else None
        if version is None or await unit.lore_bundles.has(version):
            return made
    return [*made, (version, await run_in_thread(setup.make_lore_bundle))]


async def _played_after(house: House, unit: Unit, session_id: str, turn_id: str) -> tuple[PlaySetup, PlayState] | None:
    known = await SESSIONS.find(unit, session_id) is not None
    turn = await unit.plays.turn(turn_id)
    if not known or turn is None or turn.status != "committed":
        return None
    state = await known_state(house, unit, turn_id)
    setup = await kind_of_play(state).setup(house, unit, session_id, state)
    return None if setup is None else (setup, state)
