"""Limits of one process: buckets that fill steadily, and names that were claimed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from fabula.ports.limits import Allowance

MOST_NAMES = 20_000
MINUTE_S = 60.0


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class LocalLimits:
    """Keeps the law of `fabula.ports.limits.Limits` inside one process."""

    def __init__(self, monotonic: Callable[[], float], *, most_names: int = MOST_NAMES) -> None:
        self._monotonic, self._most = monotonic, most_names
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._claims: OrderedDict[str, float] = OrderedDict()

    async def take(self, *wanted: Allowance) -> float:
        now = self._monotonic()
        filled = [(one, self._filled(one, now)) for one in wanted]
        wait_s = max((_wait(one, bucket.left) for one, bucket in filled), default=0.0)
        if wait_s == 0.0:
            for _, bucket in filled:
                bucket.left -= 1
        return wait_s

    async def claim(self, name: str, *, for_s: float) -> bool:
        now = self._monotonic()
        if self._claims.get(name, now) > now:
            return False
        self._claims[name] = now + for_s
        self._claims.move_to_end(name)
        while len(self._claims) > self._most:
            self._claims.popitem(last=False)
        return True

    async def release(self, name: str) -> None:
        self._claims.pop(name, None)

    async def close(self) -> None:
        """Nothing is open."""

    def _filled(self, allowance: Allowance, now: float) -> _Bucket:
        bucket = self._buckets.get(allowance.name)
        if bucket is None:
            bucket = self._buckets[allowance.name] = _Bucket(left=allowance.a_minute, at=now)
            while len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(allowance.name)
            more = (now - bucket.at) * allowance.a_minute / MINUTE_S
            bucket.left, bucket.at = min(float(allowance.a_minute), bucket.left + more), now
        return bucket


def _wait(allowance: Allowance, left: float) -> float:
    return 0.0 if left >= 1 else (1 - left) * MINUTE_S / allowance.a_minute
