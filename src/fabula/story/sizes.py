"""The size of JSON values, in letters, without writing them."""

from __future__ import annotations

from typing import Final

from fabula.story.values import Json, JsonObject

_OF_A_NUMBER: Final = 8


OF_A_VARIABLE: Final = 100
"""What a variable counts beside its own letters, because each is written into prompts with words around it."""


def variables_size(variables: JsonObject) -> int:
    """The size of variables, as a play counts it."""
    return json_size(variables) + OF_A_VARIABLE * len(variables)


def json_size(value: Json) -> int:
    """About the letters of a value as JSON: exact in its texts, rough in its numbers and marks.

    >>> json_size({"name": "Ada", "years": [1, 2]})
    44
    """
    size = 0
    todo: list[Json] = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            size += len(one) + 2
        elif isinstance(one, dict):
            size += 2 + sum(len(name) + 4 for name in one)
            todo.extend(one.values())
        elif isinstance(one, list):
            size += 2 + len(one)
            todo.extend(one)
        else:
            size += _OF_A_NUMBER
    return size
