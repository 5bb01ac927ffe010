"""Saves: the reference's format, round trips, and texts that are not saves at all."""

from __future__ import annotations

import copy
import json
import random
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.mass import examples, mass
from tests.unit.ink.runtime.ink_support import compiled, play, start, texts

from fabula.ink import InkError, InkStateError, Story, Suspend

SOURCE = """
EXTERNAL ask(x)
VAR n = 0
VAR whole = 2.0
VAR target = -> hall
LIST Bag = (lamp), rope
-> hall
=== hall
~ n = n + 1
~ temp t = n * 2
In the hall {hall} times, {~a|b|c}{&x|y} {t} {whole / 4}. # tag {n}
<- aside(n)
* [Once {n}] once <>
  glued
+ [Tunnel] -> trip(3, -> hall) ->
  back
+ {n > 1} [Function] {twice(n)} {Bag}
  ~ Bag += rope
+ [Ask] {ask("q")} told
* -> done
- -> target
=== aside(x)
+ [Aside {x}] by the way
  -> hall
=== trip(depth, -> where)
{depth > 0:
  -> trip(depth - 1, where) ->
  ->->
}
Deep.
+ [Return] up
  ->->
+ [Elsewhere] away
  ->-> where
=== function twice(x)
~ return add(x, x)
=== function add(x, ref y)
~ y = y + x
~ return y
=== done
-> END
"""


@cache
def first() -> Story:
    story = start(SOURCE)
    story.bind_external("ask", lambda question: Suspend({"q": question}))
    return story


def fresh(seed: int = 0) -> Story:
    return first().fork(seed=seed)


def walked(seed: int, turns: int) -> Story:
    dice, story = random.Random(seed), fresh(seed)
    for _ in range(turns):
        move_on(story, dice)
    return story


def move_on(story: Story, dice: random.Random) -> None:
    if story.pending_request is not None:
        story.resume("answer")
    elif story.can_continue:
        story.continue_()
    elif story.current_choices:
        story.choose(dice.randrange(len(story.current_choices)))


def test_the_fields_are_those_of_the_reference() -> None:
    saved = json.loads(walked(1, 6).state_json())
    assert saved["inkSaveVersion"] == 10
    assert saved["inkFormatVersion"] == 21
    assert set(saved) - {"fabula", "currentDivertTarget"} == {
        "flows",
        "currentFlowName",
        "variablesState",
        "evalStack",
        "visitCounts",
        "turnIndices",
        "turnIdx",
        "storySeed",
        "previousRandom",
        "inkSaveVersion",
        "inkFormatVersion",
    }
    assert set(saved["flows"]["DEFAULT_FLOW"]) >= {"callstack", "outputStream", "currentChoices"}


def test_a_save_is_known_to_be_long_before_it_is_written() -> None:
    for turns in range(12):
        story = walked(turns, turns)
        assert len(story.state_json()) // 12 < story.saved_letters(10_000) <= len(story.state_json())
    wide = start('VAR s = "' + "x" * 1_000 + '"\n' + "".join(f"VAR v{n} = 0\n~ v{n} = s\n" for n in range(50)) + "A.\n")
    wide.continue_()
    assert 50_000 < wide.saved_letters(1_000_000) < len(wide.state_json())
    assert 10_000 < wide.saved_letters(10_000) < 12_000, "nobody counts on"


def test_whole_floats_stay_floats_in_a_save() -> None:
    text = fresh().state_json()
    assert '"whole":2.0' in text
    story = fresh()
    story.load_state(text)
    assert type(story.variables["whole"]) is float


def test_a_save_of_an_older_reference_version_loads() -> None:
    story = start("VAR x = 1\nOne.\n* [Go] {x}\n- -> END\n")
    story.continue_maximally()
    saved = json.loads(story.state_json())
    flow = saved.pop("flows")["DEFAULT_FLOW"]
    old = {**saved, **flow, "callstackThreads": flow["callstack"], "inkSaveVersion": 8}
    again = start("VAR x = 1\nOne.\n* [Go] {x}\n- -> END\n")
    again.load_state(json.dumps(old))
    assert play(again, "Go") == "1\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"inkSaveVersion": 7}',
        '{"inkSaveVersion": "10"}',
        "[" * 100_000,
        '{"inkSaveVersion": 10}',
    ],
    ids=range(8),
)
def test_what_is_not_a_save_is_refused_and_the_story_stays(text: str) -> None:
    story = walked(2, 5)
    before = story.state_json()
    with pytest.raises(InkStateError):
        story.load_state(text)
    assert story.state_json() == before


@examples(100)
@given(st.integers(0, 10_000), st.integers(0, 40), st.integers(0, 15))
def test_a_loaded_story_goes_on_exactly_like_the_saved_one(seed: int, before: int, after: int) -> None:
    story = walked(seed, before)
    again = fresh(seed + 1)
    again.load_state(story.state_json())
    assert again.state_json() == story.state_json()
    dice, other_dice = random.Random(seed), random.Random(seed)
    for _ in range(after):
        move_on(story, dice)
        move_on(again, other_dice)
        assert (again.current_text, again.current_tags, texts(again)) == (
            story.current_text,
            story.current_tags,
            texts(story),
        )
    assert again.state_json() == story.state_json()


