"""The one gate through which heavy pure work leaves the event loop for a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


async def run_in_thread(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Runs pure, CPU-heavy work in a thread and waits for it, so that streams go on meanwhile."""
    return await asyncio.to_thread(work, *args, **kwargs)
