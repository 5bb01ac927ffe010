"""Who may know a piece of a story: prompts hold nothing that their reader may not know, in every pace and role."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.mass import Mass
from tests.rule_play import samples
from tests.unit.knowing_stage import generated_setup, random_line, random_play, teller_of

from fabula.agents.prompts import write_prompt
from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.play_setup import PlaySetup
from fabula.story.contexts import RoleContext
from fabula.story.graph import Comparison, holds
from fabula.story.knowledge import Fact, Piece, Reader, Until, is_open, is_revealed
from fabula.story.plays import PlayState
from fabula.story.resources import Api
from fabula.story.schemas import SchemaField
from fabula.story.state import MemoryEntry, WorldState

WORLDS = samples()
OPENED = WorldState(current_node="n", custom={"open": True})
CLOSED = WorldState(current_node="n", custom={"open": False})
DOOR = Comparison(key="open", op="eq", value=True)


def test_what_says_nothing_is_known_to_everyone() -> None:
    assert Reader.character("a").may_read(Piece(), CLOSED)
    assert Reader.scene([]).may_read(Piece(), CLOSED)


def test_what_is_known_by_some_is_told_where_one_of_them_is() -> None:
    piece = Piece(known_by=["a"])
    assert Reader.character("a").may_read(piece, CLOSED)
    assert not Reader.character("b").may_read(piece, CLOSED)
    assert Reader.scene(["a", "b"]).may_read(piece, CLOSED)
    assert not Reader.scene(["b"]).may_read(piece, CLOSED)


def test_what_nobody_knows_until_a_condition_holds_is_in_no_prompt_before() -> None:
    piece = Piece(known_by=Until(until=DOOR))
    for reader in (Reader.character("a"), Reader.scene(["a"])):
        assert not reader.may_read(piece, CLOSED)
        assert reader.may_read(piece, OPENED)
    then = Piece(known_by=Until(until=DOOR, then=["a"]))
    assert Reader.character("a").may_read(then, OPENED)
    assert not Reader.character("b").may_read(then, OPENED)


def test_who_keeps_a_secret_knows_it_and_nobody_tells_it() -> None:
    secret = Piece(known_by=["a"], secret=True)
    assert Reader.character("a").may_read(secret, OPENED)
    assert not Reader.scene(["a"]).may_read(secret, OPENED)
    assert not is_revealed(secret, OPENED)


def test_a_secret_that_names_nobody_is_known_to_nobody() -> None:
    assert not Reader.character("a").may_read(Piece(secret=True), OPENED)
    assert not Reader.scene(["a"]).may_read(Piece(secret=True), OPENED)


def test_a_character_knows_its_own_facts_and_tells_a_secret_one_once_its_condition_holds() -> None:
    fact = Fact(text="It is buried.", known_by=Until(until=DOOR, then=[]), secret=True)
    assert Reader.character("a").may_read(fact, CLOSED, owner="a")
    assert not Reader.character("b").may_read(fact, OPENED, owner="a")
    assert not Reader.scene(["a"]).may_read(fact, CLOSED, owner="a")
    assert Reader.scene(["a"]).may_read(fact, OPENED, owner="a")


def test_what_no_character_knows_is_there_to_be_found() -> None:
    assert Reader.scene([]).may_read(Piece(known_by=[]), CLOSED)
    assert not Reader.character("a").may_read(Piece(known_by=[]), CLOSED)


def contexts_of(teller: SceneTeller, play: PlayState) -> Iterator[RoleContext]:
    yield teller.director()
    yield teller.narrator("describe_scene")
    yield teller.keeper("after_player_input", [])
    yield teller.replyer(3, [])
    yield teller.swift()
    for id in play.world.active_characters:
        yield teller.actor(id, "react_to_player")


def crowded_play() -> tuple[PlaySetup, PlayState]:
    """A play of which two people or more are in the scene."""
    for seed in range(100):
        setup = generated_setup(seed)
        play = random_play(setup, random.Random(seed))
        if len(play.world.active_characters) > 1:
            return setup, play
    raise AssertionError("there is no such play")


def prompts_of(setup: PlaySetup, teller: SceneTeller, play: PlayState) -> dict[str, str]:
    """The prompts of all roles; an actor's by its id."""
    found = {}
    for context in contexts_of(teller, play):
        role = "director" if context.role == "swift" else context.role
        prompt = "\n".join(message.content for message in write_prompt(setup.agent(role), context).messages)
        found[context.actor.id if context.role == "actor" else context.role] = prompt
    return found


