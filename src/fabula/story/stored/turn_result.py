"""What a completed turn answered."""

from __future__ import annotations

from fabula.story.values import Json, JsonObject


def from_1_to_2(doc: Json) -> JsonObject:
    """Turns of Ink plays had no list of beats, which clients look for in every turn."""
    assert isinstance(doc, dict)
    return {"completed_beats": [], **doc}
