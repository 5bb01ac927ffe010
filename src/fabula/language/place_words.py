"""What a sentence tells of a place: who may go there, what is the custom, or only what is said; in every language that
stems are known of.

The words stand in `texts/place_words.txt`, a line for each language and kind: `_` stands for a space, `*` for the rest
of a word or for a whole one. English has patterns of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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


def _written(word: str) -> str:
    return re.escape(word).replace("_", " ").replace(r"\*", r"\w*")


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


_PATTERNS: Final[Mapping[tuple[str, str], re.Pattern[str]]] = {
    **{(ENGLISH, kind): _pattern(words) for kind, words in _ENGLISH.items()},
    **{
        (language, kind): _pattern("|".join(map(_written, words)))
        for language, kind, *words in (line.split() for line in _LINES if line.strip())
    },
}


def tells_of(kind: PlaceWords, sentence: str, language: str = ENGLISH) -> bool:
    """Whether a sentence in a language has words of a kind."""
    found = _PATTERNS.get((language, kind)) or _PATTERNS[ENGLISH, kind]
    return found.search(sentence[:LONGEST_SENTENCE]) is not None
