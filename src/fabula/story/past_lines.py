"""How many of the lines before it a turn sets out with: a player may write lines of 20,000 letters, and have many plays
go on at once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

PAST_BYTES: Final = 2**20
"""They take so much in memory together, more than any prompt has room for."""
_OF_A_LISTENER: Final = 48
"""What the id of somebody who noticed a line takes, about."""


class PastLine(Protocol):
    """A line, as it is told or as it is stored."""

    @property
    def text(self) -> str: ...

    @property
    def heard_by(self) -> Sequence[str] | None: ...


L = TypeVar("L", bound=PastLine)


def newest_lines(past: Sequence[L]) -> Sequence[L]:
    """The last lines as far as they take `PAST_BYTES`; the very last one always."""
    left = PAST_BYTES
    for number, line in enumerate(reversed(past)):
        left -= line_bytes(line)
        if left < 0 and number:
            return past[len(past) - number :]
    return past


def line_bytes(line: PastLine) -> int:
    """What a line takes in memory, about. One letter beyond the basic plane makes all letters of its text four times as
    large."""
    return sys.getsizeof(line.text) + _OF_A_LISTENER * len(line.heard_by or ())
