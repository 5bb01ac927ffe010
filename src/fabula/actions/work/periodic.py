"""Periodic jobs: each is a piece of work that is begun once in each of its periods, whoever looks at the clock.

The key of the work is the period, so that two schedulers, or several servers that schedule for themselves, begin it
once between them. A period in which nobody looked is left out: every job does all that there is to do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from fabula.actions.work.work_kind import Run, WorkKind, doubling
from fabula.actions.work.work_runner import WorkRunner
from fabula.ports.errors import StoreError
from fabula.ports.store import Store, Unit
from fabula.ports.work import NewWork, Work
from fabula.ports.world import Clock, Ids

log = logging.getLogger("fabula.periodic")

LOOK_EVERY_S = 5.0
DEADLINE_S = 600.0
MOST_ATTEMPTS = 3


@dataclass(frozen=True, kw_only=True)
class PeriodicJob:
    """A kind of work, how often it is done, and what that is."""

    kind: str
    every_s: int
    does: str
    run: Run

    def period(self, now_ms: int) -> int:
        """Periods are counted from the beginning of time, so that everyone counts the same."""
        return now_ms // (self.every_s * 1000)


def periodic_kind(job: PeriodicJob) -> WorkKind:
    """How a job is done: when nobody waits, and again a little later if it fails."""
    return WorkKind(
        run=job.run,
        does=job.does,
        deadline_s=DEADLINE_S,
        most_attempts=MOST_ATTEMPTS,
        backoff=doubling(first_s=10.0, longest_s=60.0),
        unwatched=True,
        queue="heavy",
        priority=0,
    )


class Scheduler:
    """Begins what is due of some jobs."""

    def __init__(
        self, jobs: Sequence[PeriodicJob], *, store: Store, clock: Clock, ids: Ids, runner: WorkRunner
    ) -> None:
        self._jobs, self._store, self._clock, self._ids, self._runner = jobs, store, clock, ids, runner
        self._begun: dict[str, int] = {}
        self._looking: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._looking = asyncio.create_task(self._look_on())

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])

    async def tick(self) -> list[Work]:
        """Begins every job whose period nobody has begun yet; answers what was begun here."""
        now = self._clock.now_ms()
        due = {job.kind: job.period(now) for job in self._jobs if self._begun.get(job.kind) != job.period(now)}
        if not due:
            return []

        async def begin(unit: Unit) -> list[Work]:
            begun = []
            for kind, period in due.items():
                # Whatever became of it: one that was buried is not begun again before its next period.
                if await unit.work.by_key(kind, str(period)) is None:
                    new = NewWork(work_id=self._ids.new("work"), kind=kind, key=str(period))
                    work = await unit.work.begin(new)
                    begun += [work] if work.work_id == new.work_id else []
            return begun

        begun = await self._store.write(begin)
        self._begun |= due
        self._runner.announce(*begun)
        return begun

    async def _look_on(self) -> None:
        """Looks for as long as the process lives. This is a door: a failure is logged, and waited out."""
        while True:
            try:
                await self.tick()
            except StoreError as error:
                log.warning("Periodic work could not be begun: %s", error.message)
            except Exception:
                log.exception("Periodic work could not be begun.")
            await asyncio.sleep(LOOK_EVERY_S)
