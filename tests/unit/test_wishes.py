"""What a player wishes of the telling, out of character, as far as rules can follow it."""

from __future__ import annotations

import pytest

from fabula.understudy.wishes import WishReading, as_wished, parts_as_wished, reading_of

TOLD = "The gate is shut. Rain runs down it."
PARTS = [("action", "Mara turns away."), ("dialogue", "No. Not today.")]


@pytest.mark.parametrize(
    ("wish", "meant"),
    [
        ("Shorter, please.", "short"),
        ("that was too long", "short"),
        ("faster!", "short"),
        ("get to the point", "short"),
        ("schneller bitte", "short"),
        ("longer", "long"),
        ("more detail", "long"),
        ("More, please.", "long"),
        ("not so short", "long"),
        ("slow down", "long"),
        ("ausführlicher", "long"),
        ("详细一点", "long"),
        ("less description", "plain"),
        ("not so much detail, please", "plain"),
        ("ohne Beschreibungen", "plain"),
        ("tell it differently", "other"),
        ("Again, please.", "other"),
        ("let her refuse", None),
        ("let her refuse again", None),
        ("let him open it slowly", None),
        ("more spiders", None),
        ("no dice talk", None),
        ("shortly after dawn", None),
        ("", None),
        (None, None),
    ],
)
def test_a_wish_is_read_by_its_words(wish: str | None, meant: WishReading | None) -> None:
    assert reading_of(wish) == meant


def test_fewer_words_are_the_first_sentence_and_what_is_said() -> None:
    assert as_wished(TOLD, "shorter") == "The gate is shut."
    assert parts_as_wished(PARTS, "shorter") == [("dialogue", "No.")]


def test_less_description_leaves_what_is_said_whole() -> None:
    assert as_wished(TOLD, "less description") == "The gate is shut."
    assert parts_as_wished(PARTS, "less description") == [("dialogue", "No. Not today.")]


def test_what_no_rule_can_follow_changes_nothing() -> None:
    assert as_wished(TOLD, "let her refuse") == TOLD
    assert parts_as_wished(PARTS, "let her refuse") == PARTS
