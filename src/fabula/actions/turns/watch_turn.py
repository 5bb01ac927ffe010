"""Watch a turn: from its beginning, or on from the last frame that was seen, also when it has long been over."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.actions.turns.turn_runner import ending_of
from fabula.ports.actors import Actor
from fabula.ports.bus import Frame
from fabula.ports.errors import InvalidRequest
from fabula.ports.plays import Turn
from fabula.story.events import Told

TurnFrames = AsyncGenerator[Frame[Told], None]


@dataclass(frozen=True, kw_only=True)
class WatchedTurn:
    """`turn` says whose frames they are, and who asked for them."""

    turn: Turn
    stream: str
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
        work = await unit.work.get(turn.turn_id)
    if work is None:
        return WatchedTurn(turn=turn, stream=turn.turn_id, frames=_only_end(house, turn, seen + 1))
    watched = await house.work.watch(turn.turn_id, stream=stream, after=seen)
    return WatchedTurn(turn=turn, stream=watched.stream, frames=watched.frames)


def _place(last_event_id: str) -> tuple[str, int]:
    stream, _, sequence = last_event_id.rpartition(":")
    if not stream or not sequence.isdecimal() or len(sequence) > 9:
        raise InvalidRequest("Last-Event-ID must be the id of a frame: `turn_...:number`.")
    return stream, int(sequence)


async def _only_end(house: House, turn: Turn, sequence: int) -> TurnFrames:
    """How a turn ended of which nothing else is remembered."""
    yield Frame(sequence=sequence, event=await ending_of(house, turn.turn_id), last=True)
