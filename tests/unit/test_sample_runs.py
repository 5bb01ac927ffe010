"""Five runs teach a character: each prefers what the earlier ones have not met, and a seed always teaches the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.knots.character_lines import character_lines
from fabula.knots.published import publish

SEEDS = st.integers(0, 2**31 - 1)
KNOTS = {
    "a shuffle": "{~I lost a brother.|My knees ache.|The river took it.}",
    "a shuffle of five": "{~One.|Two.|Three.|Four.|Five.}",
    "a shuffle that is met twice": "-> twice ->\n-> twice ->\n-> DONE\n= twice\n{~One.|Two.|Three.}\n->->",
    "a number": "~ temp n = RANDOM(1, 3)\n{n == 1: One.}\n{n == 2: Two.}\n{n == 3: Three.}",
    "a choice": "+ [A] One.\n+ [B] Two.\n+ [C] Three.\n-",
    "a choice behind a choice": "+ [A] One.\n  ++ [X] Two.\n  ++ [Y] Three.\n+ [B] Four.\n-",
    "lists": "{LIST_RANDOM(LIST_ALL(moods))}",
}
LINES = {
    "a shuffle": {"I lost a brother.", "My knees ache.", "The river took it."},
    "a shuffle of five": {"One.", "Two.", "Three.", "Four.", "Five."},
    "a shuffle that is met twice": {"One.", "Two.", "Three."},
    "a number": {"One.", "Two.", "Three."},
    "a choice": {"One.", "Two.", "Three."},
    "a choice behind a choice": {"One.", "Two.", "Three.", "Four."},
    "lists": {"glad", "sad", "cross"},
}
STORIES = {
    name: publish(f"LIST moods = glad, sad, cross\n-> END\n=== guard\n{body}\n-> DONE\n", {})
    for name, body in KNOTS.items()
}


@pytest.mark.parametrize("name", KNOTS)
@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_every_alternative_is_learned_whatever_the_seed(name: str, seed: int) -> None:
    assert set(character_lines(STORIES[name], "guard", seed=seed)) == LINES[name]


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_the_same_seed_teaches_the_same_in_the_same_order(seed: int) -> None:
    for story in STORIES.values():
        assert character_lines(story, "guard", seed=seed) == character_lines(story, "guard", seed=seed)


def test_another_seed_teaches_in_another_order() -> None:
    assert len({character_lines(STORIES["a shuffle of five"], "guard", seed=seed) for seed in range(20)}) > 5


def test_a_story_that_is_played_draws_as_the_reference_does() -> None:
    plain = STORIES["a shuffle of five"].fresh(seed=7)
    plain.choose_path("guard")
    loaded = STORIES["a shuffle of five"].playable.fork(
        seed=7, draw=lambda place, outcomes, position: outcomes[position]
    )
    loaded.choose_path("guard")
    assert plain.continue_() == loaded.continue_()
