"""Limits: how often somebody may do something, and who was the first to do it, over all servers that share a Redis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowance:
    """So many a minute of what `name` names. Unused ones are saved up for a minute.

    One that is `portioned` is handed out to servers a portion at a time: it costs less, and is a little less exact.
    """

    name: str
    a_minute: int
    portioned: bool = False


class Limits(Protocol):
    """Law:

    - `take` takes one of each allowance and answers 0, or takes nothing and answers how many seconds it is until there
      is one of each. Of an allowance that nobody took from for a minute all are there.
    - What is taken at one server is missing at the others; of a portioned allowance, no server has more than a
      twentieth in hand.
    - `claim` is True for the first who claims a name, on any server, and False for all others, until it is released or
      the time is over.
    - Nothing here fails or waits long. While the way to the others is broken, each server counts for itself; when it is
      back they count together again.
    - Memory is bounded however many names there are; those used least lately are forgotten first.
    """

    async def take(self, *wanted: Allowance) -> float: ...

    async def claim(self, name: str, *, for_s: float) -> bool: ...

    async def release(self, name: str) -> None: ...

    async def close(self) -> None: ...
