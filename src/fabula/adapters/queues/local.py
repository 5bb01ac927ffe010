"""The queue inside one process: what is announced is given out by a few tasks on the event loop."""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Sequence
from itertools import count

from fabula.ports.queue import Announcement, QueueStatus, Take
from fabula.ports.work import QueueName

log = logging.getLogger("fabula.queue")

MOST_WAITING = 10_000


class LocalQueue:
    """A heap of announcements. Those that come while it is full are lost, as they are where a broker is away."""

    def __init__(self, *, most_waiting: int = MOST_WAITING) -> None:
        self._most_waiting = most_waiting
        self._waiting: list[tuple[int, int, Announcement]] = []
        self._places = count()
        self._more = asyncio.Condition()
        self._queues: Sequence[QueueName] = ()
        self._givers: list[asyncio.Task[None]] = []
        self._telling: asyncio.Task[None] | None = None
        self._overflowed = self._closed = False

    def announce(self, announcements: Sequence[Announcement]) -> None:
        for announcement in announcements:
            if len(self._waiting) < self._most_waiting:
                heapq.heappush(self._waiting, (-announcement.priority, next(self._places), announcement))
                self._overflowed = False
            elif not self._overflowed:
                self._overflowed = True
                log.warning("Too much work waits to be announced; the rest is found when the table is looked through.")
        if self._givers and (self._telling is None or self._telling.done()):
            self._telling = asyncio.create_task(self._tell())

    async def listen(self, queues: Sequence[QueueName], take: Take, *, most: int, limit_s: float) -> None:
        self._queues = queues
        self._givers = [asyncio.create_task(self._give(take, limit_s)) for _ in range(most)]

    async def status(self) -> QueueStatus:
        return QueueStatus(place="inside this process", listeners={"here": list(self._queues)} if self._givers else {})

    async def close(self) -> None:
        self._closed = True
        async with self._more:
            self._more.notify_all()
        if self._givers:
            await asyncio.wait(self._givers)

    async def _tell(self) -> None:
        async with self._more:
            self._more.notify_all()

    async def _give(self, take: Take, limit_s: float) -> None:
        while (announcement := await self._next()) is not None:
            try:
                async with asyncio.timeout(limit_s):
                    await take(announcement)
            except TimeoutError:
                log.warning("A piece of work took too long.", extra={"facts": {"work_id": announcement.work_id}})
            # This is a door: one announcement that fails must not end the giving of others.
            except Exception:
                log.exception("A piece of work could not be taken.", extra={"facts": {"work_id": announcement.work_id}})

    async def _next(self) -> Announcement | None:
        """The most urgent announcement that waits in one of the queues; None when the queue is closed."""
        async with self._more:
            while not self._closed:
                found = self._pop()
                if found is not None:
                    return found
                await self._more.wait()
        return None

    def _pop(self) -> Announcement | None:
        """Announcements of queues that nobody here listens to stay; there are few of them, if any."""
        passed_over = []
        try:
            while self._waiting:
                entry = heapq.heappop(self._waiting)
                if entry[2].queue in self._queues:
                    return entry[2]
                passed_over.append(entry)
            return None
        finally:
            for entry in passed_over:
                heapq.heappush(self._waiting, entry)
