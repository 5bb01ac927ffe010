"""From JSON to a typed command: every field is bounded, and each that does not fit is named."""

from __future__ import annotations

from typing import Final

import orjson
from pydantic import ValidationError

from fabula.actions.views import Command
from fabula.ports.errors import InvalidParams, InvalidRequest
from fabula.story.field_bounds import bounded
from fabula.story.values import Json, JsonObject

OUT_OF_BOUNDS: Final = frozenset(
    {
        "string_too_short",
        "string_too_long",
        "string_pattern_mismatch",
        "greater_than_equal",
        "less_than_equal",
        "too_long",
        "value_too_large",
    }
)


def decode(command: type[Command], params: JsonObject) -> Command:
    """The typed command; every field that does not fit is named in `data.errors`."""
    try:
        decoded: Command = bounded(command).validate_json(orjson.dumps(params))
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        errors: list[Json] = [{"field": _field(one["loc"]), "message": one["msg"]} for one in found[:50]]
        first = f"{_field(found[0]['loc'])}: {found[0]['msg']}"
        # An empty name or a number out of bounds decodes well; it is refused for what it says, not for its shape.
        refusal = InvalidRequest if all(one["type"] in OUT_OF_BOUNDS for one in found) else InvalidParams
        raise refusal(f"The parameters do not fit: {first}.", errors=errors) from None
    return decoded


def _field(place: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:100] for part in place) or "params"
