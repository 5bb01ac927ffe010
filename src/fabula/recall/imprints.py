"""The imprint of a memory: all that recall compares, taken from its text once, when it is written.

Its words are the telling ones as they were said. Its signs tell what sort of thing is said (a question, something about
oneself, a time, a number): a question about when is answered by something that has a time in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal, get_args

from fabula.language.stemming import ENGLISH, content_words, language_of
from fabula.language.words import word_set, words_of
from fabula.recall.spoken_dates import dates_in

Sign = Literal["question", "oneself", "time", "number", "duration", "frequency", "place", "name"]
SIGNS: tuple[Sign, ...] = get_args(Sign)
MOST_WORDS = 400
MOST_DATES = 24


@dataclass(frozen=True, kw_only=True)
class Imprint:
    """What a memory is found by. `dates` are those that it speaks of; see `fabula.recall.spoken_dates`."""

    words: tuple[str, ...]
    language: str = ENGLISH
    signs: frozenset[Sign] = frozenset()
    dates: tuple[str, ...] = ()


def imprint_of(text: str, *, names: Iterable[str] = (), day: date | None = None) -> Imprint:
    """Takes the imprint of a text in which these people may be named, said on this day of the story."""
    language = language_of(text)
    return Imprint(
        words=tuple(content_words(text, language)[:MOST_WORDS]),
        language=language,
        signs=signs_of(text, names),
        dates=tuple(dates_in(text, day)[:MOST_DATES]),
    )


def signs_of(text: str, names: Iterable[str] = ()) -> frozenset[Sign]:
    """What sort of thing a text says. `names` are no telling names: everyone in the scene may say them."""
    words = name_words(names)
    others = _any_of(words).sub("x", text) if words else text
    # A pattern is tried only where one of its words stands. Other letters may be written in ways that we do not list.
    said = frozenset(_TOKEN.findall(text.lower())) if text.isascii() else None
    return frozenset(
        sign
        for sign, pattern in _SIGNS.items()
        if (said is None or sign not in _NEEDED or not _NEEDED[sign].isdisjoint(said) or _has_number(sign, text))
        and pattern.search(others if sign == "name" else text)
    )


@lru_cache(maxsize=256)
def _any_of(words: frozenset[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)


def _has_number(sign: Sign, text: str) -> bool:
    """Years are times, and figures are numbers."""
    return sign in ("time", "number") and _FIGURE.search(text) is not None


def name_words(names: Iterable[str]) -> frozenset[str]:
    """The words of which people's names consist, in lower case."""
    return frozenset(word.removesuffix("'s") for name in names for word in words_of(name) if len(word) > 1)


_COUNT = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|few|couple of|couple|several|many|half)"
)
_SIGNS: dict[Sign, re.Pattern[str]] = {
    "question": re.compile(r"[?？؟]"),
    "oneself": re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|we|our|we're|we've|me|ich|mein|wir|je|mon|nous|yo|mi)\b", re.I),
    "time": re.compile(
        r"\b(?:yesterday|today|tonight|tomorrow|last|ago|next|weeks?|weekend|months?|years?|days?|morning|evening|night"
        r"|january|february|march|april|june|july|august|september|october|november|december|monday|tuesday|wednesday"
        r"|thursday|friday|saturday|sunday|recently|since|summer|winter|spring|fall|autumn|birthday|soon|earlier"
        r"|midnight|noon|dawn|dusk|(?:19|20)\d\d)\b",
        re.I,
    ),
    "number": re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|once"
        r"|twice|couple|several|few|first|second|third)\b", re.I),
    "duration": re.compile(
        rf"\b(?:{_COUNT}|an?|half an?)[ -](?:more |whole |full )?(?:second|minute|hour|day|week|weekend|month|year"
        r"|decade)s?\b|\bsince\b|\bfor (?:years|months|weeks|days|ages|a while|so long)\b",
        re.I,
    ),
    "frequency": re.compile(
        r"\b(?:times?|once|twice) (?:a|an|per|every)\b|\b(?:every|daily|weekly|monthly|yearly|always|usually|often"
        r"|regularly|each)\b",
        re.I,
    ),
    "place": re.compile(
        r"\b(?:in|at|to|from|near|visit\w*|around|through)\s+(?:the\s+|my\s+|a\s+)?[A-Z][a-z]+"
        r"|\b(?:park|beach|home|house|city|town|village|country|mountains?|store|shop|tavern|inn|restaurant|school"
        r"|museum|lake|river|forest|cafe|gym|studio|castle|harbou?r|church|street|market|cellar|tower)\b"
    ),
    "name": re.compile(r"[\"“][^\"”]{2,60}[\"”]|(?<=[a-z,] )[A-Z][a-z]{2,}"),
}  # fmt: skip
_TOKEN, _FIGURE = re.compile(r"\w+"), re.compile(r"\d")
_UNITS = "second minute hour day week weekend month year decade"
_NEEDED: dict[Sign, frozenset[str]] = {
    "oneself": word_set("i my we our me ich mein wir je mon nous yo mi"),
    "time": word_set(
        "yesterday today tonight tomorrow last ago next week weeks weekend month months year years day days morning"
        " evening night january february march april june july august september october november december monday"
        " tuesday wednesday thursday friday saturday sunday recently since summer winter spring fall autumn birthday"
        " soon earlier midnight noon dawn dusk"
    ),
    "number": word_set(
        "one two three four five six seven eight nine ten eleven twelve dozen hundred once twice couple several few"
        " first second third"
    ),
    "duration": word_set(f"{_UNITS} since for") | {f"{unit}s" for unit in _UNITS.split()},
    "frequency": word_set(
        "time times once twice every daily weekly monthly yearly always usually often regularly each"
    ),
}
"""Words one of which stands in every plain text that has the sign."""
