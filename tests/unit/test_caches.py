"""Caches by identity, and of short texts."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from fabula.language.caches import cached_if_short
from fabula.language.spoilers import LONGEST_TEXT_KEPT, Spoilers
from fabula.language.stemming import stem_in
from fabula.language.vocabulary import telling_words
from fabula.language.words import stem
from fabula.story.caches import IdentityCache
from fabula.understudy.reading.words import is_past_form, is_verb, lemmas_of, noun_of, verb_of


def test_what_was_made_of_a_thing_is_found_by_the_very_thing_and_its_use() -> None:
    made: list[str] = []
    newest: IdentityCache[list[int], str] = IdentityCache(2)

    def make(name: str) -> str:
        made.append(name)
        return name

    one, alike = [1], [1]
    assert [newest.of(one, lambda: make("one")) for _ in range(2)] == ["one", "one"]
    assert newest.of(alike, lambda: make("alike")) == "alike"
    assert newest.of(alike, lambda: make("otherwise"), use="other") == "otherwise"
    assert newest.of(one, lambda: make("anew")) == "anew"
    assert made == ["one", "alike", "otherwise", "anew"]


def test_only_short_texts_are_remembered() -> None:
    read: list[str] = []

    @cached_if_short(most=2, longest=3)
    def shout(text: str) -> str:
        read.append(text)
        return text.upper()

    assert [shout(text) for text in ("abc", "abc", "abcd", "abcd")] == ["ABC", "ABC", "ABCD", "ABCD"]
    assert read == ["abc", "abcd", "abcd"]


@pytest.mark.parametrize("read", [stem, stem_in, verb_of, noun_of, lemmas_of, is_past_form, is_verb, telling_words])
def test_what_is_made_of_a_word_without_end_is_not_kept(read: Callable[[str], object]) -> None:
    endless = "walk" * 1_000
    held = sys.getrefcount(endless)
    read(endless)
    assert sys.getrefcount(endless) == held


def test_a_story_keeps_no_long_text_that_was_looked_through_for_spoilers() -> None:
    spoilers = Spoilers.of([("cave", "The king waits in the cave beneath the old mill.")])
    short, long = "We talk of the weather. ", "We talk of the weather. " * (LONGEST_TEXT_KEPT // 10)
    held = sys.getrefcount(long)
    assert spoilers.standing_in(long) == spoilers.standing_in(long)
    assert sys.getrefcount(long) == held
    assert spoilers.standing_in(short) is spoilers.standing_in(short)
