"""How often something is done that anybody can cause: lines in the log, entries of the audit, complaints."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

MOST_REMEMBERED: Final = 1_000
MINUTE_S: Final = 60.0


@dataclass(slots=True)
class _Period:
    ends: float
    done: int = 0


class Throttle:
    """Allows so much in a period, and counts what it passed over. Where it is named, so much of each name; names that
    began first are forgotten first."""

    def __init__(self, monotonic: Callable[[], float], most: int, *, every_s: float = MINUTE_S) -> None:
        self._monotonic, self._most, self._every_s = monotonic, most, every_s
        self._periods: OrderedDict[str, _Period] = OrderedDict()
        self._last_ends, self._passed_over = 0.0, 0

    def allows(self, name: str = "") -> bool:
        """Whether it may be done once more; then it counts."""
        now, period = self._monotonic(), self._periods.get(name)
        if period is None or now >= period.ends:
            period = self._begin(name, now)
        if period.done >= self._most:
            self._passed_over += 1
            return False
        period.done += 1
        return True

    def take_passed_over(self) -> int:
        """How often it was not done since somebody last asked, once the next period has begun."""
        if not self._passed_over or self._monotonic() < self._last_ends:
            return 0
        count, self._passed_over = self._passed_over, 0
        return count

    def _begin(self, name: str, now: float) -> _Period:
        period = self._periods[name] = _Period(now + self._every_s)
        self._periods.move_to_end(name)
        if len(self._periods) > MOST_REMEMBERED:
            self._periods.popitem(last=False)
        self._last_ends = period.ends
        return period
