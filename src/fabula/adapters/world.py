"""The real clock and real ids."""

from __future__ import annotations

import asyncio
import time

from ulid import ULID


class SystemClock:
    """The clock of the machine."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class UlidIds:
    """Ids that grow with time: each is greater than the one before, even when the clock stands still or steps back."""

    def __init__(self) -> None:
        self._last = 0

    def new(self, prefix: str) -> str:
        self._last = max(int(ULID()), self._last + 1)
        return f"{prefix}_{ULID.from_int(self._last)}"
