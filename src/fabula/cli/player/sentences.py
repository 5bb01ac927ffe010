"""Sentences of the house as they read in a terminal; pure."""

from __future__ import annotations

import re

from fabula.story.values import Json

_METHODS = re.compile(r"session\.(backtrack|branches)\b")


def for_terminal(message: str) -> str:
    """A message that names the commands of the terminal where it named methods of the protocol."""
    return _METHODS.sub(r"/\1", message)


def counted(number: int, noun: str) -> str:
    """A number of things: 1 turn, 2 turns."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def plain(value: Json) -> str:
    """The value of a variable, as people say it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
