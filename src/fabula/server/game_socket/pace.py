"""How much a game may send: a bucket that fills steadily, so that short bursts pass and floods do not."""

from __future__ import annotations

from collections.abc import Callable

FRAMES_PER_SECOND = 60
FRAME_BYTES = 32 * 1024
"""What is larger counts as several frames."""
COMPLAINT_EVERY_S = 1.0


class Pace:
    """Counts frames. Of a flood, one frame a second is answered with a complaint; the others are passed over."""

    def __init__(self, monotonic: Callable[[], float], *, per_second: int = FRAMES_PER_SECOND) -> None:
        self._monotonic, self._rate = monotonic, float(per_second)
        self._left, self._at = self._rate, monotonic()
        self._complained_at = float("-inf")

    def allows(self, size: int = 0) -> bool:
        """Whether one more frame of so many bytes may be read now."""
        cost = 1 + size // FRAME_BYTES
        now = self._monotonic()
        self._left = min(self._rate, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < cost:
            return False
        self._left -= cost
        return True

    def complains(self) -> bool:
        """Whether it is time to say that there are too many."""
        now = self._monotonic()
        if now - self._complained_at < COMPLAINT_EVERY_S:
            return False
        self._complained_at = now
        return True
