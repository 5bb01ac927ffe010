"""Errors deny: a check that cannot be made says no, and the log says why it could not.

This is the one broad handler of the loops. A check that raised would end a turn half told, or, worse, be caught by
somebody who goes on without it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

log = logging.getLogger("fabula.checks")

T = TypeVar("T")


def judge_or_deny(check: str, judge: Callable[[], T], denial: T) -> T:
    """What a check says; one that fails says no."""
    try:
        return judge()
    except Exception:
        log.exception("A check failed, and denies", extra={"facts": {"check": check}})
        return denial
