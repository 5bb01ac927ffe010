"""Cutting a turn short: whoever stops it may want to keep what was told.

A loop reads one answer at a time. A cut stops the answer that is being read, and every one that would be read after it;
the loop then decides what of the turn is whole enough to be kept.
"""

from __future__ import annotations

import asyncio
from typing import TypeVar

T = TypeVar("T")


class CutShort(Exception):
    """An answer is not read any further, because the turn is to end with what was told."""


class Cut:
    """Whether a turn is to end now. It costs a turn that nobody stops nothing."""

    def __init__(self, *, asked: bool = False) -> None:
        self.asked = asked
        self._reading: asyncio.Task[object] | None = None

    def ask(self) -> None:
        """Ends the turn with what was told."""
        self.asked = True
        if self._reading is not None:
            self._reading.cancel()

    async def read(self, answer: asyncio.Task[T]) -> T:
        """Waits for an answer; raises CutShort when the turn is cut before it is whole."""
        if self.asked:
            raise CutShort
        self._reading = answer
        try:
            return await answer
        except asyncio.CancelledError:
            if self._is_cancelled_for_this():
                raise CutShort from None
            raise
        finally:
            self._reading = None

    def _is_cancelled_for_this(self) -> bool:
        """The reader may be cancelled itself, by whoever stops the whole turn: that goes before."""
        reader = asyncio.current_task()
        return self.asked and reader is not None and not reader.cancelling()
