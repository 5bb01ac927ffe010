"""A story that nobody needs any more is gone at once: nothing of it waits for the collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from fabula.knots.published import publish

SOURCE = """VAR coins = 3
LIST moods = calm, angry
{coins > 1: You have {coins}.}
* [Go] -> road
* [Stay] -> DONE
=== road
= first
Rain falls. {~One|Two}
+ (again) [Look back] {again > 1: Again.} -> first
+ [Go on] -> road.second
= second
You walk.
-> END
=== market
""" + "".join(f"* [Buy number {n}] You buy it.\n" for n in range(200))


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_a_story_that_was_played_and_let_go_leaves_nothing_to_the_collector(no_collector: None) -> None:
    published = publish(SOURCE, {})
    assert not published.errors
    play = published.fresh(seed=1)
    play.continue_maximally()
    play.choose(0)
    play.continue_maximally()
    again = published.at(play.state_json())
    assert again.continue_maximally() == "" and again.variables["coins"] == 3
    del published, play, again
    assert gc.collect() < 500, "thousands of things make up this story"


def test_a_play_goes_on_without_what_published_its_story() -> None:
    play = publish(SOURCE, {}).fresh(seed=1)
    gc.collect()
    assert play.continue_maximally() == "You have 3.\n"
    play.choose(0)
    assert play.continue_maximally().startswith("Rain falls.")
