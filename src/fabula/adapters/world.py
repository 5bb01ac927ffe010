"""The real clock and real ids."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time

from ulid import ULID

_RANDOM_BITS = 80
"""Of an id the first 48 bits are the time, and so many are random."""


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
        # Ids are made on the event loop and on worker threads; two of them may not read the same last id.
        self._lock = threading.Lock()

    def new(self, prefix: str) -> str:
        fresh = (time.time_ns() // 1_000_000 << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS)
        with self._lock:
            self._last = mine = max(fresh, self._last + 1)
        return f"{prefix}_{ULID.from_int(mine)}"
