"""Of the lines before it a turn sets out with the last ones, as far as they take a megabyte."""

from __future__ import annotations

from fabula.story.past_lines import PAST_BYTES, newest_lines
from fabula.story.state import MemoryEntry


def line(text: str) -> MemoryEntry:
    return MemoryEntry(speaker_id="player", speaker_name="Ann", kind="player_input", text=text)


def test_short_lines_are_all_there() -> None:
    past = [line("I look around.")] * 144
    assert newest_lines(past) == past and newest_lines([]) == []


def test_of_very_long_lines_the_last_ones_are_kept_and_wide_letters_count_four_times() -> None:
    long, wide = [line("x" * 20_000)] * 144, [line("𝔘" * 20_000)] * 144
    assert len(newest_lines(long)) == PAST_BYTES // 20_100
    assert len(newest_lines(wide)) == PAST_BYTES // 80_100


def test_the_very_last_line_is_always_there() -> None:
    assert newest_lines([line("I go."), line("𝔘" * PAST_BYTES)]) == [line("𝔘" * PAST_BYTES)]