def told_variables(setup: PlaySetup, play: PlayState) -> tuple[dict[str, set[str]], dict[str, str]]:
    """The variables of the world whose values each role is told by its prompt, when models play; and the prompts."""
    played = setup.played_by(Api(api_id="m", display_name="m", provider="open_ai", base_url="", model="m"))
    prompts = prompts_of(played, teller_of(played, play, "I look around."), play)
    keys = setup.world_schema.fields
    return {role: {key for key in keys if f"{key} = " in text} for role, text in prompts.items()}, prompts


def test_a_variable_of_the_world_is_told_only_to_characters_that_know_it() -> None:
    setup, play = crowded_play()
    knower, other, *_ = play.world.active_characters
    fields = {
        "mined": SchemaField(value_type="bool", known_by=[knower]),
        "leaking": SchemaField(value_type="bool", default=True, known_by=Until(until=DOOR)),
        "open": SchemaField(value_type="bool"),
    }
    schema = setup.world_schema.model_copy(update={"fields": fields})
    for is_out in (False, True):
        custom = {"mined": True, "leaking": True, "open": is_out}
        now = play.with_world(play.world.model_copy(update={"custom": custom}))
        told, prompts = told_variables(replace(setup, world_schema=schema), now)
        out = {"leaking"} if is_out else set()
        assert told[knower] == {"mined", "open"} | out and told[other] == {"open"} | out
        assert told["replyer"] == {"open"} | out
        assert told["narrator"] == told["director"] == told["swift"] == {"mined", "open"} | out
        assert told["keeper"] == set(fields)
        assert f"known to {knower} only" in prompts["swift"] and ", at first" not in prompts["swift"]


def test_whoever_tells_a_scene_is_told_no_variable_that_nobody_in_it_knows() -> None:
    setup, play = crowded_play()
    knower, *others = play.world.active_characters
    fields = {
        "mined": SchemaField(value_type="bool", known_by=[knower]),
        "haunted": SchemaField(value_type="bool", known_by=[]),
    }
    schema = setup.world_schema.model_copy(update={"fields": fields})
    alone = play.world.model_copy(update={"custom": {"mined": True, "haunted": True}, "active_characters": others})
    now = play.with_world(alone)
    told, _ = told_variables(replace(setup, world_schema=schema), now)
    assert told["narrator"] == told["director"] == told["swift"] == {"haunted"}, "no character knows it: it is theirs"
    assert told["keeper"] == set(fields) and all(not told[other] for other in others)


def test_how_a_character_sums_up_its_past_is_in_its_own_prompt_alone() -> None:
    setup, play = crowded_play()
    knower, *_ = play.world.active_characters
    here = play.world.current_node
    scene = Scene(previous_node_id=here, previous_cast=play.world.active_characters)
    past = {knower: "- (three times) Beware of the mill."}
    teller = SceneTeller(setup, play, scene, "Well?", turn_index=9, so_far="The ferry sank.", own_past=past)
    prompts = prompts_of(setup, teller, play)
    assert {role for role, text in prompts.items() if "Beware of the mill" in text} == {knower}
    assert "The ferry sank." in prompts["narrator"] and "The ferry sank." not in prompts[knower]


