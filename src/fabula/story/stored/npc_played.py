"""What a game played of an NPC's answer."""

from __future__ import annotations

from fabula.story.values import Json, JsonObject


def from_1_to_2(doc: Json) -> JsonObject:
    """The first version was a bare list, which has no place for a version."""
    return {"tags": doc}
