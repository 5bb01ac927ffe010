"""Rows as values. One that is damaged is passed over and named in the log: nobody else's list is refused for it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, TypeVar

from fabula.adapters.stores.sql import Steps
from fabula.ports.errors import StoreError
from fabula.ports.threads import run_in_thread

T = TypeVar("T")

log = logging.getLogger("fabula.stored")

FEW_ROWS: Final = 20
MOST_LOOKED_THROUGH: Final = 20_000
"""So many rows are read for one part of a list, if nearly all of them are damaged."""


def whole_rows(rows: Iterable[Any], read: Callable[[Any], T]) -> list[T]:
    """The values of those rows that can be read; `read` raises a StoreError that names its row for the others."""
    found: list[T] = []
    for row in rows:
        try:
            found.append(read(row))
        except StoreError as error:
            log.warning("A list passes it over: %s", error.message)
    return found


async def read_whole_rows(rows: Iterable[Any], read: Callable[[Any], T]) -> list[T]:
    """The same; many of them, or long ones, are read beside the event loop."""
    rows = list(rows)
    return whole_rows(rows, read) if len(rows) <= FEW_ROWS else await run_in_thread(whole_rows, rows, read)


async def read_page(ask: Callable[[int], Awaitable[Iterable[Any]]], read: Callable[[Any], T], limit: int) -> list[T]:
    """The first values of a list, `limit` of them if it has so many.

    `ask` answers so many rows. Where one was passed over it is asked for more: a part that is shorter than its limit
    is taken for the last one.
    """
    most = limit
    while True:
        rows = list(await ask(most))
        found = await read_whole_rows(rows, read)
        if len(found) >= limit or len(rows) < most or most >= MOST_LOOKED_THROUGH:
            return found[:limit]
        most *= 2


def page_steps(ask: Callable[[int], Steps[list[Any]]], read: Callable[[Any], T], limit: int) -> Steps[list[T]]:
    """As `read_page`, as steps."""
    most = limit
    while True:
        rows = yield from ask(most)
        found = whole_rows(rows, read)
        if len(found) >= limit or len(rows) < most or most >= MOST_LOOKED_THROUGH:
            return found[:limit]
        most *= 2
