"""Genres: for each kind of story the places, things and dangers that suit it, to build scenes from with no model.

A concept belongs to the genre whose words it shares most; one that shares none plays in places that suit any story.
The table is `texts/genres.toml`, which an author can read and extend.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from fabula.language.words import stems


@dataclass(frozen=True, kw_only=True)
class Place:
    """A place by its title, and what is seen there. One with a name of its own keeps its capitals."""

    title: str
    seen: str
    is_proper: bool = False

    @property
    def name(self) -> str:
        """As it stands within a sentence: `the lamp room`, `the Lee Door`."""
        if not self.is_proper:
            return self.title.lower()
        return f"the {self.title[4:]}" if self.title.startswith("The ") else self.title


@dataclass(frozen=True, kw_only=True)
class Thing:
    """A thing with its article, what one does with it, and what that brings to light."""

    name: str
    verb: str
    tells: str


@dataclass(frozen=True, kw_only=True)
class Danger:
    """What goes wrong, and the deed that helps against it, as one says it to a player."""

    title: str
    seen: str
    deed: str


@dataclass(frozen=True, kw_only=True)
class Genre:
    name: str
    words: frozenset[str]
    places: tuple[Place, ...]
    things: tuple[Thing, ...]
    dangers: tuple[Danger, ...]


def genre_of(concept: str, *more: str) -> Genre:
    """The genre of a concept; where it says nothing, the cast is asked, of which a single word is no answer."""
    for text, least in ((concept, 1), (" ".join(more), 2)):
        about = stems(text)
        best = max(GENRES, key=lambda genre: len(about & genre.words))
        if len(about & best.words) >= least:
            return best
    return ANYWHERE


def _genre(raw: Mapping[str, str]) -> Genre:
    return Genre(
        name=raw["name"],
        words=stems(raw["words"]),
        places=tuple(Place(title=title, seen=seen) for title, seen in _rows(raw["places"], ":")),
        things=tuple(Thing(name=name, verb=verb, tells=tells) for name, verb, tells in _rows(raw["things"], "|")),
        dangers=tuple(Danger(title=title, seen=seen, deed=deed) for title, seen, deed in _rows(raw["dangers"], "|")),
    )


def _rows(text: str, mark: str) -> list[list[str]]:
    cells = 1 if mark == ":" else 2
    return [[cell.strip() for cell in line.split(mark, cells)] for line in text.strip().splitlines()]


_EVERY = [
    _genre(raw) for raw in tomllib.loads((files(__package__) / "texts" / "genres.toml").read_text("utf-8"))["genre"]
]
ANYWHERE, *GENRES = _EVERY
"""The first row of the table suits any story."""
