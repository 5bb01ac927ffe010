"""The real clock and real ids."""

from __future__ import annotations

import asyncio
import os
import threading
import time

_RANDOM_BITS = 80
"""Of an id the first 48 bits are the time, and so many are random."""
_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
_SHIFTS = range(120, -1, -10)


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
        fresh = (time.time_ns() // 1_000_000 << _RANDOM_BITS) | int.from_bytes(os.urandom(_RANDOM_BITS // 8))
        with self._lock:
            self._last = mine = max(fresh, self._last + 1)
        return f"{prefix}_{ulid_text(mine)}"


def ulid_text(number: int) -> str:
    """128 bits as a ULID is written: 26 letters of an alphabet without I, L, O and U. Each turn makes several."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])
