"""How many lines a minute go into the log about what anybody can cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MOST_REMEMBERED = 1_000


@dataclass(slots=True)
class _Minute:
    ends: float
    told: int = 0


class LineLimit:
    """Allows some lines a minute, and counts those that it passed over. Where lines are named, so many of each."""

    def __init__(self, monotonic: Callable[[], float], a_minute: int) -> None:
        self._monotonic, self._a_minute = monotonic, a_minute
        self._minutes: dict[str, _Minute] = {}
        self._last_ends, self._passed_over = 0.0, 0

    def allows(self, line: str = "") -> bool:
        """Whether one more line may be written."""
        now, minute = self._monotonic(), self._minutes.get(line)
        if minute is None or now >= minute.ends:
            if len(self._minutes) >= MOST_REMEMBERED:
                self._minutes.clear()
            minute = self._minutes[line] = _Minute(now + 60.0)
            self._last_ends = minute.ends
        if minute.told >= self._a_minute:
            self._passed_over += 1
            return False
        minute.told += 1
        return True

    def take_passed_over(self) -> int:
        """How many were not written since somebody last asked, once the next minute has begun."""
        if not self._passed_over or self._monotonic() < self._last_ends:
            return 0
        count, self._passed_over = self._passed_over, 0
        return count
