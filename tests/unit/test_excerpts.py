"""Words are found whatever their case and accents, and an excerpt shows where they stand."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given
from tests.mass import examples

from fabula.language.excerpts import EXCERPT_LENGTH, excerpt_of, has_all, wanted_words
from fabula.language.search_words import fold


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("etude", "Une Étude en rouge"),
        ("ÉTUDE", "an etude"),
        ("lamp quay", "Along the QUAY the lamps go out."),
        ('"the lamps go"', "Along the quay the\nlamps go out."),
        ("strasse", "Die Straße ist leer."),
        ("灯", "码头上的灯一盏盏熄灭。"),
        ("ober", "October"),
        ("cafe\u0301", "Un café noir"),
    ],
)
def test_a_text_is_found(query: str, text: str) -> None:
    assert has_all(text, wanted_words(query))
    excerpt = excerpt_of(text, wanted_words(query))
    found = [fold(excerpt.text[place.start : place.end]).replace("\n", " ") for place in excerpt.places]
    assert set(found) == set(wanted_words(query))


@pytest.mark.parametrize(("query", "text"), [("lamp sea", "A lamp."), ('"lamps out"', "The lamps go out."), ("x", "")])
def test_a_text_is_not_found(query: str, text: str) -> None:
    assert not has_all(text, wanted_words(query))


def test_a_query_without_words_asks_for_nothing() -> None:
    assert wanted_words("  \t ") == []
    assert len(wanted_words(" ".join(f"w{n}" for n in range(50)))) == 8


def test_an_excerpt_is_cut_between_words_around_the_first_place() -> None:
    text = " ".join(f"word{n}" for n in range(100)) + " needle " + " ".join(f"word{n}" for n in range(100))
    excerpt = excerpt_of(text, ["needle"])
    assert excerpt.text.startswith("…word") and excerpt.text.endswith("…")
    assert len(excerpt.text) <= EXCERPT_LENGTH + 42
    (place,) = excerpt.places
    assert excerpt.text[place.start : place.end] == "needle"


@examples(500)
@given(text=st.text(max_size=400), query=st.text(max_size=30))
def test_every_place_of_an_excerpt_is_inside_it(text: str, query: str) -> None:
    wanted = wanted_words(query)
    excerpt = excerpt_of(text, wanted)
    for place in excerpt.places:
        assert 0 <= place.start < place.end <= len(excerpt.text)
    if excerpt.text == text and wanted and has_all(text, wanted[:1]) and text.isascii():
        assert excerpt.places
