"""Labels of choices: each names its own choice, whatever the choices read."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fabula.loops.ink.player_move import chosen_index, label_of
from fabula.ports.errors import InvalidRequest
from fabula.story.ink_stories import InkChoice, Waiting, labelled

CONFUSABLE = st.lists(st.text("aA (12)\u00a0\u3000", max_size=8), min_size=1, max_size=12)


def offered(*texts: str) -> Waiting:
    return Waiting(kind="choice", choices=labelled([(text, []) for text in texts]))


@given(CONFUSABLE)
@example(["A", "A", "A (1)", "go", "GO", "Wait\u00a0", "\u3000x", "", ""])
def test_every_label_names_the_choice_it_was_made_for(texts: list[str]) -> None:
    waiting = offered(*texts)
    for choice in waiting.choices:
        assert chosen_index(waiting, choice.label) == chosen_index(waiting, label_of(waiting, choice.index))
        assert chosen_index(waiting, choice.label) == choice.index


def test_a_label_is_the_text_where_that_is_enough() -> None:
    assert [one.label for one in offered("Go", "go", " Wait\u00a0").choices] == ["Go", "go", "Wait"]
    assert [one.label for one in offered("A", "A", "A (1)", "").choices] == ["A (1) (1)", "A (2)", "A (1)", "(4)"]


def test_a_choice_that_only_reads_like_the_words_is_taken_if_it_is_the_only_one() -> None:
    assert chosen_index(offered("Turn back", "Go on"), " go ON\n") == 1
    for words in ("gO", "nothing of the kind", ""):
        with pytest.raises(InvalidRequest, match="0: go; 1: GO"):
            chosen_index(offered("go", "GO"), words)


def test_labels_of_plays_that_were_kept_before_are_still_found() -> None:
    kept = [("Wait\u00a0", "Wait\u00a0"), ("A", "A (2)"), ("A", "A (3)"), ("A (2)", "A (2)"), ("A (3) ", "A (3) ")]
    choices = [InkChoice(index=index, text=text, label=label) for index, (text, label) in enumerate(kept)]
    waiting = Waiting(kind="choice", choices=choices)
    assert [chosen_index(waiting, label_of(waiting, index)) for index in range(5)] == [0, 1, 2, 3, 4]
    assert chosen_index(waiting, "Wait\u00a0") == 0 and chosen_index(waiting, "A (3) ") == 4
