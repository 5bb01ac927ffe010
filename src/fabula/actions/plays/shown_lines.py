"""Lines of a transcript, as far as they are read at once: whoever writes long lines can write very many of them."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fabula.actions.repositories import checked_name
from fabula.ports.errors import NotFound
from fabula.ports.plays import SpokenMessage
from fabula.ports.store import Unit

HEAVIEST = 8 * 2**20
"""So many bytes of lines are read at once; the first one is always given."""
PORTION = 50
LARGEST_PORTION = 1000
"""Short lines may be followed by the longest: so many of these are read beyond the bound at the most, 80 MB."""


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Lines in their order, and whether there are more beyond the side at which they were cut."""

    messages: list[SpokenMessage]
    more: bool


async def lines_up_to(unit: Unit, turn_id: str, before: str | None = None, limit: int | None = None) -> Lines:
    """The last lines before a message, or of the whole line of turns."""

    async def read(message_id: str | None, wanted: int) -> list[SpokenMessage]:
        return (await _lines_before(unit, turn_id, message_id, wanted))[::-1]

    found = await _as_many_as_fit(read, before, limit)
    return Lines(messages=found.messages[::-1], more=found.more)


async def last_lines_told(unit: Unit, turn_id: str, most: int) -> list[SpokenMessage]:
    """The end of a transcript for those who look through it: so many lines, fewer of very long ones."""
    return (await lines_up_to(unit, turn_id, limit=most)).messages


async def lines_from(unit: Unit, turn_id: str, after: str | None = None, limit: int | None = None) -> Lines:
    """The first lines after a message, or of the whole line of turns."""

    async def read(message_id: str | None, wanted: int) -> list[SpokenMessage]:
        return await _lines_after(unit, turn_id, message_id, wanted)

    return await _as_many_as_fit(read, after, limit)


async def _as_many_as_fit(
    read: Callable[[str | None, int], Awaitable[list[SpokenMessage]]], message_id: str | None, limit: int | None
) -> Lines:
    """Lines one way from a message, in the order in which they are come by: at most so many."""
    found: list[SpokenMessage] = []
    left, portion = HEAVIEST, PORTION
    while True:
        wanted = portion if limit is None else min(portion, limit + 1 - len(found))
        some = await read(message_id, wanted)
        for line in some:
            left -= _weight(line)
            if (left < 0 and found) or len(found) == limit:
                return Lines(messages=found, more=True)
            found.append(line)
        if len(some) < wanted:
            return Lines(messages=found, more=False)
        message_id, portion = some[-1].message_id, _next_portion(found, left)


def unknown_message(message_id: str) -> NotFound:
    return NotFound(f"This session's transcript has no message named '{message_id}'.")


def _next_portion(found: Sequence[SpokenMessage], left: int) -> int:
    """About as many lines as still fit: a transcript of short lines is read in few steps."""
    usual = (HEAVIEST - left) // len(found)
    return min(LARGEST_PORTION, left // max(usual, 1) + 1)


def _weight(line: SpokenMessage) -> int:
    """A letter beyond the basic plane takes four times as much as one of ASCII."""
    return sys.getsizeof(line.text)


async def _lines_before(unit: Unit, turn_id: str, message_id: str | None, limit: int) -> list[SpokenMessage]:
    if message_id is None:
        return await unit.plays.transcript(turn_id, last=limit)
    checked_name(message_id, "session message")
    return _existing(await unit.plays.lines_before(turn_id, message_id, limit=limit), message_id)


async def _lines_after(unit: Unit, turn_id: str, message_id: str | None, limit: int) -> list[SpokenMessage]:
    if message_id is not None:
        checked_name(message_id, "session message")
    return _existing(await unit.plays.lines_after(turn_id, message_id, limit=limit), message_id or "")


def _existing(lines: list[SpokenMessage] | None, message_id: str) -> list[SpokenMessage]:
    if lines is None:
        raise unknown_message(message_id)
    return lines
