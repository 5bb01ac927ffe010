"""One hash for one state: equal values have equal bytes, whatever their keys' order and wherever they were stored."""

from __future__ import annotations

import hashlib
import json
import re

from fabula.story.values import Json, JsonObject, Value

_FRACTION = re.compile(r"\.0(?!\d)")
_POWER = re.compile(r"e[+-]\d")


def canonical(value: Json) -> bytes:
    """The one JSON text of a value: keys sorted, no spaces, whole numbers without a fraction."""
    text = _text(value)
    # Few states hold a whole number with a fraction (1.0, 1e+16); only where there may be one is it looked for.
    return (_text(_plain(value)) if _FRACTION.search(text) or _POWER.search(text) else text).encode("ascii")


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def state_hash(value: Value) -> str:
    """The hash of a value as it is stored."""
    return stored_state_hash(value.as_json())


def stored_state_hash(state: JsonObject) -> str:
    """The hash of a state in its stored form. Which turns its followers begin with is no part of what is true in it:
    two plays that went the same way have the same hash."""
    if state.keys().isdisjoint(_MARKS):
        return json_hash(state)
    return json_hash({name: value for name, value in state.items() if name not in _MARKS})


_MARKS = frozenset(["world_mark", "canon_mark"])


def json_hash(value: Json) -> str:
    """The SHA-256 of a value's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()
