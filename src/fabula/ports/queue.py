"""Queues: carry the ids of work to processes that take it up. The table knows what there is to do; a queue only wakes.

An announcement that is lost costs the time until somebody looks through the table; one that comes twice costs a look.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from fabula.ports.work import QueueName

MOST_URGENT = 9


@dataclass(frozen=True, kw_only=True)
class Announcement:
    """That a piece of work waits. Of those that wait in one queue the one with the highest `priority` comes first."""

    work_id: str
    queue: QueueName
    priority: int = 0
    trace_id: str = ""


Take = Callable[[Announcement], Awaitable[None]]
"""Does what an announcement asks for, and returns when that is over."""


@dataclass(frozen=True, kw_only=True)
class QueueStatus:
    """How the queues are reached, and who listens to them. `problem` says why they cannot be reached.

    `listeners` has the queues of each listener by its name.
    """

    place: str
    problem: str = ""
    answered_ms: int = 0
    listeners: dict[str, list[str]]


class Queue(Protocol):
    """Law:

    - `announce` never waits and never fails. What it cannot deliver is lost, and logged once until it works again.
    - What was announced is soon given to one listener of its queue, with its trace id.
    - A listener is given only what was announced in the queues that it named.
    - A listener is given at most so many announcements at once; the others wait, or go to other listeners.
    - Of announcements that wait, the most urgent are given first.
    - An announcement is over when `take` returns, also with an error; one that takes longer than `limit_s` is
      cancelled.
    - Where processes share the queue, announcements of a process that died before they were over are given to another.
    - What waits is bounded: beyond that, announcements are lost.
    - While the broker is away, what is announced is lost; when it is back, announcements are given out again, and
      nobody has to do anything for that.
    - `close` waits until what was taken is over, and leaves the rest to others.
    """

    def announce(self, announcements: Sequence[Announcement]) -> None: ...

    async def listen(self, queues: Sequence[QueueName], take: Take, *, most: int, limit_s: float) -> None:
        """Begins to give out announcements. A process listens once."""
        ...

    async def status(self) -> QueueStatus: ...

    async def close(self) -> None: ...
