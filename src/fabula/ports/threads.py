"""The one gate through which heavy pure work leaves the event loop for a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

SHORT_TEXTS: Final = 2_000
"""So many letters are looked through at once: with words that nobody said before, in ten milliseconds."""


async def run_in_thread(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Runs pure, CPU-heavy work in a thread and waits for it, so that streams go on meanwhile."""
    return await asyncio.to_thread(work, *args, **kwargs)


async def run_on_texts(work: Callable[..., R], *texts: str | None) -> R:
    """Runs work that costs as much as its texts are long: short ones here, long ones in a thread."""
    if sum(len(text or "") for text in texts) <= SHORT_TEXTS:
        return work(*texts)
    return await run_in_thread(work, *texts)
