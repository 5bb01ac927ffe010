"""Reads the frames of a game: a message, or the problem with it; whatever arrives, nothing is raised."""

from __future__ import annotations

from typing import cast

import orjson
from pydantic import ValidationError

from fabula.story.game_messages import CLIENT_MESSAGES, ClientMessage, ErrorCode, Problem
from fabula.story.values import Json, JsonObject

LARGEST_FRAME = 256 * 1024
DEEPEST_FRAME = 64


def read_frame(raw: str | bytes) -> ClientMessage | Problem:
    """What a frame says. Its fields may stand beside `type` or inside `payload`."""
    data = raw.encode("utf-8", "replace") if isinstance(raw, str) else raw
    if len(data) > LARGEST_FRAME:
        return Problem(code="too_large", message=f"A frame may have {LARGEST_FRAME // 1024} KiB. Send less at once.")
    try:
        frame: Json = orjson.loads(data)
    except orjson.JSONDecodeError:
        return Problem(code="invalid_json", message="This frame is no JSON. Send one JSON object as text.")
    if not isinstance(frame, dict):
        return Problem(code="invalid_json", message="A frame must be a JSON object with a field `type`.")
    if _deeper_than(frame, DEEPEST_FRAME):
        return Problem(code="too_large", message=f"A frame may be {DEEPEST_FRAME} levels deep. Send it flatter.")
    return _read(frame)


def _deeper_than(value: Json, levels: int) -> bool:
    """Whether lists and objects stand deeper in each other; what is read here is written again elsewhere."""
    layer: list[Json] = [value]
    for _ in range(levels):
        layer = [inner for outer in layer if isinstance(outer, (dict, list)) for inner in _inside(outer)]
        if not layer:
            return False
    return True


def _inside(outer: JsonObject | list[Json]) -> list[Json]:
    return [*outer.values()] if isinstance(outer, dict) else outer


def _read(frame: JsonObject) -> ClientMessage | Problem:
    name = frame.get("type")
    if name is None:
        return _problem("missing_field", "The field `type` is missing.", frame, field="type")
    kind = CLIENT_MESSAGES.get(name) if isinstance(name, str) else None
    if kind is None:
        known = ", ".join(CLIENT_MESSAGES)
        return _problem("unknown_type", f"There is no message '{str(name)[:60]}'. Send one of {known}.", frame)
    fields = _flat(frame)
    try:
        return cast(ClientMessage, kind.model_validate(fields))
    except ValidationError as error:
        return _explained(error, fields)


def _flat(frame: JsonObject) -> JsonObject:
    inner = frame.get("payload")
    fields = {**inner, **frame} if isinstance(inner, dict) else dict(frame)
    if "continue" in fields:
        fields["continue_"] = fields.pop("continue")
    return fields


def _explained(error: ValidationError, frame: JsonObject) -> Problem:
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or "type"
    if first["type"] == "missing":
        return _problem("missing_field", f"The field `{field}` is missing.", frame, field=field)
    sentence = f"The field `{field}` cannot be used: {first['msg']}."
    return _problem("missing_field", sentence, frame, field=field)


def _problem(code: ErrorCode, message: str, frame: JsonObject, **details: Json) -> Problem:
    def named(key: str) -> str | None:
        value = frame.get(key)
        return value[:200] if isinstance(value, str) and value else None

    return Problem(
        code=code,
        message=message,
        agent_id=named("agent_id"),
        turn_id=named("turn_id"),
        request_id=named("request_id"),
        details=details or None,
    )
