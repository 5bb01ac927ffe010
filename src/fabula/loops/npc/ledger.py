"""Writes what NPCs live through, in order, many writes in one transaction: no stream waits for a disk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

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


@dataclass(eq=False)
class LedgerQueue:
    """What the ledgers of one token have in common.

    One of them writes at a time: they write of the same NPCs, which a transaction has for itself, and one that waited
    for that would keep a connection to the database from everybody else. So it is with those who write memories
    (`remembering`), for which no turn waits. `waiting` counts what is not written yet.
    """

    alone: asyncio.Lock = field(default_factory=asyncio.Lock)
    remembering: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


class LedgerQueues:
    """The queue of each token, for as long as one of its games is here."""

    def __init__(self) -> None:
        self._queues: WeakValueDictionary[str, LedgerQueue] = WeakValueDictionary()

    def of(self, owner: str) -> LedgerQueue:
        return self._queues.setdefault(owner, LedgerQueue())


class Ledger:
    """One writer for many NPCs. What was written before is committed before what was written after, or with it."""

    def __init__(self, store: Store, queue: LedgerQueue | None = None) -> None:
        self._store, self._queue = store, queue or LedgerQueue()
        self._entries: list[_Entry] = []
        self._writing: asyncio.Task[None] | None = None

    def write(self, write: Callable[[Unit], Awaitable[R]]) -> asyncio.Future[R]:
        """Answers when it is committed; whoever does not wait for that still has it written."""
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        done.add_done_callback(self._seen)
        self._queue.waiting += 1
        self._entries.append(_Entry(write=write, done=done))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        return done

    @property
    def alone(self) -> asyncio.Lock:
        """Held by one of all games of the token."""
        return self._queue.alone

    @property
    def waiting(self) -> int:
        """How much of all games of the token is not written yet."""
        return self._queue.waiting

    async def close(self) -> None:
        """Waits until everything is written."""
        while self._writing is not None and not self._writing.done():
            await asyncio.wait([self._writing])

    async def _write_all(self) -> None:
        while self._entries:
            async with self._queue.alone:
                await self._write_some()

    async def _write_some(self) -> None:
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

    def _seen(self, done: asyncio.Future[Any]) -> None:
        self._queue.waiting -= 1
        # A failure was logged already; nobody has to ask for it.
        if not done.cancelled():
            done.exception()


async def _write_each(unit: Unit, entries: list[_Entry]) -> list[Any]:
    return [await entry.write(unit) for entry in entries]


def _give_up(entries: list[_Entry]) -> None:
    """Whoever still waits when writing broke off is told so."""
    for entry in entries:
        if not entry.done.done():
            entry.done.set_exception(StoreError("The store broke off in the middle of a write. Try again."))
