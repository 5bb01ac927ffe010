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
        self._writing: asyncio.Task[None] | None = None

    async def add(self, item: T) -> None:
        """Writes an item; a failure of its batch is raised here, too."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, written))
        if self._writing is None:
            self._writing = asyncio.create_task(self._work())
        await written

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            (outcome,) = await asyncio.gather(self._write([item for item, _ in batch]), return_exceptions=True)
            self._settle(batch, outcome)
        self._writing = None

    def _settle(self, batch: list[tuple[T, asyncio.Future[None]]], error: BaseException | None) -> None:
        for _, written in batch:
            if written.done():
                continue
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)
