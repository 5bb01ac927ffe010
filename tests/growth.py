"""How much work a function does, counted in calls: the same on every machine, however busy it is."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType

from slipcover import probe


def calls_of(work: Callable[[], object]) -> Counter[str]:
    """How often each function was called, in Python and in C, by its name; marks of lines that were run are no work."""
    counted: Counter[str] = Counter()

    def count(frame: FrameType, event: str, what: object) -> None:
        if event == "call":
            counted[frame.f_code.co_name] += 1
        elif event == "c_call" and what is not probe.signal:
            counted[getattr(what, "__name__", "?")] += 1

    # What earlier tests left to the collector would be counted with the work, if it came by meanwhile.
    collects = gc.isenabled()
    gc.disable()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return counted