def pieces_of(setup: PlaySetup) -> Iterator[tuple[Piece, str, str | None, str | None]]:
    """Each piece with its text, whose fact it is, and in which scene it stands."""
    for entry in setup.lore:
        yield entry, entry.content, None, None
    for id, content in setup.characters.items():
        for fact in content.facts:
            yield fact, fact.text, id, None
    for node in setup.graph.nodes:
        for note in node.notes:
            yield note, note.text, None, node.id


def may_be_told(piece: Piece, owner: str | None, context: RoleContext, world: WorldState) -> bool:
    """The rule once more, as the documentation has it."""
    named: list[str] | None = None
    open_now = not piece.secret
    if isinstance(piece.known_by, Until):
        named, open_now = piece.known_by.then, holds(piece.known_by.until, world)
    elif isinstance(piece.known_by, list):
        named = piece.known_by
    if context.role == "actor":
        me = context.actor.id
        if owner == me:
            return True
        if isinstance(piece.known_by, Until) and not open_now:
            return False
        return me in named if named is not None else open_now
    here = set(world.active_characters)
    return open_now and (not named or owner in here or bool(here & set(named)))


@pytest.mark.parametrize("which", ["the-unlit-hour", "the-walking-court", "generated"])
def test_no_prompt_holds_what_its_reader_may_not_know(which: str, mass: Mass) -> None:
    dice = random.Random(which)
    prompts = told = 0
    wanted = mass(1_000)
    while prompts < wanted:
        if which == "generated":
            setup = generated_setup(dice.randrange(1_000_000))
        else:
            setup = WORLDS["court" in which]
        play = random_play(setup, dice)
        teller = teller_of(setup, play, random_line(setup, dice))
        for context in contexts_of(teller, play):
            role = "director" if context.role == "swift" else context.role
            prompt = "\n".join(message.content for message in write_prompt(setup.agent(role), context).messages)
            prompts += 1
            for piece, text, owner, _ in pieces_of(setup):
                if text[:60] in prompt:
                    assert may_be_told(piece, owner, context, play.world), (context.role, text)
                    told += piece.known_by is not None or piece.secret
    assert told, "some of them are told to those who may know them"


def test_an_actor_is_told_which_of_its_facts_are_secrets() -> None:
    setup = WORLDS[0]
    play = random_play(setup, random.Random(1))
    world = play.world.model_copy(
        update={"current_node": "the-wreck", "active_characters": ["lighthouse-lund"], "custom": {}}
    )
    teller = teller_of(setup, play.with_world(world), "Captain, what about the bell?")
    prompt = write_prompt(setup.agent("actor"), teller.actor("lighthouse-lund", "react_to_player"))
    system = prompt.messages[0].content
    assert "You keep to yourself, and neither tell it nor hint at it:\n- Captain Lund had the bell buoy" in system


def test_of_those_who_have_left_prompts_tell_nothing_but_what_everybody_may_know() -> None:
    cards = 0
    for seed in range(40):
        setup, play = generated_setup(seed), random_play(generated_setup(seed), random.Random(seed))
        played = setup.played_by(Api(api_id="m", display_name="m", provider="open_ai", base_url="", model="m"))
        here = play.world.active_characters
        heard = MemoryEntry(
            speaker_id="narrator", speaker_name="", kind="narration", text="It rains.", heard_by=[*setup.characters]
        )
        scene = Scene(previous_node_id=play.world.current_node, previous_cast=here)
        play = play.model_copy(update={"message_count": 1})
        teller = SceneTeller(played, play, scene, "I look around.", [heard], turn_index=9)
        for prompt in prompts_of(played, teller, play).values():
            for id, content in setup.characters.items():
                if id in here:
                    continue
                cards += f"[Here is {content.name} (id {id})" in prompt
                told = [fact for fact in content.facts if fact.text in prompt]
                assert all(map(is_open, told)), (seed, id, told)
    assert cards > 40, "they are told of"
