"""How many lines a minute go into the log about what anybody can cause."""

from __future__ import annotations

from collections.abc import Callable


class LineLimit:
    """Allows some lines a minute, and counts those that it passed over."""

    def __init__(self, monotonic: Callable[[], float], a_minute: int) -> None:
        self._monotonic, self._a_minute = monotonic, a_minute
        self._minute_ends, self._told, self._passed_over = 0.0, 0, 0

    def allows(self) -> bool:
        """Whether one more line may be written."""
        if self._monotonic() >= self._minute_ends:
            self._minute_ends, self._told = self._monotonic() + 60.0, 0
        if self._told >= self._a_minute:
            self._passed_over += 1
            return False
        self._told += 1
        return True

    def take_passed_over(self) -> int:
        """How many were not written since somebody last asked, once the next minute has begun."""
        if not self._passed_over or self._monotonic() < self._minute_ends:
            return 0
        count, self._passed_over = self._passed_over, 0
        return count
