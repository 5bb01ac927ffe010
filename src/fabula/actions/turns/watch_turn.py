"""Watch a turn: from its beginning, or on from the last frame that was seen, also when it has long been over.

Who has seen a turn to its end is told the one that is in flight by then, or nothing, so that a client which asks again
by itself (a browser's EventSource) stops. The id of a last frame says so: frames are forgotten after a while, and then
nobody knows their number any more.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.actions.turns.turn_runner import ending_of
from fabula.ports.actors import Actor
from fabula.ports.bus import Frame
from fabula.ports.errors import InvalidRequest
from fabula.ports.plays import Turn
from fabula.ports.store import Unit
from fabula.ports.work import Work
from fabula.story.events import Told

TurnFrames = AsyncGenerator[Frame[Told], None]

END = ":end"
"""Behind the id of a turn: it was over when somebody came, and they know what it told."""

LOOK_AGAIN_S = 0.5

LAST = ":last"
"""What stands behind the id of a last frame."""


@dataclass(frozen=True, kw_only=True)
class SeenFrame:
    """A frame that a client has seen, as its id says: `stream:sequence`, and `:last` behind the last one."""

    stream: str
    sequence: int
    last: bool


@dataclass(frozen=True, kw_only=True)
class WatchedTurn:
    """`turn` says whose frames they are, and who asked for them."""

    turn: Turn
    stream: str
    frames: TurnFrames


@allowed("player")
async def watched_turn(house: House, actor: Actor, session_id: str, last_event_id: str) -> WatchedTurn | None:
    """The frames after `last_event_id`, or of the turn in flight; None when nothing runs."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        seen = _seen_frame(last_event_id) if last_event_id else None
        if seen is not None:
            turn = await _turn(unit, session_id, seen.stream.partition("~")[0])
            work = await unit.work.get(turn.turn_id)
            if _has_seen_the_end(seen, turn, work):
                seen = None
        if seen is None:
            if play.active_turn_id is None:
                return None
            turn = await _turn(unit, session_id, play.active_turn_id)
            work = await unit.work.get(turn.turn_id)
    return await _rest_of(house, turn, work, seen)


async def frames_of(house: House, turn: Turn) -> WatchedTurn:
    """The frames of a turn that a request began, or began when it came before: all of them, or the end of one that is
    over."""
    running = house.work.find(turn.turn_id)
    live = None if running is None else await house.bus.subscribe(running.held.work.stream)
    if running is not None and live is not None:
        return WatchedTurn(turn=turn, stream=running.held.work.stream, frames=live)
    async with house.store.reading() as unit:
        now, work = await unit.plays.turn(turn.turn_id) or turn, await unit.work.get(turn.turn_id)
    watched = await _rest_of(house, now, work, None)
    return watched if now.status == "running" else replace(watched, frames=_last_of(watched.frames))


async def whole_turn(house: House, session_id: str, turn_id: str) -> WatchedTurn:
    """All frames of a turn of a session that the caller may watch; of one that is long over only its end is known."""
    async with house.store.reading() as unit:
        turn = await _turn(unit, session_id, turn_id)
        work = await unit.work.get(turn_id)
    return await _rest_of(house, turn, work, None)


async def turn_from(house: House, actor: Actor, session_id: str, frame_seen: str) -> WatchedTurn | None:
    """The frames after one that was seen; an id with no number says that none of its turn was, or that it was over."""
    if frame_seen.endswith(END):
        return None
    if frame_seen.endswith(":"):
        return await whole_turn(house, session_id, frame_seen.removesuffix(":"))
    return await watched_turn(house, actor, session_id, frame_seen)


async def to_the_end(house: House, actor: Actor, watched: WatchedTurn) -> AsyncGenerator[tuple[str, Frame[Told]], None]:
    """The frames of a turn with their ids, to the last one, whichever process plays it to its end."""
    turn, seen = watched.turn, f"{watched.turn.turn_id}:"
    while True:
        async with aclosing(watched.frames):
            async for frame in watched.frames:
                seen = frame_id(watched.stream, frame.sequence, last=frame.last)
                yield seen, frame
                if frame.last:
                    return
        # A process that stops ends its streams; another one takes the turn up soon.
        await house.clock.sleep(LOOK_AGAIN_S)
        again = await turn_from(house, actor, turn.session_id, seen)
        if again is None or again.turn.turn_id != turn.turn_id:
            return
        watched = again


async def _last_of(frames: TurnFrames) -> TurnFrames:
    async with aclosing(frames):
        async for frame in frames:
            if frame.last:
                yield frame


def frame_id(stream: str, sequence: int, *, last: bool) -> str:
    return f"{stream}:{sequence}{LAST}" if last else f"{stream}:{sequence}"


def _seen_frame(id: str) -> SeenFrame:
    stream, _, sequence = id.removesuffix(LAST).rpartition(":")
    if not stream or not sequence.isdecimal() or len(sequence) > 9:
        raise InvalidRequest("Last-Event-ID must be the id of a frame: `turn_...:number`.")
    return SeenFrame(stream=stream, sequence=int(sequence), last=id.endswith(LAST))


async def _turn(unit: Unit, session_id: str, turn_id: str) -> Turn:
    turn = await unit.plays.turn(turn_id)
    if turn is None or turn.session_id != session_id:
        raise InvalidRequest("Last-Event-ID names no turn of this session. Read the session anew.")
    return turn


def _has_seen_the_end(seen: SeenFrame, turn: Turn, work: Work | None) -> bool:
    """A server that stops ends its streams, too; the turn then goes on under another name of its stream."""
    return seen.last and turn.status != "running" and (work is None or work.stream == seen.stream)


async def _rest_of(house: House, turn: Turn, work: Work | None, seen: SeenFrame | None) -> WatchedTurn:
    after = -1 if seen is None else seen.sequence
    if work is None:
        return WatchedTurn(turn=turn, stream=turn.turn_id, frames=_only_end(house, turn, after + 1))
    watched = await house.work.watch(turn.turn_id, stream="" if seen is None else seen.stream, after=after)
    return WatchedTurn(turn=turn, stream=watched.stream, frames=watched.frames)


async def _only_end(house: House, turn: Turn, sequence: int) -> TurnFrames:
    """How a turn ended of which nothing else is remembered."""
    yield Frame(sequence=sequence, event=await ending_of(house, turn.turn_id), last=True)
