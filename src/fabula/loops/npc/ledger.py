"""Writes what NPCs live through, in order, many writes in one transaction: no stream waits for a disk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from fabula.ports.errors import FabulaError, StoreError
from fabula.ports.store import Store, Unit

log = logging.getLogger("fabula.npc")

R = TypeVar("R")

MOST_IN_ONE: Final = 64
"""Entries in one transaction. Everybody else who writes waits for its end, and a thousand NPCs may notice something."""


@dataclass(frozen=True, kw_only=True)
class _Entry:
    write: Callable[[Unit], Awaitable[Any]]
    done: asyncio.Future[Any]


class Ledger:
    """One writer for many NPCs. What was written before is committed before what was written after, or with it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._entries: list[_Entry] = []
        self._writing: asyncio.Task[None] | None = None

    def write(self, write: Callable[[Unit], Awaitable[R]]) -> asyncio.Future[R]:
        """Answers when it is committed; whoever does not wait for that still has it written."""
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        done.add_done_callback(_seen)
        self._entries.append(_Entry(write=write, done=done))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        return done

    async def close(self) -> None:
        """Waits until everything is written."""
        while self._writing is not None and not self._writing.done():
            await asyncio.wait([self._writing])

    async def _write_all(self) -> None:
        while self._entries:
            entries, self._entries = self._entries[:MOST_IN_ONE], self._entries[MOST_IN_ONE:]
            try:
                if not await self._wrote(entries) and len(entries) > 1:
                    # One entry that cannot be kept does not take the others with it.
                    for entry in entries:
                        await self._wrote([entry])
            finally:
                _give_up(entries)

    async def _wrote(self, entries: list[_Entry]) -> bool:
        try:
            answers = await self._commit(entries)
        except FabulaError as error:
            log.warning("What NPCs lived through could not be written: %s", error.message)
            if len(entries) == 1 and not entries[0].done.done():
                entries[0].done.set_exception(error)
            return False
        for entry, answer in zip(entries, answers, strict=True):
            if not entry.done.done():
                entry.done.set_result(answer)
        return True

    async def _commit(self, entries: list[_Entry]) -> list[Any]:
        # Another process may write of the same NPCs in another order: one of two that wait in a circle begins again.
        return await self._store.write(lambda unit: _write_each(unit, entries))


async def _write_each(unit: Unit, entries: list[_Entry]) -> list[Any]:
    return [await entry.write(unit) for entry in entries]


def _give_up(entries: list[_Entry]) -> None:
    """Whoever still waits when writing broke off is told so."""
    for entry in entries:
        if not entry.done.done():
            entry.done.set_exception(StoreError("The store broke off in the middle of a write. Try again."))


def _seen(done: asyncio.Future[Any]) -> None:
    """A failure was logged already; nobody has to ask for it."""
    if not done.cancelled():
        done.exception()
