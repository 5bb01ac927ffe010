"""Watch a turn: from its beginning, or on from the last frame that was seen, also when it has long been over."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.actions.plays.sessions import DELETED
from fabula.ports.bus import Frame
from fabula.ports.errors import BackendError, InvalidRequest
from fabula.ports.plays import Turn
from fabula.story.error_values import Hint
from fabula.story.events import Completed, Failed, Told

LOOK_AGAIN_S = 0.5
UNKNOWN = BackendError("The turn failed. Its words are kept.", hint=Hint.RETRY_TURN).value()


TurnFrames = AsyncGenerator[Frame[Told], None]


@dataclass(frozen=True, kw_only=True)
class WatchedTurn:
    """`turn` says whose frames they are, and who asked for them."""

    turn: Turn
    frames: TurnFrames


async def watched_turn(house: House, session_id: str, last_event_id: str) -> WatchedTurn | None:
    """The frames after `last_event_id` (`stream:sequence`), or of the turn in flight; None when nothing runs."""
    async with house.store.reading() as unit:
        play = await play_of(unit, session_id)
        stream, seen = _place(last_event_id) if last_event_id else (play.active_turn_id, -1)
        if stream is None:
            return None
        turn = await unit.plays.turn(stream.partition("~")[0])
        if turn is None or turn.tree_id != play.tree_id:
            raise InvalidRequest("Last-Event-ID names no turn of this session. Read the session anew.")
    # A turn that was taken up again is told anew: what was seen of its first attempt does not count.
    after = seen if turn.stream == stream else -1
    live = await house.bus.subscribe(turn.stream, after=after)
    return WatchedTurn(turn=turn, frames=live or _followed(house, turn, after + 1))


def _place(last_event_id: str) -> tuple[str, int]:
    stream, _, sequence = last_event_id.rpartition(":")
    if not stream or not sequence.isdecimal() or len(sequence) > 9:
        raise InvalidRequest("Last-Event-ID must be the id of a frame: `turn_...:number`.")
    return stream, int(sequence)


async def _followed(house: House, turn: Turn, sequence: int) -> TurnFrames:
    """The end of a turn whose frames are not here: it is over and forgotten, or runs in another process."""
    while (ending := await _ending(house, turn.turn_id)) is None:
        await house.clock.sleep(LOOK_AGAIN_S)
    yield Frame(sequence=sequence, event=ending, last=True)


async def _ending(house: House, turn_id: str) -> Completed | Failed | None:
    """The last frame of a turn, from the store; None while it runs."""
    async with house.store.reading() as unit:
        turn = await unit.plays.turn(turn_id)
        result = await unit.plays.result(turn_id)
    if turn is None:
        return Failed(error=DELETED)
    if turn.status == "running":
        return None
    if turn.status == "committed":
        return Completed(result=result or {})
    return Failed(error=turn.error or UNKNOWN)
