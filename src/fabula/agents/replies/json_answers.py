"""JSON in a model's reply: found among fences and remarks, decoded, and checked against a shape."""

from __future__ import annotations

import json
import re
from typing import Final, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from fabula.formats.json_bounds import bounds_problem, value_count
from fabula.ports.models import MOST_REPLY_VALUES
from fabula.story.misfits import misfits, place_of
from fabula.story.values import Json

Shape = TypeVar("Shape")

_FENCE = "```"
_LANGUAGE = re.compile(r"\A[A-Za-z]*+")
_DECODER = json.JSONDecoder()
_MOST_STARTS = 50
_MOST_READINGS = 2
"""How often all letters of a reply are read in looking for JSON: one that never ends is read to its end each time."""
_LONGEST_MESSAGE = 300
"""A message may name what a model wrote in place of a kind."""
_NO_JSON: Final = "the reply holds no JSON object that can be read"
_TOO_MANY: Final = f"the reply holds more than {MOST_REPLY_VALUES} values"


def json_in(text: str) -> tuple[Json, list[str]]:
    """The JSON object in a reply; remarks around it and markdown fences do no harm."""
    for candidate in (text, *_fenced(text), _embedded(text)):
        value, problem = _whole(candidate.strip())
        if problem in (None, _TOO_MANY):
            return value, [problem] if problem else []
    return None, [_NO_JSON]


def _fenced(text: str) -> list[str]:
    """What stands between two fences, without the name of the language. Split, because a pattern would be quadratic."""
    parts = text.split(_FENCE)
    closed = parts[1::2] if len(parts) % 2 else parts[1:-1:2]
    return [_LANGUAGE.sub("", part) for part in closed]


def _whole(text: str) -> tuple[Json, str | None]:
    """The value of a text that is JSON and nothing else, or why there is none."""
    if not text.startswith(("{", "[")):
        return None, _NO_JSON
    body = text.encode("utf-8", "replace")
    if value_count(body) > MOST_REPLY_VALUES:
        return None, _TOO_MANY
    try:
        # Read as requests are: what cannot be kept, like numbers of any length, is no value of a proposal.
        return (None, _NO_JSON) if bounds_problem(body) else (orjson.loads(body), None)
    except ValueError:
        return None, _NO_JSON


def _embedded(text: str) -> str:
    """The longest JSON object that begins somewhere in the text."""
    best, left = "", _MOST_READINGS * len(text)
    place = text.find("{")
    for _ in range(_MOST_STARTS):
        if place < 0 or left < 0:
            break
        read = end = place + 1
        try:
            _, end = _DECODER.raw_decode(text, place)
        except json.JSONDecodeError as error:
            read = error.pos
        except (ValueError, RecursionError):
            read = len(text)
        else:
            best, read = max(best, text[place:end], key=len), end
        left -= read - place
        place = text.find("{", end)
    return best


def fitted(value: Json, shape: TypeAdapter[Shape]) -> tuple[Shape, list[str]] | tuple[None, list[str]]:
    """The value as the shape, and where it does not fit."""
    try:
        return shape.validate_python(value), []
    except ValidationError as error:
        return None, [_sentence(place_of(one) or "the reply", one["type"], one["msg"]) for one in misfits(error)[:8]]
    except RecursionError:
        return None, ["the reply is nested too deeply"]


def _sentence(where: str, kind: str, message: str) -> str:
    match kind:
        case "extra_forbidden":
            return f"'{where}' is not allowed here"
        case "missing":
            return f"'{where}' is missing"
        case _:
            return f"'{where}': {message[:1].lower()}{message[1:_LONGEST_MESSAGE]}"
