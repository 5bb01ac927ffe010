"""How long a server kept everybody waiting by its own work, as its watchdog wrote it down.

Processor time, not waiting time: tests share their machine with others, and a server that was not let run is not slow.
"""

from __future__ import annotations

import re
from pathlib import Path

LONGEST_WORK_S = 0.25

_STALL = re.compile(r"stood still for (\d+) ms \((\d+) ms of work\)")


def stall_lines(log: Path) -> list[str]:
    """What the watchdog said."""
    return [line for line in log.read_text("utf-8").splitlines() if _STALL.search(line)]


def longest_work(log: Path) -> float:
    """Seconds of work in the longest stall; 0 when there was none of more than a tenth of a second."""
    return max((int(found[2]) / 1000 for line in stall_lines(log) if (found := _STALL.search(line))), default=0.0)
