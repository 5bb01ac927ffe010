"""Caps of a world: how far its technology and its magic go, what lies beyond, and what is at hand instead.

A level names what the world has; built-in lists (`texts/technology.txt`, `texts/magic.txt`) know some words beyond it.
An author adds words with `beyond`, each with what takes their place, and takes words back with `allowed`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Final, Literal, get_args

from pydantic import Field, StringConstraints

from fabula.language.terms import Terms, telling_words, terms_problem
from fabula.story.values import Value

TechnologyLevel = Literal["stone", "ancient", "medieval", "gunpowder", "industrial", "modern", "future"]
MagicLevel = Literal["none", "rare", "common"]
TECHNOLOGY: Final[tuple[str, ...]] = get_args(TechnologyLevel)

CapWord = Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True)]
Words = Annotated[list[CapWord], Field(min_length=1, max_length=60)]


class Beyond(Value):
    """Words for what the world does not have, and what is at hand instead; empty where nothing is."""

    words: Words
    instead: str = Field(default="", max_length=80)


class TechnologyCap(Value):
    """`level` is the newest that there is."""

    level: TechnologyLevel | None = None
    beyond: list[Beyond] = Field(default=[], max_length=40)
    allowed: list[CapWord] = Field(default=[], max_length=100)


class MagicCap(Value):
    """`none`: nobody works it; `rare`: who does says by what means; `common`: only what is `beyond` is not done."""

    level: MagicLevel = "common"
    beyond: list[Beyond] = Field(default=[], max_length=40)
    allowed: list[CapWord] = Field(default=[], max_length=100)


class Caps(Value):
    """What a world goes up to; what is not said has no cap."""

    technology: TechnologyCap | None = None
    magic: MagicCap | None = None


_TEXTS: Final = files("fabula.story") / "texts"


def _rows(name: str) -> list[str]:
    rows = (_TEXTS / name).read_text("utf-8").splitlines()
    return [row for row in rows if row.strip() and not row.startswith("#")]


def _beyond(row: str) -> tuple[str, Beyond]:
    level, words, instead = (part.strip() for part in row.split("|"))
    return level, Beyond(words=_words(words), instead=instead)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(";") if word.strip()]


_INVENTED: Final = tuple(map(_beyond, _rows("technology.txt")))
_MAGIC: Final = Beyond(words=[word for row in _rows("magic.txt") for word in _words(row)])


@dataclass(frozen=True, kw_only=True)
class CapWords:
    """Caps made ready for looking through lines: the words beyond each, and what is at hand instead of a word."""

    technology: Terms
    magic: Terms
    beyond_magic: Terms
    instead: dict[str, str]
    level: str
    magic_level: MagicLevel


def cap_words(caps: Caps) -> CapWords:
    """Caps, made ready; made once for what an author wrote."""
    return _made_ready(caps.model_dump_json())


@lru_cache(maxsize=128)
def _made_ready(document: str) -> CapWords:
    caps = Caps.model_validate_json(document)
    technology, magic = caps.technology or TechnologyCap(), caps.magic or MagicCap()
    level = technology.level
    newer = (
        [] if level is None else [one for first, one in _INVENTED if TECHNOLOGY.index(first) > TECHNOLOGY.index(level)]
    )
    worked = [] if magic.level == "common" else [_MAGIC]
    every = [*newer, *technology.beyond, *magic.beyond]
    return CapWords(
        technology=_terms([*technology.beyond, *newer], technology.allowed),
        magic=_terms(worked, magic.allowed),
        beyond_magic=_terms(magic.beyond, magic.allowed),
        # The author's own come last, and take the place of what is built in.
        instead={word: one.instead for one in every for word in one.words},
        level=level or "",
        magic_level=magic.level,
    )


def _terms(beyond: Iterable[Beyond], allowed: list[str]) -> Terms:
    # Looked up, not compared with each other: an author may allow a hundred words and have thousands beyond.
    spared = {telling_words(one) for one in allowed} - {frozenset()}
    words = (word for one in beyond for word in one.words)
    return Terms((word, word) for word in words if telling_words(word) not in spared)


def caps_problem(caps: Caps) -> str | None:
    """Why caps are not taken."""
    both = [one for one in (caps.technology, caps.magic) if one is not None]
    words = [word for cap in both for one in cap.beyond for word in one.words]
    return terms_problem("The words of caps", [*words, *(word for cap in both for word in cap.allowed)])
