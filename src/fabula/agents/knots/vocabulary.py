"""Words and sentences of plain text: what a text is about, and where its sentences end."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files

from fabula.story.newest import remembering_short

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'’”)]*\s+")


_TEXTS = {
    file.name.removesuffix(".txt"): file.read_text("utf-8").strip()
    for file in (files("fabula.agents.knots") / "texts").iterdir()
    if file.name.endswith(".txt")
}


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, in order, as they are written."""
    return [part.strip() for line in text.splitlines() for part in _SENTENCE.split(line) if part.strip()]


def words_in(text: str) -> list[str]:
    """The words of a text as they are written."""
    return _WORD.findall(text)


@remembering_short(most=8_192, longest=1_000)
def normal(text: str) -> str:
    """A text by its words alone, with a space on each side: case and punctuation do not count."""
    return spaced(_WORD.findall(text.casefold().replace("’", "'")))


def spaced(words: Iterable[str]) -> str:
    """Words with a space on each side, so that a search finds whole words only."""
    return f" {' '.join(words)} "


@lru_cache(maxsize=20_000)
def telling_words(text: str) -> frozenset[str]:
    """What a text is about: its rarer words, roughly stemmed."""
    return frozenset(_stem(word) for word in normal(text).split() if len(word) > 2 and word not in everyday_words())


@cache
def everyday_words() -> frozenset[str]:
    """Words that tell nothing of what a text is about, and with which any sentence may begin."""
    return frozenset(text_file("everyday_words").split())


def text_file(name: str) -> str:
    """One of the texts beside this module; they are read once, with the code."""
    return _TEXTS[name]


def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    for ending in ("ing", "ied", "ies", "ed", "es", "ly", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
