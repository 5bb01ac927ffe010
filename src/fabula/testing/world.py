"""A clock that stands still until told, and ids that count: tests that name times and ids stay readable."""

from __future__ import annotations

import asyncio
from collections import Counter


class FixedClock:
    """Time moves only by `advance` and `sleep`, which returns at once."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self._started_ms = now_ms
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic(self) -> float:
        return (self._now_ms - self._started_ms) / 1000

    async def sleep(self, seconds: float) -> None:
        self.advance(round(seconds * 1000))
        await asyncio.sleep(0)

    def advance(self, ms: int) -> None:
        self._now_ms += ms


class CountingIds:
    """`story_0001`, `story_0002`, `session_0001`, ..."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def new(self, prefix: str) -> str:
        self._counts[prefix] += 1
        return f"{prefix}_{self._counts[prefix]:04}"
