"""Find names in a text: however many names there are and however alike they begin, a text is gone through once.

A pattern that lists all names tries each of them at every word. It is one call, too, during which no other thread runs.
Here names are looked up word by word instead, so the price is that of the words of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

MOST_NAMES: Final = 4_000
MOST_WORDS: Final = 12
"""So many names are known, and of each so many words: who is called by more is not found."""

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class NameSpan:
    """Where in a text somebody is named."""

    start: int
    end: int
    id: str


class _Word(NamedTuple):
    """A word in lower case, and what stands between it and the word before."""

    before: str
    word: str
    start: int
    end: int


class NameIndex:
    """Leads from names to ids, whatever their case and however many blanks they have."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self._ids: dict[str, str] = {}
        self._beginnings: set[str] = set()
        for name, id in (names or {}).items():
            self.add(name, id)

    def add(self, name: str, id: str) -> None:
        """Knows one more name; who had it first keeps it."""
        keys = _keys(name)
        if keys and len(keys) <= MOST_WORDS and len(self._ids) < MOST_NAMES:
            self._beginnings.update(keys)
            self._ids.setdefault(keys[-1], id)

    def knows(self, name: str) -> bool:
        """Whether anybody is called so."""
        return bool(keys := _keys(name)) and keys[-1] in self._ids

    def spans(self, text: str) -> Iterator[NameSpan]:
        """Who is named, in order: of names that begin at one word the longest counts, and no word counts twice."""
        words = _words(text)
        place = 0
        while place < len(words):
            found, count = self._longest(words, place)
            if found is not None:
                yield found
            place += count

    def _longest(self, words: list[_Word], place: int) -> tuple[NameSpan | None, int]:
        found, counted, count = None, 1, 1
        key, end = words[place].word, words[place].end
        while key in self._beginnings:
            if (id := self._ids.get(key)) is not None:
                found, counted = NameSpan(start=words[place].start, end=end, id=id), count
            if place + count == len(words):
                break
            following = words[place + count]
            key, end, count = key + following.before + following.word, following.end, count + 1
        return found, counted


def _keys(name: str) -> list[str]:
    """A name up to each of its words, the whole of it last."""
    words = _words(" ".join(name.split()))
    return [*accumulate(one.word if place == 0 else one.before + one.word for place, one in enumerate(words))]


def _words(text: str) -> list[_Word]:
    found: list[_Word] = []
    end = 0
    for one in _WORD.finditer(text):
        between = text[end : one.start()].replace("’", "'")
        found.append(_Word(" " if between.isspace() else between, one[0].casefold(), one.start(), one.end()))
        end = one.end()
    return found
