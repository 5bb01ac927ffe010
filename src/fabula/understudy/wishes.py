"""Wishes that can be followed by rule: a shorter telling, a longer one, one with less description, other words.

What a wish asks for is read from its words; the first of these that fits counts:

1. what there was too much or too little of ("too long", "not so short");
2. less description, which leaves what is said as it is;
3. fewer words, and a quicker pace; more words, and a slower one;
4. other words, which every telling of a turn has anyway.

Any other wish only a model can follow: then `reading_of` is None, and whoever plays the turn says so.
"""

from __future__ import annotations

import re
from typing import Literal

from fabula.language.english import sentences
from fabula.story.values import JsonObject

WishReading = Literal["short", "long", "plain", "other"]
"""Fewer words, more words, less description, other words."""

_LESS = r"(?:too|not so|less|zu|nicht so|weniger)"
_PATTERNS: tuple[tuple[WishReading, str], ...] = (
    ("long", rf"\b{_LESS} (?:short|brief|terse|fast|quick|hasty|kurz|knapp|schnell)\b|太短|太快"),
    (
        "short",
        rf"\b{_LESS} (?:long|wordy|slow|lang|langsam|much text|many words|viel text|viele worte)\b|太长|太慢",
    ),
    (
        "plain",
        r"\b(?:less|fewer|no|no more|without(?: the)?|skip the|too (?:much|many)|not so (?:much|many))"
        r" (?:descriptions?|details?|scenery|atmosphere|colour|color)\b"
        r"|\b(?:weniger|keine|ohne|zu viele?) (?:beschreibung(?:en)?|details?|einzelheiten)\b|少.?描写|少.?描述",
    ),
    (
        "long",
        r"\b(?:longer|more (?:descriptions?|details?|words|text|atmosphere|scenery|colour|color)"
        r"|in (?:more )?detail|more detailed|describe more|slower|slow down|take your time"
        r"|länger|ausführlich(?:er)?|mehr (?:beschreibung|details?|einzelheiten|text)|langsamer)\b"
        r"|^more(?:,? please)?[.!]*$|更长|长一点|详细|慢一点",
    ),
    (
        "short",
        r"\b(?:short(?:er)?|brief(?:er|ly)?|concise(?:ly)?|terse(?:r)?|fewer words|less (?:text|words)|not so much"
        r"|cut it down|faster|quicker|speed (?:it |things )?up|get (?:on with it|to the point)"
        r"|kurz|kürzer|knapp(?:er)?|weniger (?:text|worte)|schneller)\b|短|简洁|簡潔|快一点",
    ),
    (
        "other",
        # "Let her refuse again" is a wish for what happens, not for other words.
        r"\b(?:differently|(?:in )?other words|(?:tell|say|put) it (?:otherwise|again|another way)|something else"
        r"|anders|andere worte|erzähl es noch ?(?:ein)?mal)\b|^(?:once (?:again|more)|again)\b|换一?种|换个说法|再讲一",
    ),
)
_READINGS = tuple((reading, re.compile(pattern, re.IGNORECASE)) for reading, pattern in _PATTERNS)


def reading_of(wish: str | None) -> WishReading | None:
    """What a wish asks for, if it can be followed by rule."""
    return next((reading for reading, pattern in _READINGS if wish and pattern.search(wish)), None)


def wants_short(wish: str | None) -> bool:
    """Whether a player wishes for fewer words."""
    return reading_of(wish) == "short"


def wants_long(wish: str | None) -> bool:
    """Whether a player wishes for more words."""
    return reading_of(wish) == "long"


def as_wished(text: str, wish: str | None) -> str:
    """A telling in its first sentence, for a player who wishes it shorter, or with less description."""
    told = sentences(text) if reading_of(wish) in ("short", "plain") else []
    return told[0] if told else text


def parts_as_wished(parts: list[tuple[str, str]], wish: str | None) -> list[tuple[str, str]]:
    """What a character does and says. With less description it only says it, or else does it; a player who wishes for
    fewer words gets the first sentence of that."""
    reading = reading_of(wish)
    if reading not in ("short", "plain"):
        return parts
    spoken = [part for part in parts if part[0] == "dialogue"] or [part for part in parts if part[0] == "action"]
    told = spoken[:1] or parts
    return [(kind, as_wished(text, wish)) for kind, text in told] if reading == "short" else told


def decision_as_wished(decision: JsonObject, wish: str | None) -> JsonObject:
    """The words of a decision in a talk, as short as they are wished; what is said is no description."""
    if not wants_short(wish):
        return decision
    told = {
        name: as_wished(text, wish) for name in ("reply", "bridge_text") if isinstance(text := decision.get(name), str)
    }
    return {**decision, **told}
