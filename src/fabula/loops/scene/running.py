"""Turns that run in this process: each is a task of its own, independent of whoever asked for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RunningTurn:
    session_id: str
    task: asyncio.Task[None]


class RunningTurns:
    """Starts, finds and cancels turns. Closing cancels those that still run: they resume at the next start."""

    def __init__(self) -> None:
        self._turns: dict[str, RunningTurn] = {}

    def start(self, turn_id: str, session_id: str, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work, name=turn_id)
        self._turns[turn_id] = RunningTurn(session_id=session_id, task=task)
        task.add_done_callback(lambda _: self._turns.pop(turn_id, None))

    def runs(self, turn_id: str) -> bool:
        return turn_id in self._turns

    async def cancel(self, turn_id: str) -> bool:
        """Cancels a turn and waits until it has let go of everything; False when it does not run here."""
        running = self._turns.get(turn_id)
        if running is None:
            return False
        running.task.cancel()
        await asyncio.wait([running.task])
        return True

    async def cancel_session(self, session_id: str) -> None:
        for turn_id in [id for id, turn in self._turns.items() if turn.session_id == session_id]:
            await self.cancel(turn_id)

    async def wait(self, turn_id: str) -> None:
        """Waits until a turn has ended, however it ends."""
        running = self._turns.get(turn_id)
        if running is not None:
            await asyncio.wait([running.task])

    async def close(self) -> None:
        for turn_id in list(self._turns):
            await self.cancel(turn_id)
