"""Hold work that many announcements name at once: what is asked for while one transaction runs shares the next."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from fabula.ports.work import Work


class HoldBatch:
    """Hands ids to `hold` in batches; each caller gets its own work, or None where it was not given out."""

    def __init__(self, hold: Callable[[list[str]], Awaitable[list[Work]]]) -> None:
        self._hold = hold
        self._waiting: dict[str, asyncio.Future[Work | None]] = {}
        self._holding: asyncio.Task[None] | None = None

    async def hold(self, work_id: str) -> Work | None:
        if work_id in self._waiting:
            return None  # The same announcement twice: one of them is enough.
        asked: asyncio.Future[Work | None] = asyncio.get_running_loop().create_future()
        self._waiting[work_id] = asked
        if self._holding is None or self._holding.done():
            self._holding = asyncio.create_task(self._hold_what_waits())
        return await asked

    async def _hold_what_waits(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, {}
            (outcome,) = await asyncio.gather(self._hold([*batch]), return_exceptions=True)
            for work_id, asked in batch.items():
                if asked.done():
                    continue
                if isinstance(outcome, BaseException):
                    asked.set_exception(outcome)
                else:
                    asked.set_result(next((work for work in outcome if work.work_id == work_id), None))
