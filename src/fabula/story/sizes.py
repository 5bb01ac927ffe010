"""The size of JSON values: in letters, and in the memory that they take."""

from __future__ import annotations

import json
from typing import Final

import orjson

from fabula.story.values import Json, JsonObject

_OF_A_NUMBER: Final = 16
_OF_MARKS: Final = 16
_OF_BRACKETS: Final = 40
"""What a text or a name, and a list or an object count beside what is in them: each takes memory of its own, which is
many times its letters where they are short."""

_OF_A_LIST: Final = 72
_OF_AN_OBJECT: Final = 80
_OF_A_TEXT: Final = 50
_OF_A_NAME: Final = 60
_OF_A_PLACE: Final = 40
_OF_A_WIDE_LETTER: Final = 4
"""What these take in memory, about, in bytes; a place is that of one value among others, with a number in it."""

OF_A_VARIABLE: Final = 100
"""What a variable counts beside its own letters, because each is written into prompts with words around it."""


def variables_size(variables: JsonObject) -> int:
    """The size of variables, as a play counts it."""
    return json_size(variables) + OF_A_VARIABLE * len(variables)


def json_size(value: Json) -> int:
    """About the letters of a value as JSON, and something for each text, name, list and object.

    >>> json_size({"name": "Ada", "years": [1, 2]})
    174
    """
    size = 0
    todo: list[Json] = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            size += len(one) + _OF_MARKS
        elif isinstance(one, dict):
            size += _OF_BRACKETS + sum(len(name) + _OF_MARKS for name in one)
            todo.extend(one.values())
        elif isinstance(one, list):
            size += _OF_BRACKETS + len(one)
            todo.extend(one)
        else:
            size += _OF_A_NUMBER
    return size


def memory_size(value: Json) -> int:
    """About the bytes that a value takes in memory, rather too many than too few.

    What is written down is counted, because that takes a hundredth of the time of going through the value.
    """
    written = written_json(value)
    return (
        len(written) * (1 if written.isascii() else _OF_A_WIDE_LETTER)
        + _OF_A_LIST * written.count(b"[")
        + _OF_AN_OBJECT * written.count(b"{")
        + _OF_A_TEXT * written.count(b'"') // 2
        + _OF_A_NAME * written.count(b":")
        + _OF_A_PLACE * written.count(b",")
    )


def text_weight(text: str) -> int:
    """About the bytes that a text takes in memory; one wide letter makes all of them wide."""
    return len(text) * (1 if text.isascii() else _OF_A_WIDE_LETTER)


def written_json(value: Json) -> bytes:
    """A value as JSON, for its length: half surrogates in it are no error."""
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError):
        # Half surrogates, which no store keeps, are no UTF-8.
        return json.dumps(value).encode()
