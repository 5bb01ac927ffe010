"""Wishes that can be followed by rule: a shorter telling. Any other only makes the understudy choose other words."""

from __future__ import annotations

import re

from fabula.language.english import sentences
from fabula.story.values import JsonObject

_SHORT = re.compile(
    r"\b(short(er)?|brief(er|ly)?|concise(ly)?|terse(r)?|fewer words|less (text|words)|not so (long|much)|cut it down"
    r"|kurz|kürzer|knapp(er)?|weniger (text|worte))\b|短|简洁|簡潔",
    re.IGNORECASE,
)


def wants_short(wish: str | None) -> bool:
    """Whether a player wishes for fewer words."""
    return wish is not None and _SHORT.search(wish) is not None


def as_wished(text: str, wish: str | None) -> str:
    """A telling in its first sentence, for a player who wishes it shorter."""
    told = sentences(text) if wants_short(wish) else []
    return told[0] if told else text


def parts_as_wished(parts: list[tuple[str, str]], wish: str | None) -> list[tuple[str, str]]:
    """What a character does and says: for a player who wishes it shorter only what it says, or else does."""
    if not wants_short(wish):
        return parts
    spoken = [part for part in parts if part[0] == "dialogue"] or [part for part in parts if part[0] == "action"]
    return [(kind, as_wished(text, wish)) for kind, text in spoken[:1] or parts]


def decision_as_wished(decision: JsonObject, wish: str | None) -> JsonObject:
    """The words of a decision in a talk, as short as they are wished."""
    told = {
        name: as_wished(text, wish) for name in ("reply", "bridge_text") if isinstance(text := decision.get(name), str)
    }
    return {**decision, **told}
