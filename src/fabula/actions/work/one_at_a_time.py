"""Work on one thing that this process does one after another, so that the next finds done what the one before did."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary


class OneAtATime:
    """A lock for each name, for as long as somebody has it or waits for it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def alone(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())
