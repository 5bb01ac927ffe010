"""What a sentence tells of a place: who may go there, what is the custom, or only what is said; in every language that
stems are known of.

The words stand in `texts/place_words.txt`, a line for each language and kind: `_` stands for a space, `*` for the rest
of a word or for a whole one. English has patterns of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from fabula.language.stemming import ENGLISH

PlaceWords = Literal["access", "custom", "talk"]
LONGEST_SENTENCE: Final = 2_000

_LINES: Final = (files("fabula.language") / "texts" / "place_words.txt").read_text("utf-8").splitlines()
_ENGLISH: Final[dict[str, str]] = {
    "access": (
        r"keys?|lock(?:s|ed)?|closed|shut|barred|guard(?:s|ed)?|forbidden|toll|gates?|admit(?:s|ted)?|let in|"
        r"may (?:not )?(?:enter|pass|go)|nobody goes|no one goes|only \w+ may|open to|opens? (?:at|on|from)"
    ),
    "custom": (
        r"always|never|every (?:year|day|week|night|morning|evening|spring|autumn)|once a (?:year|week|day)|whoever|"
        r"customs?|tradition|by law|feast|nobody|no one|on \w+day|is rung for|must|it is said|they say"
    ),
    "talk": (r"they say|people say|it is said|is said to|rumou?rs?|whisper(?:s|ed)?|gossip|nobody knows|no one knows"),
}


def tells_of(kind: PlaceWords, sentence: str, language: str = ENGLISH) -> bool:
    """Whether a sentence in a language has words of a kind."""
    return _pattern(language, kind).search(sentence[:LONGEST_SENTENCE]) is not None


@cache
def _pattern(language: str, kind: PlaceWords) -> re.Pattern[str]:
    # A house speaks one language or two: patterns of the others are never made.
    words = _words().get((language, kind), _ENGLISH[kind])
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


@cache
def _words() -> Mapping[tuple[str, str], str]:
    lines = (line.split() for line in _LINES if line.strip())
    return {(language, kind): "|".join(map(_written, words)) for language, kind, *words in lines}


def _written(word: str) -> str:
    return re.escape(word).replace("_", " ").replace(r"\*", r"\w*")
