"""What is heard of one source, one thing after the other, while others are waited for as well."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Generic, TypeVar

T = TypeVar("T")


class Follower(Generic[T]):
    def __init__(self, followed: AsyncGenerator[T, None]) -> None:
        self._followed = followed
        self._waiting: asyncio.Task[T | None] | None = None

    def next(self) -> asyncio.Task[T | None]:
        # A task, because a generator that is interrupted while it waits cannot go on.
        self._waiting = self._waiting or asyncio.create_task(_next(self._followed))
        return self._waiting

    @property
    def has_news(self) -> bool:
        return self._waiting is not None and self._waiting.done()

    def take(self) -> T | None:
        """What came; nothing when the source has ended."""
        assert self._waiting is not None
        found, self._waiting = self._waiting.result(), None
        return found

    async def close(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.wait([self._waiting])
        await self._followed.aclose()


async def _next(followed: AsyncGenerator[T, None]) -> T | None:
    return await anext(followed, None)
