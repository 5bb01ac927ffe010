"""The signs of a text: what sort of thing it says, found with few looks and none missed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.language.words import word_set
from fabula.recall.imprints import signs_of

WORDS = sorted(
    word_set(
        "i i'm we're our ich mi yesterday ago weeks weekend march may 1999 2024 17 once twice third second few a an"
        " half one two more whole minute hours decade years since for ages long times per every each always often daily"
        " the in at Paris visited near harbour park Mara Tobias Finch _i_ i-am she said nothing MY Tonight"
    )
)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=8), st.sampled_from([" ", " ", "-", ", ", ". "]))
def test_a_text_has_the_same_signs_whether_its_letters_are_plain_or_not(words: list[str], between: str) -> None:
    """A letter that is not plain has every pattern tried; it says nothing by itself."""
    text = between.join(words)
    assert signs_of(text) == signs_of(f"{text} é")
    assert signs_of(text, ["Tobias Finch"]) == signs_of(f"{text} é", ["Tobias Finch"])


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("We met.", {"oneself"}),
        ("That was in 1987.", {"time", "number"}),
        ("She waited for ages.", {"duration"}),
        ("He comes every morning.", {"time", "frequency"}),
        ("Three hours more, they say.", {"number", "duration"}),
        ("Who saw it near Sarn?", {"question", "place", "name"}),
    ],
)
def test_signs_tell_what_sort_of_thing_is_said(text: str, signs: set[str]) -> None:
    assert signs_of(text) == signs


def test_names_of_those_who_are_there_are_no_telling_names() -> None:
    assert "name" in signs_of("Then came Tobias.") and "name" not in signs_of("Then came Tobias.", ["Tobias Finch"])
