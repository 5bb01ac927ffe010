"""JSON in a model's reply: found among fences and remarks, decoded, and checked against a shape."""

from __future__ import annotations

import json
import re
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from fabula.story.values import Json

Shape = TypeVar("Shape")

_FENCE = "```"
_LANGUAGE = re.compile(r"\A[A-Za-z]*+")
_DECODER = json.JSONDecoder()
_MOST_STARTS = 50


def json_in(text: str) -> tuple[Json, list[str]]:
    """The JSON object in a reply; remarks around it and markdown fences do no harm."""
    for candidate in (text, *_fenced(text)):
        value, found = _whole(candidate.strip())
        if found:
            return value, []
    value, found = _embedded(text)
    return (value, []) if found else (None, ["the reply holds no JSON object that can be read"])


def _fenced(text: str) -> list[str]:
    """What stands between two fences, without the name of the language. Split, because a pattern would be quadratic."""
    parts = text.split(_FENCE)
    closed = parts[1::2] if len(parts) % 2 else parts[1:-1:2]
    return [_LANGUAGE.sub("", part) for part in closed]


def _whole(text: str) -> tuple[Json, bool]:
    if not text.startswith(("{", "[")):
        return None, False
    try:
        value: Json = from_json(text, allow_inf_nan=False)
    except ValueError:
        return None, False
    return value, True


def _embedded(text: str) -> tuple[Json, bool]:
    """The longest JSON object that begins somewhere in the text."""
    best = ""
    place = text.find("{")
    for _ in range(_MOST_STARTS):
        if place < 0:
            break
        try:
            _, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            best = max(best, text[place:end], key=len)
        place = text.find("{", end)
    return _whole(best)


def fitted(value: Json, shape: TypeAdapter[Shape]) -> tuple[Shape, list[str]] | tuple[None, list[str]]:
    """The value as the shape, and where it does not fit."""
    try:
        return shape.validate_python(value), []
    except ValidationError as error:
        return None, [_sentence(one["loc"], one["type"], one["msg"]) for one in error.errors()[:8]]
    except RecursionError:
        return None, ["the reply is nested too deeply"]


def _sentence(place: tuple[int | str, ...], kind: str, message: str) -> str:
    where = ".".join(str(part) for part in place) or "the reply"
    match kind:
        case "extra_forbidden":
            return f"'{where}' is not allowed here"
        case "missing":
            return f"'{where}' is missing"
        case _:
            return f"'{where}': {message[:1].lower()}{message[1:]}"
