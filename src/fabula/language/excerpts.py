"""Find words in a text as people look for them, and show the place: case and accents do not count.

1. A query is taken apart into its words; what stands in quotes is one phrase.
2. A text is found when all of them are in it, wherever in a word they stand.
3. An excerpt is the text around the first place, cut between words, with every place in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fabula.language.search_words import fold

MOST_WANTED = 8
EXCERPT_LENGTH = 160
_BEFORE = 50
_MOST_PLACES = 20
_WANTED = re.compile(r'"([^"]+)"|“([^”]+)”|(\S+)')
_SPACE = str.maketrans(dict.fromkeys("\t\n\r\v\f\xa0", " "))


class Span(NamedTuple):
    """A piece of a text, from a letter to the one behind its last."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """A piece of a text, and where in it the words that were looked for stand."""

    text: str
    places: Sequence[Span]


def wanted_words(query: str) -> list[str]:
    """What a query asks for, folded, each once."""
    parts = (fold(" ".join((one or two or three).split())) for one, two, three in _WANTED.findall(query))
    return list(dict.fromkeys(part for part in parts if part))[:MOST_WANTED]


def has_all(text: str, wanted: Sequence[str]) -> bool:
    """Whether everything that is wanted stands in a text."""
    folded = fold(text.translate(_SPACE))
    return all(one in folded for one in wanted)


def excerpt_of(text: str, wanted: Sequence[str]) -> Excerpt:
    """The text around the first of the places; without one, its beginning."""
    places = _places(text, wanted)
    start = _cut_before(text, places[0].start - _BEFORE) if places else 0
    end = _cut_after(text, start + EXCERPT_LENGTH)
    head, tail = "…" if start else "", "…" if end < len(text) else ""
    shift = len(head) - start
    inside = [
        Span(place.start + shift, place.end + shift) for place in places if start <= place.start and place.end <= end
    ]
    return Excerpt(text=f"{head}{text[start:end]}{tail}", places=inside[:_MOST_PLACES])


def _places(text: str, wanted: Sequence[str]) -> list[Span]:
    """Where what is wanted stands. Folding changes lengths, so each folded letter remembers where it came from."""
    folded: list[str] = []
    origins: list[int] = []
    for place, letter in enumerate(text.translate(_SPACE)):
        plain = fold(letter)
        folded.append(plain)
        origins += [place] * len(plain)
    whole = "".join(folded)
    found: list[Span] = []
    for one in wanted:
        at = whole.find(one)
        while at >= 0 and len(found) < _MOST_PLACES * MOST_WANTED:
            found.append(Span(origins[at], origins[at + len(one) - 1] + 1))
            at = whole.find(one, at + len(one))
    return sorted(found)


def _cut_before(text: str, at: int) -> int:
    """The beginning of a word at or before a place, if one is near."""
    if at <= 0:
        return 0
    space = text.rfind(" ", max(0, at - 20), at)
    return at if space < 0 else space + 1


def _cut_after(text: str, at: int) -> int:
    if at >= len(text):
        return len(text)
    space = text.find(" ", at, at + 20)
    return at if space < 0 else space
