"""The connections to Postgres of one process.

A pool of our own, because every statement outside a transaction takes a connection and gives it back: asyncpg's pool
makes two tasks, a timer and a proxy for each, which cost more than the statement.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from fabula.adapters.stores.database import PATIENCE_S

UNUSED_S = 300.0
"""A connection that was not used for so long is ended: what stands between us and the server may have forgotten it."""


class PostgresPool:
    """At most `size` connections, opened with `connect` when they are needed.

    The one that was given back last is taken next: it has the most statements prepared.
    """

    def __init__(self, connect: Callable[[], Awaitable[Any]], *, size: int, unused_s: float = UNUSED_S) -> None:
        self._connect, self._size, self._unused_s = connect, size, unused_s
        self._free = asyncio.Semaphore(size)
        self._taken: set[Any] = set()
        self._idle: list[tuple[Any, float]] = []

    async def take(self) -> Any:
        """A connection that is open. TimeoutError where none comes free for long."""
        if self._free.locked():
            async with asyncio.timeout(PATIENCE_S):
                await self._free.acquire()
        else:
            await self._free.acquire()
        try:
            driver = self._newest_idle() or await self._connect()
        except BaseException:
            self._free.release()
            raise
        self._taken.add(driver)
        return driver

    def give_back(self, driver: Any) -> None:
        """Takes a connection back. One that is closed by now is replaced when it is needed."""
        now = _now()
        self._taken.discard(driver)
        if not driver.is_closed():
            self._idle.append((driver, now))
        self._free.release()
        if self._idle and now - self._idle[0][1] > self._unused_s:
            self._idle.pop(0)[0].terminate()

    async def close(self) -> None:
        """Ends all connections, those in use when they are given back, or after a while."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                for _ in range(self._size):
                    await self._free.acquire()
                while self._idle:
                    await self._idle.pop()[0].close()
        except TimeoutError:
            for driver in [*self._taken, *(one for one, _ in self._idle)]:
                driver.terminate()

    def _newest_idle(self) -> Any:
        while self._idle:
            driver, since = self._idle.pop()
            if driver.is_closed():
                continue
            if _now() - since <= self._unused_s:
                return driver
            driver.terminate()
        return None


def _now() -> float:
    return asyncio.get_running_loop().time()
