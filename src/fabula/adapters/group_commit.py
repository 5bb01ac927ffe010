"""Writes of many calls in few transactions.

`GroupCommit` is for callers that wait: whoever writes while a transaction runs joins the next one. A single writer
waits no longer than for its own commit; fifty at once share two. `DelayedBatch` is for what nobody waits for: it is
written a moment later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")

A_MOMENT_S = 0.02


class GroupCommit(Generic[T]):
    """Hands items to `write` in batches, in the order in which they came; `add` returns when its item is written."""

    def __init__(self, write: Callable[[list[T]], Awaitable[None]]) -> None:
        self._write = write
        self._waiting: list[tuple[T, asyncio.Future[None]]] = []
        self._writing = False
        self._work: asyncio.Task[None] | None = None

    async def add(self, item: T) -> None:
        """Writes an item; a failure of its batch is raised here, too."""
        if self._writing:
            written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((item, written))
            await written
            return
        self._writing = True
        try:
            await self._write([item])
        finally:
            if self._waiting:
                self._work = asyncio.create_task(self._write_what_waits())
            else:
                self._writing = False

    async def _write_what_waits(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            (outcome,) = await asyncio.gather(self._write([item for item, _ in batch]), return_exceptions=True)
            self._settle(batch, outcome)
        self._writing = False

    def _settle(self, batch: list[tuple[T, asyncio.Future[None]]], error: BaseException | None) -> None:
        for _, written in batch:
            if written.done():
                continue
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)


class DelayedBatch(Generic[T]):
    """Hands items to `write` a moment after they came, all of them together, in their order. `write` does not fail."""

    def __init__(self, write: Callable[[list[T]], Awaitable[None]], *, after_s: float = A_MOMENT_S) -> None:
        self._write = write
        self._after_s = after_s
        self._waiting: list[T] = []
        self._unwritten: list[T] = []
        self._timer: asyncio.TimerHandle | None = None
        self._writing: set[asyncio.Task[None]] = set()

    @property
    def unwritten(self) -> list[T]:
        """What was put and is not written yet."""
        return [*self._unwritten]

    def put(self, item: T) -> None:
        self._waiting.append(item)
        self._unwritten.append(item)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._after_s, self._begin)

    def drop(self, unwanted: Callable[[T], bool]) -> bool:
        """Forgets what is waiting and not wanted any more. False: some of it is being written and cannot be stopped."""
        dropped = [item for item in self._waiting if unwanted(item)]
        self._waiting = [item for item in self._waiting if not unwanted(item)]
        self._forget(dropped)
        return not any(unwanted(item) for item in self._unwritten)

    async def settle(self) -> None:
        """Returns when everything that was put is written."""
        self._begin()
        await self._written()

    async def _written(self) -> None:
        if self._writing:
            await asyncio.wait(set(self._writing))

    def _begin(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting:
            items, self._waiting = self._waiting, []
            task = asyncio.create_task(self._write_all(items))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def _write_all(self, items: list[T]) -> None:
        try:
            await self._write(items)
        finally:
            self._forget(items)

    def _forget(self, items: list[T]) -> None:
        gone = {id(item) for item in items}
        self._unwritten = [item for item in self._unwritten if id(item) not in gone]
