"""What a turn or other work failed with."""

from __future__ import annotations

from typing import Final

from fabula.story.values import Json, JsonObject


def from_1_to_2(doc: Json) -> JsonObject:
    """The first version was `{code, message}`, with a code of JSON-RPC; since then an error has a name."""
    assert isinstance(doc, dict)
    code = doc.get("code")
    name = _NAMES.get(code, "backend") if isinstance(code, int) else "backend"
    return {"name": name, **{key: value for key, value in doc.items() if key != "code"}}


_NAMES: Final = {
    -32603: "internal",
    -32600: "invalid_request",
    -32602: "invalid_params",
    40404: "not_found",
    40909: "conflict",
    50001: "backend",
    50002: "stream",
}
"""The names of the codes that version 1 stored. Nothing else uses these numbers here."""
