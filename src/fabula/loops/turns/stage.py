"""The stage: what happens in a turn goes from here to everyone who watches, as events of the turn's stream.

Text that arrives in quick succession is sent as one event: the first piece at once, what follows within a few
milliseconds together. It costs no one a visible delay and the server a fraction of the work. Where many turns run,
more is gathered, already where a model's answer is read (`gather_s`).
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final, Protocol

from fabula.loops.turns.turn_recorder import TurnRecorder
from fabula.ports.bus import Sender
from fabula.ports.work import NewWork
from fabula.story.error_values import ErrorValue
from fabula.story.events import (
    AgentDegraded,
    Completed,
    Delta,
    Failed,
    InkText,
    Started,
    StateOpRefused,
    TextDelta,
    TurnEvent,
    TurnFrame,
    event_fields,
)
from fabula.story.values import Json, JsonObject

GATHER_S: Final = 0.015
GATHER_PER_CALL_S: Final = 0.002
LONGEST_GATHER_S: Final = 0.1
MOST_NOTES: Final = 20


def gather_s(calls: int) -> float:
    """How long the pieces of an answer are gathered while that many models are asked: not at all while they are few."""
    wanted = min(LONGEST_GATHER_S, calls * GATHER_PER_CALL_S)
    return wanted if wanted > GATHER_S else 0.0


class Tell(Protocol):
    """Says that something happened."""

    def __call__(self, event: TurnEvent, /) -> None: ...


def unheard(event: TurnEvent) -> None:
    """For what happens before anybody can watch, as when a story opens; the transcript has it."""


class Stage:
    """The writing end of one turn's stream."""

    def __init__(
        self, sender: Sender[TurnFrame], *, gather_s: float = 0.0, recorder: TurnRecorder | None = None
    ) -> None:
        self._sender, self.gather_s = sender, gather_s
        # Kept, because finding the loop that runs asks the system for the process, and that for every piece of text.
        self._loop = asyncio.get_running_loop()
        self.recorder = recorder or TurnRecorder(self._loop.time)
        self._gathered: TextDelta | None = None
        self._place: object = None
        self._texts: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._gathers_until = 0.0
        self._ended = False
        self._notes: list[Json] = []
        self.cut = False
        self.follow: NewWork | None = None

    @property
    def ended(self) -> bool:
        """Whether the last frame was sent."""
        return self._ended

    @property
    def notes(self) -> list[Json]:
        """What was refused and who was helped out, for those who read the turn later. A turn that was taken up again
        has only what happened since."""
        return self._notes[:MOST_NOTES]

    def start(self) -> None:
        """The stream begins."""
        self._sender.send(Started())

    def tell(self, event: TurnEvent) -> None:
        """Something happened. Text of the same place is gathered; empty text is not worth an event."""
        if isinstance(event, Delta):
            self._tell_text(event)
        else:
            self._flush()
            if isinstance(event, StateOpRefused | AgentDegraded):
                self._notes.append(event_fields(event))
            self._sender.send(event)
            if isinstance(event, AgentDegraded):
                self.recorder.degraded.append((event.agent, event.reason))
            elif isinstance(event, InkText):
                self.recorder.tell()

    def complete(self, result: JsonObject, *, follow: NewWork | None = None) -> None:
        """The turn is done and kept, with the work on what follows it."""
        self.cut, self.follow = result.get("cut") is True, follow
        self._end(Completed(result=result))

    def fail(self, error: ErrorValue) -> None:
        """The turn failed whole; nothing of it is kept but the player's input."""
        self._end(Failed(error=error))

    def pass_on(self) -> None:
        """Sends the text that was gathered so far: nothing follows it."""
        self._flush()

    async def flush(self) -> None:
        """Returns when everything that was told can be read by others."""
        self._flush()
        await self._sender.flush()

    def _tell_text(self, event: TextDelta) -> None:
        if not event.delta:
            return
        if self._goes_on(event) and self._is_quick():
            self._texts.append(event.delta)
            return
        self._flush()
        if self.recorder.first_text is None:
            self.recorder.tell()
        self._send_text(event)
        self._gathered, self._place = event, event.place(event)

    def _is_quick(self) -> bool:
        """Whether a piece comes soon after the last one was sent. Only then is a timer worth its price."""
        if self._timer is None and self._loop.time() < self._gathers_until:
            self._timer = self._loop.call_at(self._gathers_until, self._time_is_up)
        return self._timer is not None

    def _goes_on(self, event: TextDelta) -> bool:
        return type(self._gathered) is type(event) and event.place(event) == self._place

    def _time_is_up(self) -> None:
        self._timer = None
        if self._texts:
            self._send_gathered()

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._texts:
            self._send_gathered()

    def _send_gathered(self) -> None:
        text, self._texts = "".join(self._texts), []
        assert self._gathered is not None
        self._send_text(replace(self._gathered, delta=text))

    def _send_text(self, event: TextDelta) -> None:
        self._gathers_until = self._loop.time() + GATHER_S
        self._sender.send(event)

    def _end(self, frame: Completed | Failed) -> None:
        self._flush()
        self._ended = True
        self._sender.send(frame, last=True)
