"""Keeps what is no prose out of what players read: a model that was asked for words may answer in JSON.

Prose passes at once. A text that begins like JSON, or with a fence, is held until its end: then its own words are taken
out of it (the texts of its fields), and if it has none, nothing is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_OPENING = ("{", "[", "`")
_TEXTS = ("text", "narration", "dialogue", "content", "story", "answer", "reply", "response", "scene", "speech")
_FENCE = re.compile(r"^```[a-zA-Z]*\n?|\n?```$")
_BRACES = re.compile(r"[\s{}\[\]\"'`,:]*")


class PlainWords:
    """Passes a text on as it comes, unless it looks like JSON."""

    def __init__(self) -> None:
        self._held = ""
        self._is_prose = False

    def take(self, text: str) -> str:
        """What may be told now that this piece has come."""
        if self._is_prose:
            return text
        self._held += text
        begun = self._held.lstrip()
        if not begun or begun.startswith(_OPENING):
            return ""
        self._is_prose = True
        told, self._held = self._held, ""
        return told

    def close(self) -> str:
        """What may be told at the end of the text."""
        held, self._held = self._held, ""
        return "" if self._is_prose else words_in(held)


def words_in(text: str) -> str:
    """The prose in a text that may be JSON; empty when there is none."""
    plain = _FENCE.sub("", text.strip()).strip()
    if _BRACES.fullmatch(plain):
        return ""
    try:
        value = json.loads(plain)
    except (ValueError, RecursionError):
        # Something in brackets that is no JSON, like a stage direction, is told; half a JSON object is not.
        return "" if re.match(r'[\[{]\s*"', plain) else text
    return "\n\n".join(dict.fromkeys(_prose(value)))


def _prose(value: object, key: str = "text") -> Iterator[str]:
    match value:
        case str() if key in _TEXTS and " " in value.strip():
            yield value.strip()
        case list():
            for part in value[:32]:
                yield from _prose(part, key)
        case dict():
            for name, part in list(value.items())[:32]:
                yield from _prose(part, str(name).lower())
