"""Lore that was prepared by another process is the lore that would be worked out here."""

from __future__ import annotations

from dataclasses import replace

import orjson
from tests.mass import seeds
from tests.unit.knowing_stage import generated_setup

from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.play_setup import PlaySetup
from fabula.story.changes import enter, opening_state
from fabula.story.contexts import Lore
from fabula.story.knowledge import Reader
from fabula.story.lore import active_lore, has_book, prepare_book, readable_lore
from fabula.story.plays import PlayState, SceneMark
from fabula.story.resources import LorebookEntry
from fabula.story.state import Snapshot, WorldState


def play_at_start(setup: PlaySetup) -> PlayState:
    snapshot = Snapshot(story_id="s", player_description="", world_state=WorldState(current_node="?"))
    empty = PlayState(snapshot=snapshot, graph="g")
    world = opening_state(setup.graph, setup.bounds(empty)).state
    return empty.with_world(world).model_copy(update={"scenes": [SceneMark(turn_index=0, node_id=world.current_node)]})


def lore_of_scenes(setup: PlaySetup) -> list[Lore]:
    """The lore in every prompt of every scene."""
    play = play_at_start(setup)
    found = []
    for node in setup.graph.nodes:
        there = play.with_world(enter(node, play.world, setup.bounds(play)).state).entering(node.id)
        scene = Scene(
            previous_node_id=play.world.current_node,
            previous_cast=play.world.active_characters,
            transitioned=True,
        )
        teller = SceneTeller(setup, there, scene, "I go on to the harbour.", turn_index=1)
        found += [teller.narrator("describe_transition").lore, teller.swift().lore]
        found += [teller.actor(id, "react_to_player").lore for id in there.world.active_characters]
    return found


def sent(setup: PlaySetup) -> PlaySetup:
    """The same setup in another process, with the bundle that this one made."""
    bundle = orjson.loads(orjson.dumps(setup.make_lore_bundle()))
    return replace(setup, lore=(*setup.lore[:1], *setup.lore[1:]), lore_bundle=bundle)


@seeds(100)
async def test_lore_that_another_process_prepared_is_what_would_be_worked_out(seed: int) -> None:
    fresh = generated_setup(seed)
    prepared = sent(generated_setup(seed))
    assert prepared.lore_version == fresh.lore_version
    prepare_book(prepared.lore, prepared.lore_bundle)()
    assert has_book(prepared.lore) and not has_book(fresh.lore)
    assert lore_of_scenes(prepared) == lore_of_scenes(fresh)


@seeds(100)
async def test_who_reads_only_some_entries_finds_what_a_book_of_those_alone_would_tell(seed: int) -> None:
    setup = generated_setup(seed)
    world = play_at_start(setup).world
    texts = [text for node in setup.graph.nodes for text in (node.title, node.scene, node.goal)]
    for reader in (Reader.scene(world.active_characters), *map(Reader.character, setup.characters)):
        known = readable_lore(setup.lore, reader, world)
        assert active_lore(known, texts[:3], texts) == active_lore([*known], texts[:3], texts)


async def test_a_large_story_is_prepared_from_its_bundle() -> None:
    many = tuple(
        LorebookEntry(entry_id=f"e{n}", title=f"t{n}", content="x", keywords=[f"word{n}", f"two words{n}"])
        for n in range(40)
    )
    setup = replace(generated_setup(3), lore=many)
    assert setup.is_large and setup.wants_bundle
    there = sent(setup)
    assert not there.wants_bundle
    await there.prepare()
    assert has_book(there.lore)
    assert [note.title for note in active_lore(there.lore, ["Two words7, and word9."]).matched] == ["t7", "t9"]


def test_whatever_a_bundle_is_made_of_has_a_version_of_its_own() -> None:
    setup = generated_setup(3)
    entry, *rest = setup.lore
    other_word = entry.model_copy(update={"keywords": [*entry.keywords, "zeppelin"]})
    other_order = entry.model_copy(update={"order": entry.order + 1})
    other_way = entry.model_copy(update={"match": "substring" if entry.match == "word" else "word"})
    retold = entry.model_copy(update={"content": "Now told otherwise."})
    changed = [replace(setup, lore=(one, *rest)) for one in (other_word, other_order, other_way)]
    node = setup.graph.nodes[0].model_copy(update={"scene": "Another scene."})
    changed.append(replace(setup, graph=setup.graph.model_copy(update={"nodes": [node, *setup.graph.nodes[1:]]})))
    assert setup.lore_version not in {one.lore_version for one in changed} and len({*changed_versions(changed)}) == 4
    assert replace(setup, lore=(retold, *rest)).lore_version == setup.lore_version, "what is told is not in a bundle"


def changed_versions(setups: list[PlaySetup]) -> list[str]:
    return [setup.lore_version for setup in setups]
