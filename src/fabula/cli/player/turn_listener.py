"""Hearing a turn out: it is told while it is played, and Ctrl+C stops it. Plays of both kinds are heard alike."""

from __future__ import annotations

import asyncio
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator

from fabula.actions.house import House
from fabula.actions.turns.run_turn import CancelTurn, cancel_turn
from fabula.actions.turns.watch_turn import watched_turn
from fabula.cli.player.sentences import for_terminal, model_failure
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.cli.player.wait_notice import wait_notice
from fabula.ports.actors import OPERATOR
from fabula.ports.bus import Frame
from fabula.ports.errors import FabulaError
from fabula.ports.plays import Turn
from fabula.story.error_values import ErrorValue, Hint
from fabula.story.events import Completed, Failed, Progress, Started, Told, TurnEvent, TurnFrame

WAYS_ON = (
    "/retry            asks again.",
    "/understudy       plays this turn without a model.",
    "/model [NAME]     takes another model for this play.",
)
STOPPED = "Stopped. Your words are kept: /retry says them again."


class Teller(ABC):
    """Shows the frames of turns on writer; what happens in them differs between the kinds of plays.

    `names` are those of the cast, by their ids.
    """

    def __init__(self, writer: TerminalWriter) -> None:
        self.writer = writer
        self.names: dict[str, str] = {}

    def frame(self, frame: TurnFrame) -> None:
        """One frame of the turn stream."""
        match frame:
            case Started():
                pass
            case Failed():
                self._close()
                self._failed(frame.error)
            case Completed():
                self._close()
            case _:
                self._event(frame)

    def _failed(self, error: ErrorValue) -> None:
        """Whatever went wrong, the words are kept; of a model that failed it is said what can be done now."""
        self.writer.failed_turns += 1
        if (sentence := model_failure(error)) is not None:
            self.writer.say(f"{sentence} Your words are kept.", "red")
            self.writer.say(error.message, "dim", indent=2)
            for way in WAYS_ON:
                self.writer.row(way, indent=2)
            return
        sentence = error.message if error.hint is Hint.RETRY_TURN else for_terminal(error)
        self.writer.say(f"{sentence} (/retry says it again.)", "red")

    def stopped(self) -> None:
        """The stream ended in the middle: the player stopped the turn."""
        self._close()
        self.writer.say(STOPPED, "yellow")

    @abstractmethod
    def _event(self, event: TurnEvent) -> None:
        """Something happened."""

    @abstractmethod
    def _close(self) -> None:
        """Ends the line that is being told, if one is."""


async def hear_turn(house: House, turn: Turn, teller: Teller) -> bool:
    """Tells a turn that has just begun; answers whether it was played to its end."""
    frames = await house.bus.subscribe(turn.turn_id)
    assert frames is not None, "a turn that has just begun can be heard"
    return await _hear(house, turn.session_id, frames, teller)


async def hear_the_rest(house: House, session_id: str, turn_id: str, teller: Teller) -> bool:
    """Waits for a turn that was being played when the player came back; answers whether it was played to its end.

    Another process may play it, which tells here only how it ends. So it is not told: whoever asks shows it then.
    """
    teller.writer.gap()
    teller.writer.say("Your last words are still being played. Ctrl+C stops them.", "dim")
    return await _hear(house, session_id, _ending(house, session_id, turn_id), teller)


async def _ending(house: House, session_id: str, turn_id: str) -> AsyncIterator[Frame[Told]]:
    """The last frame of a turn, whichever process plays it to its end: one may take it up from another."""
    while True:
        watched = await watched_turn(house, OPERATOR, session_id, f"{turn_id}:0")
        assert watched is not None, "a turn that is named can be watched"
        async for frame in watched.frames:
            if frame.last:
                yield frame
                return


async def _hear(house: House, session_id: str, frames: AsyncIterator[Frame[Told]], teller: Teller) -> bool:
    last: TurnFrame | None = None
    async with (
        _Interrupts(house, session_id, teller.writer) as interrupts,
        wait_notice(teller.writer, house.clock, teller.names) as notice,
    ):
        async for frame in frames:
            if isinstance(frame.event, Progress):
                continue
            last = frame.event
            if not (isinstance(last, Failed) and interrupts.pressed):
                teller.frame(last)
            notice.saw(last)
    played = isinstance(last, Completed)
    if not played and (not isinstance(last, Failed) or interrupts.pressed):
        teller.stopped()
    return played


class _Interrupts:
    """While a turn runs, Ctrl+C stops it; a second Ctrl+C leaves the player."""

    def __init__(self, house: House, session_id: str, writer: TerminalWriter) -> None:
        self._house, self._session_id, self._writer = house, session_id, writer
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._before = signal.getsignal(signal.SIGINT)
        self._stopping: asyncio.Task[None] | None = None

    @property
    def pressed(self) -> bool:
        return self._stopping is not None

    async def __aenter__(self) -> _Interrupts:
        if sys.platform != "win32":
            self._loop.add_signal_handler(signal.SIGINT, self._interrupted)
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if self._stopping is not None and kind is None:
            await self._stopping
        if sys.platform != "win32":
            self._loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, signal.default_int_handler if self._before is None else self._before)

    def _interrupted(self) -> None:
        if self._stopping is None:
            self._stopping = self._loop.create_task(self._stop())
        elif self._task is not None:
            self._task.cancel()

    async def _stop(self) -> None:
        try:
            await cancel_turn(self._house, OPERATOR, self._session_id, CancelTurn())
        except FabulaError as error:
            # It was over before it could be stopped.
            self._writer.say(for_terminal(error), "yellow")
