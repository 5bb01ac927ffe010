"""The database's clock: what processes on several machines go by, because their own clocks may be minutes apart.

A lease says until when work is held. If each machine read its own clock, one that is a minute ahead would take work
from all others. So the time of the database is asked for now and then, and counted on in between with this machine's
monotonic clock, which no change of the wall clock moves.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from sqlalchemy import text

from fabula.adapters.stores.database import Database
from fabula.ports.errors import StoreError
from fabula.ports.world import Clock

log = logging.getLogger("fabula.store")

ASK_EVERY_S = 60.0
TRIES = 3
TELL_FROM_MS = 2000
"""A machine whose clock is wrong by more than this is told so, once."""

NOW = text("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms")


async def database_now_ms(database: Database) -> int:
    """What the clock of a Postgres says."""
    row = (await database.ask("read", NOW, {})).first()
    assert row is not None
    return int(row.now_ms)


class DatabaseClock:
    """Tells the database's time once it was set; before that, the time of this machine."""

    def __init__(self, machine: Clock) -> None:
        self._machine = machine
        self._anchor: tuple[int, float] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._told = False

    def now_ms(self) -> int:
        if self._anchor is None:
            return self._machine.now_ms()
        then_ms, then = self._anchor
        return then_ms + round((self._machine.monotonic() - then) * 1000)

    def monotonic(self) -> float:
        return self._machine.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self._machine.sleep(seconds)

    async def start(self, ask: Callable[[], Awaitable[int]]) -> None:
        """Sets the clock by what the database answers, and keeps it set."""
        await self.set_by(ask)
        self._keeping = asyncio.create_task(self._keep(ask))

    async def close(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])

    async def set_by(self, ask: Callable[[], Awaitable[int]]) -> None:
        """Asks a few times and trusts the quickest answer: half of its way is the most it can be wrong."""
        answers = []
        for _ in range(TRIES):
            began = self._machine.monotonic()
            now_ms = await ask()
            ended = self._machine.monotonic()
            answers.append((ended - began, now_ms, (began + ended) / 2))
        _, now_ms, middle = min(answers)
        self._anchor = (now_ms, middle)
        self._tell_difference()

    def _tell_difference(self) -> None:
        apart_ms = self._machine.now_ms() - self.now_ms()
        if abs(apart_ms) >= TELL_FROM_MS and not self._told:
            self._told = True
            log.warning(
                "The clock of this machine is %.0f s %s the database's. Times are the database's; set the clock right.",
                abs(apart_ms) / 1000,
                "ahead of" if apart_ms > 0 else "behind",
            )

    async def _keep(self, ask: Callable[[], Awaitable[int]]) -> None:
        while True:
            await asyncio.sleep(ASK_EVERY_S)
            # Without an answer the time is counted on as before.
            with suppress(StoreError):
                await self.set_by(ask)
