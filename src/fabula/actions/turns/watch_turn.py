"""Watch a turn: from its beginning, or on from the last frame that was seen, also when it has long been over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.actions.plays.sessions import DELETED
from fabula.ports.actors import Actor
from fabula.ports.bus import Frame
from fabula.ports.errors import BackendError, InvalidRequest
from fabula.ports.plays import Turn
from fabula.story.error_values import Hint
from fabula.story.events import Completed, Failed, Told

LOOK_AGAIN_S = 0.5
SILENCE_S = 2.0
UNKNOWN = BackendError("The turn failed. Its words are kept.", hint=Hint.RETRY_TURN).value()


TurnFrames = AsyncGenerator[Frame[Told], None]


@dataclass(frozen=True, kw_only=True)
class WatchedTurn:
    """`turn` says whose frames they are, and who asked for them."""

    turn: Turn
    frames: TurnFrames


@allowed("player")
async def watched_turn(house: House, actor: Actor, session_id: str, last_event_id: str) -> WatchedTurn | None:
    """The frames after `last_event_id` (`stream:sequence`), or of the turn in flight; None when nothing runs."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        stream, seen = _place(last_event_id) if last_event_id else (play.active_turn_id, -1)
        if stream is None:
            return None
        turn = await unit.plays.turn(stream.partition("~")[0])
        if turn is None or turn.session_id != session_id:
            raise InvalidRequest("Last-Event-ID names no turn of this session. Read the session anew.")
    # A turn that was taken up again is told anew: what was seen of its first attempt does not count.
    after = seen if turn.stream == stream else -1
    return WatchedTurn(turn=turn, frames=await follow_turn(house, turn, after=after))


async def follow_turn(house: House, turn: Turn, *, after: int = -1) -> TurnFrames:
    """The frames of a turn, wherever it runs. Without a last one they end where another process took the turn up."""
    live = await house.bus.subscribe(turn.stream, after=after)
    if live is not None and turn.owner == house.owner:
        return live
    return _followed(house, turn, live, after + 1)


def _place(last_event_id: str) -> tuple[str, int]:
    stream, _, sequence = last_event_id.rpartition(":")
    if not stream or not sequence.isdecimal() or len(sequence) > 9:
        raise InvalidRequest("Last-Event-ID must be the id of a frame: `turn_...:number`.")
    return stream, int(sequence)


async def _followed(house: House, turn: Turn, live: TurnFrames | None, sequence: int) -> TurnFrames:
    """The frames of a turn that runs in another process, or that is over.

    The bus tells them. It may also know nothing, or fall silent because the other process died or the bus is away; then
    the store is asked how the turn ended, which is the last frame.
    """
    ended_before = False
    following = _Following(live)
    try:
        while True:
            frame = await following.next_frame()
            if frame is not None:
                yield frame
                if frame.last:
                    return
                sequence, ended_before = frame.sequence + 1, False
                continue
            now, ending = await _look(house, turn.turn_id)
            if ending is not None and (ended_before or not following.is_live):
                if not await _is_last(house, turn, sequence - 1):
                    yield Frame(sequence=sequence, event=ending, last=True)
                return
            if now is not None and now.stream != turn.stream:
                return
            # A turn ends in the store a moment before its last frame is sent: who is live may wait for that.
            ended_before = ending is not None
            if not following.is_live:
                await house.clock.sleep(LOOK_AGAIN_S)
                following = _Following(await house.bus.subscribe(turn.stream, after=sequence - 1))
    finally:
        await following.aclose()


async def _is_last(house: House, turn: Turn, sequence: int) -> bool:
    """Whether the frame with this number, which was seen, is known to be the last one."""
    live = await house.bus.subscribe(turn.stream, after=sequence - 1) if sequence >= 0 else None
    if live is None:
        return False
    async with aclosing(_Following(live)) as following:
        seen = await following.next_frame()
    return seen is not None and seen.last


class _Following:
    """A stream of the bus that is waited for only so long."""

    def __init__(self, live: TurnFrames | None) -> None:
        self._live = live
        self._next: asyncio.Task[Frame[Told] | None] | None = None

    @property
    def is_live(self) -> bool:
        return self._live is not None

    async def next_frame(self) -> Frame[Told] | None:
        """The next frame; None when there is none for a while, or no longer."""
        if self._live is None:
            return None
        # A task, because a generator that is interrupted while it waits cannot go on.
        self._next = self._next or asyncio.create_task(_next_of(self._live))
        done, _ = await asyncio.wait([self._next], timeout=SILENCE_S)
        if not done:
            return None
        frame, self._next = self._next.result(), None
        if frame is None:
            self._live = None
        return frame

    async def aclose(self) -> None:
        if self._next is not None:
            self._next.cancel()
            await asyncio.wait([self._next])
        if self._live is not None:
            await self._live.aclose()


async def _next_of(frames: TurnFrames) -> Frame[Told] | None:
    return await anext(frames, None)


async def _look(house: House, turn_id: str) -> tuple[Turn | None, Completed | Failed | None]:
    """A turn as the store has it, and its last frame; None while it runs."""
    async with house.store.reading() as unit:
        turn = await unit.plays.turn(turn_id)
        result = await unit.plays.result(turn_id)
    if turn is None:
        return None, Failed(error=DELETED)
    if turn.status == "running":
        return turn, None
    if turn.status == "committed":
        return turn, Completed(result=result or {})
    return turn, Failed(error=turn.error or UNKNOWN)
