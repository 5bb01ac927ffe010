"""Normal forms: what is written is compared in one form, however many marks somebody hangs on a letter."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from time import process_time
from unicodedata import combining, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

import fabula
from fabula.language.normal_forms import MOST_MARKS, normal_form
from fabula.language.search_words import fold
from fabula.language.spoilers import Spoilers
from fabula.language.vocabulary import folded, knit_words_in, normal, plain, words_in

MARKS = [chr(code) for code in range(0x300, 0x36F)]
LONG = 100_000


def written(signs: list[str]) -> str:
    choice = random.Random(1)
    return "a" + "".join(choice.choice(signs) for _ in range(LONG))


HEAPS = {
    "many marks": written(MARKS),
    "marks of two places": written(["\u0316", "\u0301"]),
    "a mark that counts as a letter": written(["\uff9e", "\u0301"]),
    "marks that are made of others": written(["\u0344", "\u0f73", "\u0f81", "\u0316"]),
    "marks and signs that take no room": written(["\u0316", "\u0301", "\ufe0f"]),
}


READERS: dict[str, Callable[[str], object]] = {
    "normal": normal,
    "plain": plain,
    "folded": folded,
    "words_in": words_in,
    "knit_words_in": knit_words_in,
    "fold": fold,
    "leaks": Spoilers.of([("a", "Old Mordred sleeps under the hill.")]).guard().leaks,
}


@pytest.mark.parametrize("heap", HEAPS)
@pytest.mark.parametrize("reader", READERS)
def test_very_many_marks_on_a_letter_cost_no_more_than_they_are_long(reader: str, heap: str) -> None:
    began = process_time()
    READERS[reader](HEAPS[heap])
    assert process_time() - began < 1


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(MARKS), max_size=60))
@examples(300)
def test_few_marks_are_all_kept(text: str) -> None:
    text = re.sub(rf"(\W{{{MOST_MARKS}}})\W+", r"\1", text)
    for form in ("NFC", "NFKC", "NFKD"):
        assert normal_form(form, text) == normalize(form, text)


def test_of_very_many_marks_the_first_are_kept() -> None:
    assert normal_form("NFC", "a" + "\u0316" * LONG + "b") == "a" + "\u0316" * MOST_MARKS + "b"
    assert normal_form("NFC", "\u2603" * 100) == "\u2603" * 100


def test_every_mark_that_is_put_into_order_is_known() -> None:
    for code in range(0x110000):
        sign = chr(code)
        if not 0xD800 <= code < 0xE000 and combining(normalize("NFKD", sign)[0]):
            heap = normalize("NFKD", normal_form("NFKD", sign * 100))
            assert len(heap) <= 3 * MOST_MARKS, hex(code)


def test_nobody_else_asks_for_a_normal_form() -> None:
    folder = Path(fabula.__file__).parent
    asking = {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*.py")
        if re.search(r"unicodedata.*\bnormalize\b", file.read_text("utf-8"))
    }
    assert asking == {"language/normal_forms.py"}
