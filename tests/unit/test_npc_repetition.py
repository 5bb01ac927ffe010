"""What counts as an old line that an NPC says again, and how much it costs to find out."""

from __future__ import annotations

from random import Random
from time import process_time

from fabula.loops.npc.repetition import MOST_WORDS, is_one_of, may_become, old_lines


def test_a_line_that_comes_again_is_known_from_its_first_words_on() -> None:
    old = old_lines(["The gate is shut, and it stays shut until dawn."])
    assert may_become("The gate is", old) and not may_become("The moon is up", old)
    assert is_one_of("The gate is shut, and it stays shut till dawn.", old)


def test_speeches_without_end_are_not_compared_with_each_other() -> None:
    dice = Random(2)
    speech = " ".join(dice.choice("ab") for _ in range(90_000))
    again = speech[:-1] + "c"
    started = process_time()
    assert not may_become(again, old_lines([speech])) and not is_one_of(again, old_lines([speech]))
    line = " ".join(dice.choice("ab") for _ in range(MOST_WORDS))
    assert is_one_of(line[:-1] + "c", old_lines([line]))
    assert process_time() - started < 0.5, "the longest lines that are compared take some milliseconds"
