"""A line is read in little time, whatever stands in it: slips of the pen are looked for among few words."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from string import ascii_lowercase

from hypothesis import example, given
from hypothesis import strategies as st
from tests.growth import calls_of

from fabula.understudy.reading.clauses import MOST_SLIPS
from fabula.understudy.reading.reader import LONGEST, read_line
from fabula.understudy.reading.ways import SceneText, ways_of
from fabula.understudy.reading.words import LONGEST_WORD, put_right, slips

WORDS = st.text("abe", min_size=3, max_size=8)


def all_slips(one: str, other: str) -> int:
    return slips(one, other, LONGEST_WORD)


def plainly_nearest(word: str, among: Iterable[str], most: int) -> str:
    """The nearest word, each one looked at; of two that are as near, the longer one."""
    found = [
        (all_slips(word, other), sorted(other) != sorted(word), -len(other), other)
        for other in among
        if abs(len(other) - len(word)) <= most and (other[0] == word[0] or sorted(other) == sorted(word))
    ]
    return next((other for distance, _, _, other in sorted(found) if distance <= most), word)


@example(others={"aaa", "aaab"}, word="xaab")
@given(st.sets(WORDS, max_size=30), WORDS.map(lambda word: f"x{word}"))
def test_the_nearest_word_is_found_although_few_are_looked_at(others: set[str], word: str) -> None:
    story = frozenset(f"x{other}" for other in others)
    names = frozenset(sorted(story)[::2])
    most = 2 if len(word) >= 6 else 1
    expected = word if word in story else plainly_nearest(word, story, most)
    assert put_right(word, story - names, names, frozenset()) == expected


@given(WORDS, WORDS, st.integers(0, 3))
def test_slips_are_counted_as_far_as_they_matter(one: str, other: str, most: int) -> None:
    counted, whole = slips(one, other, most), all_slips(one, other)
    assert counted == whole if whole <= most else counted > most


def nonsense(seed: int, count: int) -> str:
    lots = Random(seed)
    return " ".join("".join(lots.choices(ascii_lowercase, k=7)) for _ in range(count))


def scene(words: int) -> SceneText:
    return SceneText(node_id="n", title="T", scene=nonsense(1, words), goal="Go on.", ways=(), people=(), lore=())


def test_a_line_of_nonsense_is_compared_with_few_words_of_a_long_scene() -> None:
    line = nonsense(2, 1_000)
    assert len(line) > LONGEST
    long = scene(10_000)
    ways_of(long)
    read_line(line, long)
    calls = calls_of(lambda: read_line(f"x{line}", long))
    assert calls["put_right"] <= MOST_SLIPS
    assert calls["slips"] < 1_000
