"""A line of the log once a minute, however often there is a reason for it: a list may be read many times a second."""

from __future__ import annotations

import logging

MOST_REMEMBERED = 1_000


class OnceAMinute(logging.Filter):
    """Passes over lines that say the same as one of the last minute."""

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written. A clock that was set back makes a minute longer, and no line is lost for good."""
        line, now = record.getMessage(), record.created
        if 0 <= now - self._told.get(line, float("-inf")) < 60.0:
            return False
        if len(self._told) >= MOST_REMEMBERED:
            self._told.clear()
        self._told[line] = now
        return True
