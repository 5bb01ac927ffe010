"""The small things of the outside world that are passed in: time, names, chance."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Time. `now_ms` is the wall clock in milliseconds; `monotonic` only ever grows, in seconds."""

    def now_ms(self) -> int: ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Ids(Protocol):
    """New names: `new("story")` answers `story_01J...`, never the same twice, growing with time."""

    def new(self, prefix: str) -> str: ...
