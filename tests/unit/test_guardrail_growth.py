"""Boundaries cost as much as there is to read, whatever words a player or a model repeats."""

from __future__ import annotations

import pytest
from tests.growth import calls_of

from fabula.language import terms
from fabula.loops.guardrails import CheckedStream, Guardrails
from fabula.story.boundaries import Boundaries, limits_of
from fabula.story.caps import Beyond, Caps, TechnologyCap, cap_words

SHARED = "abcdefghij"
CROWD = {f"c{n}": [f"{SHARED} w{n}x{word}" for word in range(50)] for n in range(10)}


def test_a_word_that_many_lines_share_is_compared_once_however_often_it_is_said() -> None:
    limits = limits_of(Boundaries(lines=list(CROWD), categories=CROWD))
    assert limits is not None
    few, many = (
        calls_of(lambda words=words: limits.line_in(f"{SHARED} " * words))[terms._stands_in.__name__]  # type: ignore[misc]
        for words in (10, 500)
    )
    assert few == many == 500


def test_a_line_is_found_among_many_that_share_its_words_also_where_they_follow_each_other() -> None:
    crowd = {"c": [*(f'"{SHARED} w{n}"' for n in range(50)), f"w1 {SHARED} w2"]}
    limits = limits_of(Boundaries(lines=["c"], categories=crowd))
    assert limits is not None
    assert limits.line_in(f"the w9 then {SHARED} and {SHARED} w49 here") == "c"
    assert limits.line_in(f"w9 {SHARED} then w2") is None
    assert limits.line_in(f"{SHARED} w2, then w1") == "c"


@pytest.mark.parametrize("piece", ["\n", "a. ", "\u00e9. ", "\u4f60\u3002", "x" * 50])
def test_a_telling_of_very_many_sentences_is_read_once(piece: str) -> None:
    rails = Guardrails(limits=limits_of(Boundaries(lines=["torture"], veils=["spiders"])))

    def letters_read(times: int) -> int:
        """How often ends of sentences were looked for, and how many sentences there were."""
        counted = calls_of(lambda: CheckedStream(rails, asks_again=False).take(piece * times))
        return counted["search"] + counted["find"] + counted["_pass"]

    assert letters_read(400) <= 2 * letters_read(200) + 10
    text = piece * 100 + " Torture. " + piece * 100
    stream = CheckedStream(rails, asks_again=False)
    assert "torture" not in (stream.take(text) + stream.close()).lower()


def test_words_that_a_world_allows_are_not_compared_with_each_that_is_beyond_it() -> None:
    def read(allowed: int) -> int:
        cap = TechnologyCap(
            beyond=[Beyond(words=[f"beyond{number}" for number in range(50)])],
            allowed=[f"allowed{number}" for number in range(allowed)],
        )
        return calls_of(lambda: cap_words(Caps(technology=cap)))[terms._term.__name__]

    assert read(40) - read(20) == 20
