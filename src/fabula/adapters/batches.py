"""Writes of many calls in few transactions: whoever writes while a transaction runs joins the next one.

A single writer waits no longer than for its own commit; fifty at once share two.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Batches(Generic[T]):
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
