"""Carries out what the floor decides for one NPC: sends, asks, stops, waits and writes, in that order.

Everything is done at once except ending a model call: what stands behind a `Stop` waits until the call has ended, so
that a game never hears of an interruption while the model still writes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Final, assert_never

from fabula.loops.npc.floor import Floor
from fabula.loops.npc.signals import (
    Begin,
    Drop,
    Effect,
    Happening,
    NoLongerWaitFor,
    Note,
    Notice,
    ReplyFailed,
    Settle,
    Stop,
    Tell,
    WaitFor,
)
from fabula.loops.npc.speech import NpcRun, take_turn
from fabula.ports.errors import FabulaError
from fabula.ports.npcs import NpcKey, Settled
from fabula.story.npc_events import NpcEvent, NpcProblem, ProblemName

log = logging.getLogger("fabula.npc")

LONGEST_STOP_S: Final = 0.25
_INSIDE: Final = "The turn failed inside the server; its log has the details."


class Npc:
    """One NPC of one connection. `send` tells the game of an event; `waits` is told how much more it takes, with what
    waits for it, or less."""

    def __init__(
        self,
        run: NpcRun,
        agent_id: str,
        *,
        floor: Floor,
        send: Callable[[NpcEvent], None],
        waits: Callable[[int], None],
    ) -> None:
        self._run, self._agent_id, self._floor, self._send, self._waits = run, agent_id, floor, send, waits
        self._weight = floor.weight
        waits(self._weight)
        self._key = NpcKey(game_id=run.game_id, agent_id=agent_id)
        self._loop = asyncio.get_running_loop()
        self._to_do: deque[Effect] = deque()
        self._turns: dict[str, asyncio.Task[None]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._stopping: asyncio.Task[None] | None = None

    def tell(self, happening: Happening) -> None:
        """Something happened: does what the floor decides."""
        self._to_do.extend(self._floor.handle(happening))
        if (weight := self._floor.weight) != self._weight:
            self._waits(weight - self._weight)
            self._weight = weight
        self._go_on()

    def recognise(self, turn_id: str) -> None:
        self._floor.recognise(turn_id)

    async def finish(self) -> None:
        """Waits until every call has ended; the connection is gone by now."""
        for timer in self._timers.values():
            timer.cancel()
        tasks = [*self._turns.values(), *([self._stopping] if self._stopping else [])]
        if tasks:
            await asyncio.wait(tasks)

    def _go_on(self) -> None:
        while self._to_do and self._stopping is None:
            self._do(self._to_do.popleft())

    def _do(self, effect: Effect) -> None:
        match effect:
            case Tell():
                self._send(effect.event)
            case Begin():
                self._begin(effect)
            case Note():
                self._run.note(self._agent_id, effect.objections)
            case Stop():
                self._stop(effect.turn_id)
            case WaitFor():
                self._timers[effect.name] = self._loop.call_later(effect.seconds, self._time_is_up, effect)
            case NoLongerWaitFor():
                if (timer := self._timers.pop(effect.name, None)) is not None:
                    timer.cancel()
            case Settle():
                self._settle(effect)
            case Drop():
                turn_id = effect.turn_id
                self._run.ledger.write(lambda unit: unit.npcs.drop(self._key, turn_id=turn_id))
            case Notice():
                self.notice(effect)
            case _:
                assert_never(effect)

    @property
    def waiting(self) -> int:
        """How many events wait for their turn."""
        return self._floor.waiting

    def notice(self, notice: Notice) -> None:
        """Keeps something that the NPC noticed; no turn begins or ends."""
        event = notice.event
        written = self._run.ledger.write(
            lambda unit: unit.npcs.notice(self._key, connection_id=self._run.connection_id, event=event)
        )
        written.add_done_callback(lambda done: self._remember(done, None))

    def _remember(self, done: asyncio.Future[Any], turn_id: str | None) -> None:
        if done.exception() is None:
            self._run.remember(self._key, turn_id)

    def _begin(self, begin: Begin) -> None:
        task = asyncio.create_task(self._take(begin))
        self._turns[begin.turn_id] = task
        task.add_done_callback(lambda done: self._turn_ended(begin, done))

    async def _take(self, begin: Begin) -> None:
        try:
            await take_turn(self._run, self._agent_id, begin, self.tell)
        finally:
            # The call upstream has ended; what waited for that is done here, before the loop's next round.
            self._stopped(asyncio.current_task())

    def _turn_ended(self, begin: Begin, task: asyncio.Task[None]) -> None:
        if self._turns.get(begin.turn_id) is task:
            del self._turns[begin.turn_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            facts = {"connection_id": self._run.connection_id, "agent_id": self._agent_id, "turn_id": begin.turn_id}
            log.error("an NPC's turn failed", extra={"facts": facts}, exc_info=error)
            self.tell(ReplyFailed(turn_id=begin.turn_id, attempt=begin.attempt, message=_INSIDE))

    def _stop(self, turn_id: str) -> None:
        task = self._turns.pop(turn_id, None)
        if task is None or task.done():
            return
        task.cancel()
        self._stopping = task
        task.add_done_callback(self._stopped)
        self._loop.call_later(LONGEST_STOP_S, self._stopped, task)

    def _stopped(self, task: asyncio.Task[None] | None) -> None:
        if task is not None and self._stopping is task:
            self._stopping = None
            self._go_on()

    def _time_is_up(self, wait: WaitFor) -> None:
        self._timers.pop(wait.name, None)
        self.tell(wait.then)

    def _settle(self, settle: Settle) -> None:
        written = self._run.ledger.write(
            lambda unit: unit.npcs.settle(
                self._key,
                turn_id=settle.turn_id,
                played=settle.played,
                confirmed=settle.confirmed,
            )
        )
        written.add_done_callback(lambda done: self._remember(done, settle.turn_id))
        if settle.confirmed:
            written.add_done_callback(lambda done: self._answer(settle, done))

    def _answer(self, settle: Settle, done: asyncio.Future[Settled]) -> None:
        error = done.exception()
        if isinstance(error, FabulaError):
            sentence = f"The result could not be kept; send it again. {error.message}"
            self._refuse("busy", sentence, settle.turn_id)
        elif done.result() == "different":
            sentence = "Another result of this turn was kept before; the first one stays."
            self._refuse("duplicate_turn", sentence, settle.turn_id)
        elif done.result() == "unknown":
            sentence = "No turn of this agent has that id. Send the turn_id with which the turn started."
            self._refuse("unknown_turn", sentence, settle.turn_id)

    def _refuse(self, name: ProblemName, sentence: str, turn_id: str) -> None:
        self._send(NpcProblem(name=name, message=sentence, agent_id=self._agent_id, turn_id=turn_id))
