"""Turns that run in this process: each is a task of its own, independent of whoever asked for it.

Other long work runs here, too; only turns have a stage.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass

from fabula.loops.turns.stage import Stage
from fabula.ports.errors import BackendError, FabulaError
from fabula.story.error_values import ErrorValue, Hint

log = logging.getLogger("fabula.turns")

Work = Coroutine[object, object, None]


@dataclass(frozen=True, kw_only=True)
class RunningTurn:
    session_id: str
    task: asyncio.Task[None]
    stage: Stage | None = None


class RunningTurns:
    """Starts, finds and cancels turns. Closing cancels those that still run: they resume at the next start."""

    def __init__(self) -> None:
        self._turns: dict[str, RunningTurn] = {}

    def start(self, turn_id: str, session_id: str, work: Work, *, stage: Stage | None = None) -> None:
        task = asyncio.create_task(work, name=turn_id)
        self._turns[turn_id] = RunningTurn(session_id=session_id, stage=stage, task=task)
        task.add_done_callback(lambda _: self._turns.pop(turn_id, None))

    def find(self, turn_id: str) -> RunningTurn | None:
        return self._turns.get(turn_id)

    def ids(self) -> list[str]:
        return list(self._turns)

    def of_session(self, session_id: str) -> list[RunningTurn]:
        return [turn for turn in self._turns.values() if turn.session_id == session_id]

    async def wait(self, turn_id: str) -> None:
        """Waits until a turn has ended, however it ends."""
        running = self._turns.get(turn_id)
        if running is not None:
            await asyncio.wait([running.task])

    async def close(self) -> None:
        for running in list(self._turns.values()):
            await stop(running)


async def stop(running: RunningTurn) -> None:
    """Cancels a turn and waits until it has let go of everything."""
    running.task.cancel()
    await asyncio.wait([running.task])


async def error_of(work: Work, *, seconds: float) -> ErrorValue | None:
    """Does work of a turn, and answers the error with which it failed, if it did.

    This is a door: what nobody expected is logged once, here.
    """
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        return BackendError("The turn took too long.", hint=Hint.RETRY_TURN).value()
    except FabulaError as error:
        return error.value()
    except Exception:
        log.exception("The work on a turn failed.")
        sentence = "The turn failed inside the server; its log has the details. Your words are kept."
        return FabulaError(sentence, hint=Hint.RETRY_TURN).value()
    return None
