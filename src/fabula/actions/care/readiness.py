"""Whether a process can work: its caches are warm, the store answers at its newest revision, the disk has room."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fabula.actions.house import House
from fabula.ports.errors import FabulaError

PATIENCE_S = 5.0
"""A store that takes longer to answer one small question is not one that turns could be played with."""

WARMING = "The server has just started and still loads what the first turn needs. Look again in a moment."
AWAY = "The store does not answer. The log of the server has the details."
SILENT = f"The store did not answer within {PATIENCE_S:.0f} seconds. Look whether its database is up."
MIGRATING = "The store is not at the revision of this version. Start one server of this version: it migrates the store."

DiskProblem = Callable[[], Awaitable[str | None]]


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """`reason` says why a process is not ready, and may be told to anybody; `detail` is for whoever runs it."""

    reason: str | None = None
    detail: str = ""
    engine: str = ""
    revision: str = ""

    @property
    def ready(self) -> bool:
        return self.reason is None


async def readiness(house: House, disk_problem: DiskProblem) -> Readiness:
    """Looks whether this process can work now. Nothing is remembered: what was away may be back."""
    if not house.warmth.is_warm:
        return Readiness(reason=WARMING)
    try:
        async with asyncio.timeout(PATIENCE_S):
            status = await house.store.status()
    except TimeoutError:
        return Readiness(reason=SILENT)
    except FabulaError as error:
        return Readiness(reason=AWAY, detail=error.message)
    reason = None if status.revision == status.newest_revision else MIGRATING
    if reason is None and status.engine == "sqlite":
        reason = await disk_problem()
    return Readiness(reason=reason, engine=status.engine, revision=status.revision)
