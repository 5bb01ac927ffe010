"""From JSON to a typed command: every field is bounded, and those that do not fit are named."""

from __future__ import annotations

from typing import Final

import orjson
from pydantic import ValidationError

from fabula.actions.views import Command
from fabula.ports.errors import InvalidParams, InvalidRequest
from fabula.story.field_bounds import bounded
from fabula.story.misfits import misfits, place_of, sentence_of
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
    """The typed command; the fields that do not fit are named in `data.errors`, unless they are very many."""
    try:
        decoded: Command = bounded(command).validate_json(orjson.dumps(params))
    except ValidationError as error:
        found = misfits(error)
        errors: list[Json] = [{"field": place_of(one) or "params", "message": one["msg"]} for one in found[:50]]
        # An empty name or a number out of bounds decodes well; it is refused for what it says, not for its shape.
        refusal = InvalidRequest if all(one["type"] in OUT_OF_BOUNDS for one in found) else InvalidParams
        raise refusal(f"The parameters do not fit: {sentence_of(found[0])}.", errors=errors) from None
    return decoded
