"""Resources of every kind."""

from __future__ import annotations

from fabula.story.values import Json, JsonObject


def from_1_to_2(doc: Json) -> JsonObject:
    """The first version counted itself in a field of its own, which `v` replaces."""
    assert isinstance(doc, dict)
    return {name: value for name, value in doc.items() if name != "stored_version"}
