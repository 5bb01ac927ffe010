"""Lore that is prepared for likely next scenes is the lore that would be worked out there."""

from __future__ import annotations

from dataclasses import replace

from tests.mass import seeds
from tests.unit.knowing_stage import generated_setup

from fabula.actions.followers.lore_bundles import arrival, likely_next, prepare_next_scenes
from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.play_setup import PlaySetup
from fabula.story.changes import opening_state
from fabula.story.contexts import Lore
from fabula.story.knowledge import Reader
from fabula.story.lore import has_book, readable_lore
from fabula.story.plays import PlayState, SceneMark
from fabula.story.state import Snapshot, WorldState


def play_at_start(setup: PlaySetup) -> PlayState:
    snapshot = Snapshot(story_id="s", player_description="", world_state=WorldState(current_node="?"))
    empty = PlayState(snapshot=snapshot, graph="g")
    world = opening_state(setup.graph, setup.bounds(empty)).state
    return empty.with_world(world).model_copy(update={"scenes": [SceneMark(turn_index=0, node_id=world.current_node)]})


def lore_next(setup: PlaySetup, play: PlayState) -> list[Lore]:
    """The lore in every prompt of every scene that may come next."""
    found = []
    for node in likely_next(setup, play):
        there = play.with_world(arrival(setup, play, node)).entering(node.id)
        scene = Scene(
            previous_node_id=play.world.current_node,
            previous_cast=play.world.active_characters,
            transitioned=True,
        )
        teller = SceneTeller(setup, there, scene, "I go on to the harbour.", turn_index=1)
        found += [teller.narrator("describe_transition").lore, teller.swift().lore]
        found += [teller.actor(id, "react_to_player").lore for id in there.world.active_characters]
    return found


@seeds(100)
async def test_prepared_lore_is_what_would_be_worked_out(seed: int) -> None:
    fresh, prepared = generated_setup(seed), generated_setup(seed)
    await prepare_next_scenes(prepared, play_at_start(prepared))
    assert lore_next(prepared, play_at_start(prepared)) == lore_next(fresh, play_at_start(fresh))


async def test_a_scene_that_was_prepared_for_indexes_nothing_when_it_is_entered() -> None:
    setup = generated_setup(3)
    play = play_at_start(setup)
    await prepare_next_scenes(setup, play)
    [node] = likely_next(setup, play)
    there = arrival(setup, play, node)
    for reader in (Reader.scene(there.active_characters), *map(Reader.character, there.active_characters)):
        assert has_book(readable_lore(setup.lore, reader, there))


async def test_entries_that_changed_are_not_mistaken_for_those_that_were_prepared() -> None:
    setup = generated_setup(3)
    play = play_at_start(setup)
    await prepare_next_scenes(setup, play)
    told = tuple(entry.model_copy(update={"content": f"Now {entry.content}"}) for entry in setup.lore)
    changed = replace(setup, lore=told)
    notes = [note for lore in lore_next(changed, play) for note in (*lore.base, *lore.matched)]
    assert notes and all(note.content.startswith("Now ") for note in notes)
