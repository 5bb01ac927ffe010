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
from fabula.knots.published import marks_in

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
