"""Prepare the lore of likely next scenes: what of it their people may know, with an index, and what the scenes call up.

A bundle belongs to the very entries that it was made of: when a lorebook, a character or the story changes, plays get
other entries, and prompts that find no bundle for them work it out themselves. So it never changes what a prompt says,
only when the work for it is done. Bundles are kept in the process that made them.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabula.actions.house import House
from fabula.actions.plays.play_states import known_state
from fabula.actions.repositories import SESSIONS
from fabula.actions.work.work_kind import HeldWork, taken_over
from fabula.loops.scene.play_setup import PlaySetup
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.changes import enter
from fabula.story.graph import Node
from fabula.story.knowledge import Reader
from fabula.story.lore import call_up, has_book, prepare_book, readable_lore
from fabula.story.plays import PlayState
from fabula.story.schedules import with_presence
from fabula.story.state import WorldState
from fabula.story.values import JsonObject

MOST_SCENES = 8


async def precompute_lore(house: House, held: HeldWork) -> JsonObject | None:
    """Prepares the lore of the scenes to which the one after a turn leads."""
    async with house.store.reading() as unit:
        session = await SESSIONS.find(unit, held.work.subject)
        turn = await unit.plays.turn(str(held.work.input["turn_id"]))
        if session is not None and turn is not None and turn.status == "committed":
            state = await known_state(house, unit, turn.turn_id)
            setup = await house.play_setups.of(unit, session, state.graph)
            await prepare_next_scenes(setup, state)

    async def end(unit: Unit) -> None:
        if not await unit.work.finish(held.work):
            raise taken_over(held.work)

    await house.store.write(end, durable=False)
    return None


async def prepare_next_scenes(setup: PlaySetup, state: PlayState) -> None:
    """Prepares what the prompts of each scene that may come next ask of the lore."""
    for node in likely_next(setup, state):
        there = arrival(setup, state, node)
        for reader in _readers(state, there):
            known = readable_lore(setup.lore, reader, there)
            if not has_book(known):
                keep = await run_in_thread(prepare_book, known)
                keep()
            call_up(known, [node.title, node.scene, node.goal])


def likely_next(setup: PlaySetup, state: PlayState) -> list[Node]:
    """The scenes to which the present one leads."""
    here = setup.nodes.get(state.world.current_node)
    ways = [] if here is None else here.transitions
    return [setup.nodes[id] for id in dict.fromkeys(way.to for way in ways) if id in setup.nodes][:MOST_SCENES]


def arrival(setup: PlaySetup, state: PlayState, node: Node) -> WorldState:
    """The world as a scene is entered, with those who are met there."""
    there = enter(node, state.world, setup.bounds(state)).state
    now = state.snapshot.time
    if setup.world is None or now is None:
        return there
    return with_presence(setup.world.schedules, node, there, before=None, now=now)


def _readers(before: PlayState, there: WorldState) -> Iterator[Reader]:
    """For whom prompts are written when a scene is entered: who tells of it, on the way there too, and its people."""
    yield Reader.scene(there.active_characters)
    yield Reader.scene([*before.world.active_characters, *there.active_characters])
    for id in there.active_characters:
        yield Reader.character(id)
