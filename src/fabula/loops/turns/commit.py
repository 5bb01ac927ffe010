"""Commit a turn: it becomes true, and the work on it is done, in one transaction."""

from __future__ import annotations

from fabula.ports.errors import TakenOver
from fabula.ports.plays import Finished
from fabula.ports.store import Store, Unit
from fabula.ports.work import Work


async def commit_turn(store: Store, finished: Finished, work: Work) -> bool:
    """Answers False, and changes nothing, when the turn has ended meanwhile or another process goes on with it."""

    async def commit(unit: Unit) -> bool:
        if not await unit.plays.commit(finished):
            return False
        if not await unit.work.finish(work):
            raise TakenOver("Another process goes on with this turn.")
        return True

    try:
        return await store.write(commit)
    except TakenOver:
        return False
