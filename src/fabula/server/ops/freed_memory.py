"""Freed memory goes back to the system: glibc keeps what lies between pieces that are still in use, and what other
threads freed, for as long as a process lives."""

from __future__ import annotations

import ctypes
import sys


def give_back_memory() -> None:
    """Returns whole pages that nothing lies on; does nothing where the C library cannot."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
