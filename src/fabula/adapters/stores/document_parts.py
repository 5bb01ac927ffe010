"""Finds one part of a stored document in its text: an object in a list of it, by the name that one of its fields holds.

A lorebook may have ten thousand entries. To change one of them, nothing else is decoded and written again; all that
grows with the book is a search over its text, which the interpreter does in one call.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import orjson

from fabula.ports.store import PartName
from fabula.story.stored import CURRENT, Shape
from fabula.story.values import JsonObject

IN_A_PART = 3
"""How deep the fields of a part stand: in the part, in the list, in the document."""
MOST_TRIES = 64
_decoder = json.JSONDecoder()


@dataclass(frozen=True, kw_only=True)
class FoundPart:
    """A part, and where it stands in the text."""

    start: int
    end: int
    part: JsonObject

    def replaced(self, text: str, part: JsonObject) -> str:
        """The text with another part in its place."""
        return f"{text[: self.start]}{orjson.dumps(part).decode()}{text[self.end :]}"


def find_part(shape: Shape, text: str, wanted: PartName) -> FoundPart | None:
    """The part; None where there is none, or where only a reader of the whole document can tell."""
    if not text.startswith(f'{{"v":{CURRENT[shape]},'):
        return None
    # In a text every quote is escaped, so this is a field wherever it stands, but perhaps one of something else.
    field = orjson.dumps({wanted.key: wanted.name}).decode()[1:-1]
    place = text.find(field)
    for _ in range(MOST_TRIES):
        if place < 0:
            return None
        if _depth(text[:place]) == IN_A_PART:
            return _around(text, place, wanted)
        place = text.find(field, place + len(field))
    return None


def _around(text: str, place: int, wanted: PartName) -> FoundPart | None:
    """The object that a field stands in: the first one before it that reaches beyond it."""
    start = place
    for _ in range(MOST_TRIES):
        start = text.rfind("{", 0, start)
        if start < 0:
            return None
        try:
            part, end = _decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue  # A bracket within a text.
        if end > place:
            # What stands behind a colon is no member of a list.
            is_it = isinstance(part, dict) and part.get(wanted.key) == wanted.name and text[start - 1] in "[,"
            return FoundPart(start=start, end=end, part=part) if is_it else None
    return None


def _depth(before: str) -> int:
    """How many lists and objects are open behind this much of a JSON text."""
    if "\\" in before:
        before = before.replace("\\\\", "").replace('\\"', "")
    outside = "".join(before.split('"')[::2])
    return outside.count("{") + outside.count("[") - outside.count("}") - outside.count("]")
