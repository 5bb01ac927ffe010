"""Ink stories that are kept to be played have a bound together: many large ones do not swell the server."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
from tests.ink_live import begin, play
from tests.live import live_server

from fabula.actions.setups import compiled_stories
from fabula.actions.setups.compiled_stories import CompiledStories
from fabula.ink import Story
from fabula.knots.published import marks_in
from fabula.loops.ink.ink_run import CompiledStory, PlacesRead
from fabula.loops.ink.shared_cache import PlaceCache

MARKS, WORKS = 4_000, 4


@pytest.fixture(autouse=True)
def keep_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling as much as is really kept takes minutes."""
    monkeypatch.setattr(compiled_stories, "MARKS_KEPT", MARKS)
    monkeypatch.setattr(compiled_stories, "WORKS_KEPT", WORKS)


def story(number: int, *, choices: int) -> str:
    return f"This is number {number}.\n" + "".join(f"* [Go {way}] On.\n" for way in range(choices)) + "- -> END\n"


async def test_of_many_large_stories_those_asked_for_last_are_kept() -> None:
    stories, seen = CompiledStories(), []
    large = [story(number, choices=100) for number in range(5)]
    for source in large:
        seen.append((weakref.ref(await stories.of(source, {})), marks_in(source, {})))
    gc.collect()
    alive = [marks for work, marks in seen if work() is not None]
    assert 0 < sum(alive) <= MARKS < sum(marks for _, marks in seen)
    assert seen[-1][0]() is not None and seen[0][0]() is None
    assert await stories.of(large[-1], {}) is seen[-1][0]()


async def test_of_small_stories_so_many_are_kept() -> None:
    stories, seen = CompiledStories(), []
    for number in range(WORKS + 3):
        seen.append(weakref.ref(await stories.of(story(number, choices=1), {})))
    gc.collect()
    assert [work() is not None for work in seen] == [False] * 3 + [True] * WORKS


async def test_a_play_whose_story_made_way_goes_on_and_keeps_nothing_alive(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client, "Rain.\n* [Wait] Still rain.\n* * [Wait] More.\n- -> END\n")
        kept = client.house.compiled_stories
        async with client.house.store.reading() as unit:
            played = weakref.ref((await kept.played_by(unit, session)).material.work)
        for number in range(WORKS):
            await kept.of(story(number, choices=1), {})
        gc.collect()
        assert played() is None
        assert (await play(client, session, choice=0))[-1]["type"] == "completed"


NAMES = 'VAR name = ""\n* [Go] -> END\n'


def save(work: CompiledStory, length: int) -> str:
    """The save of a play that keeps a text of this length."""
    play = work.published.fresh(seed=0)
    play.variables["name"] = "x" * length
    return play.state_json()


async def test_the_places_of_all_plays_that_are_kept_have_a_bound_together() -> None:
    stories = CompiledStories()
    works = [await stories.of(f"{NAMES}=== k{number}\nRain.\n-> END\n", {}) for number in range(2)]
    saves = [save(works[number % 2], 200_000 + number) for number in range(40)]
    for number, text in enumerate(saves):
        works[number % 2].find(text)
    assert [works[number % 2].is_near(text) for number, text in enumerate(saves)] == [False] * 31 + [True] * 9
    short = [save(works[0], number) for number in range(100)]
    for text in short:
        works[0].find(text)
    assert all(works[0].find(text) is works[0].find(text) for text in short), "of short ones many are kept"


async def test_the_same_save_is_another_place_in_another_story_and_goes_with_it() -> None:
    stories = CompiledStories()
    one, other = [await stories.of(f"{NAMES}=== k{number}\nRain.\n-> END\n", {}) for number in range(2)]
    text = save(one, 50_000)
    assert one.find(text) is not other.find(text) and other.is_near(text)
    for number in range(WORKS):
        await stories.of(story(number, choices=1), {})
    assert not one.is_near(text) and not other.is_near(text)


def test_a_save_that_is_longer_than_all_may_be_is_kept_alone() -> None:
    places = PlacesRead(stories=PlaceCache(kept=4, letters=1_000))
    first, owner = Story.from_source("A."), object()
    places.stories.put(owner, "short", first)
    assert places.stories.put(owner, "x" * 5_000, first) is places.stories.get(owner, "x" * 5_000)
    assert places.stories.get(owner, "short") is None
