"""How long a text, a list and a number from outside may be: every field of every model has a bound.

The bounds are no part of the models, because what was stored before there were any must still load. `bounded` makes of
a model a second reader for what comes in from outside, with a bound in each field that has none of its own: a new field
has one from its first day.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import PydanticCustomError, SchemaValidator

from fabula.story.sizes import json_size
from fabula.story.values import JSON_REF, Json

LONGEST_ID: Final = 256
LONGEST_NAME: Final = 1_000
LONGEST_ADDRESS: Final = 4_000
LONGEST_MESSAGE: Final = 20_000
LONGEST_TEXT: Final = 100_000
LONGEST_SOURCE: Final = 4_000_000
LARGEST_VALUE: Final = 100_000
LARGEST_NUMBER: Final = 2**53 - 1
"""The largest whole number that every client can read."""
MOST_ITEMS: Final = 10_000
MOST_FIELDS: Final = 1_000
_ITEMS: Final[Mapping[str, int]] = {"fields": MOST_FIELDS, "keywords": 1_000}

_TEXTS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("display_name", "name", "title", "speaker_name", "key", "folder"), LONGEST_NAME),
    **dict.fromkeys(("tags", "keywords", "means", "fields", "model", "context_key"), LONGEST_NAME),
    **dict.fromkeys(("base_url", "api_key"), LONGEST_ADDRESS),
    **dict.fromkeys(("player_input", "player_description", "input"), LONGEST_MESSAGE),
    **dict.fromkeys(("source", "files"), LONGEST_SOURCE),
}
_NOT_SCHEMAS: Final = frozenset({"metadata", "serialization", "config", "cls", "default", "expected"})


@cache
def bounded(model: type[BaseModel]) -> SchemaValidator:
    """The reader of a model for what comes from outside."""
    # Without `_use_prebuilt` the fields of other models are read as written here, not by those models' own readers.
    return SchemaValidator(bounded_schema(model), _use_prebuilt=False)


def bounded_schema(model: type[BaseModel]) -> Any:
    """The model's own schema, with a bound in each text, list, object and whole number that has none."""
    # Until a model is used there is only a stand-in of its schema, which has no parts to bound.
    model.model_rebuild()
    return _bounded(model.__pydantic_core_schema__, "")


def text_bound(field: str) -> int:
    """The most letters of a text in a field of this name."""
    if field in ("id", "cursor", "around") or field.endswith(("_id", "_ids", "_id_seed")):
        return LONGEST_ID
    return _TEXTS.get(field, LONGEST_TEXT)


def _bounded(node: Any, field: str) -> Any:
    if isinstance(node, (list, tuple)):
        return [_bounded(part, field) for part in node]
    if not isinstance(node, dict):
        return node
    if node.get("ref") == JSON_REF:
        return {**_checked_value, "ref": node["ref"]}
    parts = {name: part if name in _NOT_SCHEMAS else _part(name, part, field) for name, part in node.items()}
    return {**_bounds(node.get("type"), field), **parts}


def _part(name: str, part: Any, field: str) -> Any:
    if name == "fields" and isinstance(part, dict):
        return {own: _bounded(schema, own) for own, schema in part.items()}
    return _bounded(part, "key" if name == "keys_schema" else field)


def _bounds(kind: object, field: str) -> dict[str, int | bool]:
    match kind:
        case "str":
            return {"max_length": text_bound(field)}
        case "int":
            return {"ge": -LARGEST_NUMBER, "le": LARGEST_NUMBER}
        case "list" | "dict":
            # Of the items that do not fit the first is told: errors of all would take longer than reading them.
            return {"max_length": _ITEMS.get(field, MOST_ITEMS), "fail_fast": True}
        case _:
            return {}


def _check_value(value: Json) -> Json:
    if json_size(value) > LARGEST_VALUE:
        raise PydanticCustomError("value_too_large", f"A value may have {LARGEST_VALUE} letters as JSON")
    return value


_checked_value: Final[dict[str, Any]] = {
    "type": "function-after",
    "function": {"type": "no-info", "function": _check_value},
    "schema": {"type": "any"},
}