class PlayedInParallel(RuleBasedStateMachine):
    """Two stories do the same things, but one of them is saved and loaded, or forked, again and again."""

    @initialize(seed=st.integers(0, 99))
    def begin(self, seed: int) -> None:
        self.plain, self.restless = fresh(seed), fresh(seed)

    @precondition(lambda self: self.plain.can_continue)
    @rule()
    def read_on(self) -> None:
        assert self.plain.continue_() == self.restless.continue_()

    @precondition(lambda self: self.plain.current_choices)
    @rule(number=st.integers(0, 9))
    def take_a_choice(self, number: int) -> None:
        index = number % len(self.plain.current_choices)
        self.plain.choose(index)
        self.restless.choose(index)

    @precondition(lambda self: self.plain.pending_request is not None)
    @rule(answer=st.text(max_size=3))
    def answer(self, answer: str) -> None:
        assert self.plain.resume(answer) == self.restless.resume(answer)

    @rule()
    def save_and_load(self) -> None:
        text = self.restless.state_json()
        self.restless = fresh(7)
        self.restless.load_state(text)

    @rule()
    def fork(self) -> None:
        old, self.restless = self.restless, self.restless.fork()
        move_on(old, random.Random(0))

    @rule()
    def call_a_function(self) -> None:
        assert self.restless.evaluate_function("twice", 4) == 8

    @rule(value=st.integers(-5, 5))
    def set_a_variable(self, value: int) -> None:
        self.plain.variables["n"] = self.restless.variables["n"] = value

    @invariant()
    def both_are_the_same(self) -> None:
        if hasattr(self, "plain"):
            assert self.plain.state_json() == self.restless.state_json()


@pytest.mark.mass
class TestPlayedInParallel(PlayedInParallel.TestCase):  # type: ignore[misc,valid-type]
    settings = settings(max_examples=mass(60), stateful_step_count=30, deadline=None)


# Mutated saves: 5,000 in all, in shares that can run side by side

SHARES, PER_SHARE = 10, 500
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    2,
    99,
    2**31,
    1.5,
    "",
    "x",
    "^x",
    "\n",
    "void",
    "->",
    "hall",
    "hall.0",
    "0.0",
    [],
    {},
    [[]],
]
ODD += [
    {"^var": "n", "ci": 1},
    {"^var": "t", "ci": 5},
    {"^->": "nowhere"},
    {"list": {"Bag.lamp": 1}},
    {"list": {"x": 1}},
]


def spots(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [here]
    if isinstance(value, dict):
        for key in value:
            found += spots(value[key], (*here, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            found += spots(value[index], (*here, index))
    return found


def mutate(saved: Any, dice: random.Random) -> Any:
    mutated = copy.deepcopy(saved)
    for _ in range(dice.randint(1, 3)):
        spot = dice.choice([spot for spot in spots(mutated) if spot])
        parent = mutated
        for step in spot[:-1]:
            parent = parent[step]
        kind = dice.randrange(4)
        if kind == 0:
            del parent[spot[-1]]
        elif kind == 1:
            other = mutated
            for step in dice.choice(spots(mutated)):
                other = other[step]
            parent[spot[-1]] = copy.deepcopy(other)
        else:
            parent[spot[-1]] = copy.deepcopy(dice.choice(ODD))
    return mutated


@cache
def saves(share: int) -> list[Any]:
    return [json.loads(walked(share * 7 + number, 5 * number).state_json()) for number in range(6)]


@cache
def one_save() -> str:
    return walked(3, 12).state_json()


@examples(PER_SHARE)
@pytest.mark.parametrize("share", range(SHARES))
@given(seed=st.integers(0, 2**32))
def test_mutated_saves_give_typed_errors_only(share: int, seed: int) -> None:
    dice, story = random.Random(seed), fresh()
    story.step_budget = 2_000
    try:
        story.load_state(json.dumps(mutate(dice.choice(saves(share)), dice)))
        for _ in range(6):
            move_on(story, dice)
        story.state_json()
        story.fork().choose_path("hall")
    except InkError:
        return


@examples(300, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_saves_with_cut_or_changed_characters_give_typed_errors_only(data: st.DataObject) -> None:
    text = one_save()
    start_at = data.draw(st.integers(0, len(text)))
    end_at = data.draw(st.integers(start_at, min(len(text), start_at + 20)))
    mangled = text[:start_at] + data.draw(st.text(max_size=6)) + text[end_at:]
    story = fresh()
    story.step_budget = 2_000
    try:
        story.load_state(mangled)
        for _ in range(4):
            move_on(story, random.Random(0))
        story.state_json()
    except InkError:
        return


def test_mutated_saves_meet_an_edited_story_with_typed_errors_only() -> None:
    dice = random.Random(99)
    edited = start(SOURCE.replace("In the hall", "In a hall").replace("* [Once", "* [New] new\n* [Once"))
    edited.bind_external("ask", lambda question: Suspend(question))
    for _ in range(400):
        try:
            edited.load_state(json.dumps(mutate(dice.choice(saves(0)), dice)))
            move_on(edited, dice)
        except InkError:
            continue


def test_a_compiled_story_that_was_mutated_gives_typed_errors_only() -> None:
    dice, story_json = random.Random(5), json.loads(compiled(SOURCE))
    for _ in range(400):
        try:
            story = Story(json.dumps(mutate(story_json, dice)))
            story.bind_external("ask", lambda *question: Suspend(question))
            story.step_budget = 2_000
            for _ in range(6):
                move_on(story, dice)
            story.state_json()
        except InkError:
            continue
