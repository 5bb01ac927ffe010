"""One hash for one state: equal values have equal bytes, whatever their keys' order and wherever they were stored."""

from __future__ import annotations

import hashlib
import json
import re

from fabula.story.values import Json, Value

_MAY_BE_WHOLE = re.compile(r"(?:^|[:,\[])-?\d[\d.]*(?:\.0(?!\d)|e)")


def canonical(value: Json) -> bytes:
    """The one JSON text of a value: keys sorted, no spaces, whole numbers without a fraction."""
    text = _text(value)
    # Nearly no state holds a whole number with a fraction; only where there may be one is it looked for.
    return (_text(_plain(value)) if _MAY_BE_WHOLE.search(text) else text).encode("ascii")


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
    """The SHA-256 of a value's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value.as_json())).hexdigest()
