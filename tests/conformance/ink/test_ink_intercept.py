"""A real story of 100 kB: a thousand random plays, and saves all along the way."""

from __future__ import annotations

import random
from functools import cache

import pytest
from tests.mass import Mass
from tests.shared import INTERCEPT, needs_intercept

from fabula.ink import Story, compile_ink

SHARES, PLAYS_PER_SHARE = 10, 100


@cache
def story_json() -> str:
    result = compile_ink(INTERCEPT.read_text("utf-8-sig"))
    assert result.story_json is not None
    return result.story_json


@needs_intercept
@pytest.mark.parametrize("share", range(SHARES))
def test_random_plays_reach_an_end_without_an_error(share: int, mass: Mass) -> None:
    first = Story(story_json(), seed=share)
    for number in range(mass(PLAYS_PER_SHARE)):
        dice, story = random.Random(share * PLAYS_PER_SHARE + number), first.fork()
        for _ in range(500):
            story.continue_maximally()
            assert story.warnings == []
            if not story.current_choices:
                break
            story.choose(dice.randrange(len(story.current_choices)))
        assert not story.can_continue


@needs_intercept
def test_a_saved_play_goes_on_as_the_unsaved_one() -> None:
    first = Story(story_json())
    story, restless = first.fork(seed=3), first.fork(seed=4)
    restless.load_state(story.state_json())
    dice = random.Random(8)
    for _ in range(60):
        assert story.continue_maximally() == restless.continue_maximally()
        assert story.state_json() == restless.state_json()
        if not story.current_choices:
            break
        choice = dice.randrange(len(story.current_choices))
        story.choose(choice)
        restless.choose(choice)
        saved = restless.state_json()
        restless = first.fork()
        restless.load_state(saved)
