"""Situations of consolidation and fading, each with what is to happen, without a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.unit.test_beliefs import remembered

from fabula.ports.memories import Memory
from fabula.recall.consolidation import Consolidated, consolidate, faded_text
from fabula.recall.moods import DAY

MILL = (
    "The old mill burned down to the ground.",
    "The old mill burned down to the ground!",
    "Old mill burned down, to the ground.",
)


def gist(memories: Sequence[Memory], words: int) -> str:
    return " ".join(one.text for one in memories)[: words * 8]


def consolidated(memories: list[Memory], minute: int = 0) -> list[Consolidated]:
    return consolidate(memories, minute=minute, gist=gist)


def dull(count: int, **changes: Any) -> list[Memory]:
    """Small things of one scene, each different."""
    texts = (
        "The soup is warm today.",
        "A cat sleeps near the stove.",
        "Rain drips from the roof.",
        "Bread lies on a plate.",
    )
    return [remembered(texts[n], place=n, speaker="", importance=1, **changes) for n in range(count)]


def test_what_was_said_three_times_becomes_one_memory_that_keeps_the_fact_and_its_evidence() -> None:
    [one] = consolidated([remembered(text, place=n) for n, text in enumerate(MILL)])
    assert "mill burned down" in one.summary.text and one.summary.text.startswith("(three times)")
    assert (one.covers, list(one.summary.evidence)) == (("m0", "m1", "m2"), ["t0", "t1", "t2"])
    assert (one.summary.kind, one.summary.speaker) == ("summary", "Orr")


def test_twice_is_not_often() -> None:
    assert consolidated([remembered(text, place=n) for n, text in enumerate(MILL[:2])]) == []


def test_a_not_makes_it_another_memory() -> None:
    lines = [*MILL[:2], "The old mill never burned down to the ground."]
    assert consolidated([remembered(text, place=n) for n, text in enumerate(lines)]) == []


def test_another_number_makes_it_another_memory() -> None:
    lines = [f"The old mill burned down {number} years ago." for number in (3, 4, 5)]
    assert consolidated([remembered(text, place=n) for n, text in enumerate(lines)]) == []


def test_what_another_one_says_is_another_memory() -> None:
    speakers = ("Orr", "Tam", "Orr")
    assert consolidated([remembered(MILL[n], place=n, speaker=who) for n, who in enumerate(speakers)]) == []


def test_a_summary_matters_as_much_as_the_weightiest_of_what_it_covers() -> None:
    [one] = consolidated([remembered(text, place=n, importance=n + 2) for n, text in enumerate(MILL)])
    assert one.summary.importance == 4


def test_what_is_pinned_is_covered_by_nothing() -> None:
    memories = [remembered(text, place=n, pinned=n == 1) for n, text in enumerate(MILL)]
    assert consolidated(memories) == []


def test_old_small_things_of_a_scene_fade_to_their_gist() -> None:
    [one] = consolidated(dull(4), minute=20 * DAY)
    assert (one.covers, one.summary.importance) == (("m0", "m1", "m2", "m3"), 2)
    assert one.summary.text


def test_new_small_things_do_not_fade() -> None:
    assert consolidated(dull(4), minute=10 * DAY) == []


def test_what_is_recalled_does_not_fade() -> None:
    assert consolidated(dull(4, recalls=1), minute=20 * DAY) == []


def test_what_matters_does_not_fade() -> None:
    memories = [remembered(one.text, place=n, speaker="", importance=4) for n, one in enumerate(dull(4))]
    assert consolidated(memories, minute=1_000 * DAY) == []


def test_pinned_small_things_never_fade() -> None:
    assert consolidated(dull(4, pinned=True), minute=1_000 * DAY) == []


def test_small_things_of_different_scenes_are_not_thrown_together() -> None:
    memories = [remembered(one.text, place=n, speaker="", importance=1, scene=f"s{n}") for n, one in enumerate(dull(4))]
    assert consolidated(memories, minute=20 * DAY) == []


def test_the_same_memories_give_the_same_summaries() -> None:
    memories = [remembered(text, place=n) for n, text in enumerate(MILL)]
    assert consolidated(memories) == consolidated(list(memories))


def test_of_a_faded_memory_the_beginning_is_left_and_the_text_itself_is_not_touched() -> None:
    text = "The blue boat with the torn sail came back at night without its crew."
    assert faded_text(text, 0.6) == text
    assert faded_text(text, 0.3).startswith("The blue boat with the torn sail came")
    assert "crew" not in faded_text(text, 0.3) and len(faded_text(text, 0.05)) < len(faded_text(text, 0.3))


@pytest.mark.parametrize("text", ["", "Rain.", "A short one."])
def test_short_memories_do_not_get_shorter(text: str) -> None:
    assert faded_text(text, 0.1) == text
