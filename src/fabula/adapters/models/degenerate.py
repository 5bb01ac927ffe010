"""Notices while an answer streams that it has begun to go round in circles."""

from __future__ import annotations

from collections import Counter

CHECK_EVERY = 120
NEEDLE = 40
LEAST_RUN = 240
MOST_PERIOD = 600
LEAST_LINE = 16
MOST_LINES = 8


class LoopWatch:
    """Reads an answer piece by piece. `count_lines` also minds one line that comes again and again, not in a row."""

    def __init__(self, *, count_lines: bool) -> None:
        self._tail = ""
        self._fresh: list[str] = []
        self._unchecked = 0
        self._line = ""
        self._lines: Counter[str] | None = Counter() if count_lines else None

    def loops(self, text: str) -> bool:
        """Whether the answer, with this piece, is looping. It is looked at every few words only."""
        self._fresh.append(text)
        self._unchecked += len(text)
        if self._unchecked < CHECK_EVERY:
            return False
        fresh = "".join(self._fresh)
        self._fresh.clear()
        self._unchecked = 0
        self._tail = (self._tail + fresh)[-4 * MOST_PERIOD :]
        return self._line_returns(fresh) or is_periodic(self._tail)

    def _line_returns(self, text: str) -> bool:
        if self._lines is None:
            return False
        *whole, self._line = (self._line + text).split("\n")
        for line in whole:
            plain = line.strip().lower()
            if len(plain) >= LEAST_LINE:
                self._lines[plain] += 1
                if self._lines[plain] >= MOST_LINES:
                    return True
        return False


def is_periodic(tail: str) -> bool:
    """Whether a text ends in one unit repeated: a token, a phrase, a paragraph.

    The distance between the last characters and where they stood before is the only period worth trying.
    """
    if len(tail) < LEAST_RUN:
        return False
    before = tail.rfind(tail[-NEEDLE:], 0, len(tail) - 1)
    if before < 0:
        return False
    period = len(tail) - NEEDLE - before
    run = max(LEAST_RUN, 3 * period)
    return period <= MOST_PERIOD and len(tail) >= run + period and tail[-run:] == tail[-run - period : -period]
