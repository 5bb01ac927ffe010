"""How many refusals of one caller are written into the audit: a few a minute, so that nobody fills it by knocking."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

A_MINUTE: Final = 20
MOST_CALLERS: Final = 1_000
_MINUTE_MS: Final = 60_000


class ViolationLimit:
    """Counts what was written for each caller in this minute; those who called first are forgotten first."""

    def __init__(self) -> None:
        self._noted: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def allows(self, caller: str, now_ms: int) -> bool:
        """Whether one more refusal of this caller is written down; then it counts."""
        minute, count = self._noted.pop(caller, (0, 0))
        count = count if minute == now_ms // _MINUTE_MS else 0
        self._noted[caller] = (now_ms // _MINUTE_MS, count + 1)
        while len(self._noted) > MOST_CALLERS:
            self._noted.popitem(last=False)
        return count < A_MINUTE
