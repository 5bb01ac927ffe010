"""Names are found in a text, however many there are and however alike they begin."""

from __future__ import annotations

import pytest
from tests.growth import calls_of

from fabula.canon.extraction import ToldLine, extract, mentions
from fabula.language.name_index import MOST_NAMES, MOST_WORDS, NameIndex
from fabula.story.sizes import memory_size


def named(text: str, *names: str) -> list[str]:
    return [text[one.start : one.end] for one in NameIndex({name: name for name in names}).spans(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mara Vane waits for Mara.", ["Mara Vane", "Mara"]),
        ("MARA  VANE’s dog; Maraschino.", ["MARA  VANE"]),
        ("Old O’Brien-Vane and old O'Brien.", ["O’Brien", "O'Brien"]),
        ("Mara. Vane.", ["Mara"]),
        ("Nobody is here.", []),
        ("", []),
    ],
)
def test_the_longest_name_that_begins_at_a_word_is_found(text: str, found: list[str]) -> None:
    assert named(text, "Mara", "Mara Vane", "o'brien") == found


def test_names_that_are_too_many_or_too_long_are_not_known() -> None:
    index = NameIndex({f"name{number}": "x" for number in range(MOST_NAMES + 5)})
    assert index.knows(f"name{MOST_NAMES - 1}") and not index.knows(f"name{MOST_NAMES}")
    assert named("a " * 40, "a " * (MOST_WORDS + 1)) == []
    assert named("?!", "?!") == []


def _line(text: str, turn: str = "t") -> ToldLine:
    return ToldLine(ref=turn, turn_id=turn, kind="narration", speaker_id="n", text=text, minute=0)


def test_a_line_costs_no_more_for_a_thousand_names_that_begin_alike() -> None:
    line = _line("a " * 1_000)

    def cost(count: int) -> int:
        names = {"a " * 10 + str(number): str(number) for number in range(count)}
        known = NameIndex(names)
        return calls_of(lambda: list(known.spans(line.text))).total()

    assert cost(1_000) <= cost(10)


def test_who_is_named_in_how_many_turns_is_counted_in_one_reading() -> None:
    lines = [_line("Orr gives Mara the key. Orr leaves.", "1"), _line("orr sleeps.", "2")]
    assert mentions(lines, {"Orr": "orr", "Mara": "mara", "Ilse": "ilse"}) == {"orr": 2, "mara": 1, "ilse": 0}


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("Orr burned the mill.", "orr burned the mill"),
        ("Orr gives Mara the key of the mill.", "mara has the key of the mill"),
        ("Orr gives Mara the brass key.", "mara has the brass key"),
        ("Orr found Mara.", None),
        ("Orr is Mara's brother.", "orr brother_of mara"),
        ("You serve nobody. Orr serves you.", "orr serves player"),
        ("\ue0000\ue001 burned the mill.", None),
    ],
)
def test_what_is_said_of_names_is_found_with_their_words(sentence: str, said: str | None) -> None:
    found = extract([_line(sentence)], {"Orr": "orr", "Mara": "mara", "the Mill": "mill"}, player="player")
    contents = [one.content for one in found]
    assert [f"{one.subject} {one.predicate} {one.object}" for one in contents] == ([] if said is None else [said])


@pytest.mark.parametrize(
    "value", [[[]] * 500, [{}] * 500, [{"a": 1.5}] * 500, ["x" * 100] * 50, {"é": "ü" * 500}, ["\ud800"]]
)
def test_what_a_value_takes_in_memory_is_told_without_going_through_it(value: object) -> None:
    assert memory_size(value) >= 2  # type: ignore[arg-type]
    assert calls_of(lambda: memory_size(value)).total() < 20  # type: ignore[arg-type]
