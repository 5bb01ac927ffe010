"""Watch a turn: from its beginning, or on from the last frame that was seen, also when it has long been over."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import orjson

from fabula.actions.house import House
from fabula.actions.sessions import play_of
from fabula.ports.bus import Frame
from fabula.ports.errors import InvalidRequest
from fabula.ports.plays import Turn
from fabula.ports.store import Unit
from fabula.story.values import JsonObject


@dataclass(frozen=True, kw_only=True)
class WatchedTurn:
    turn_id: str
    frames: AsyncGenerator[Frame, None]


async def watched_turn(house: House, session_id: str, last_event_id: str) -> WatchedTurn | None:
    """The frames after `last_event_id` (`turn:sequence`), or of the turn in flight; None when nothing runs."""
    async with house.store.reading() as unit:
        play = await play_of(unit, session_id)
        if not last_event_id:
            turn_id, after = play.active_turn_id, -1
        else:
            turn_id, after = _place(last_event_id)
        if turn_id is None:
            return None
        turn = await unit.plays.turn(turn_id)
        if turn is None or turn.tree_id != play.tree_id:
            raise InvalidRequest("Last-Event-ID names no turn of this session. Read the session anew.")
        live = house.bus.listen(turn_id, after=after)
        if live is not None:
            return WatchedTurn(turn_id=turn_id, frames=live)
        ending = await _ending(unit, turn)
    return None if ending is None else WatchedTurn(turn_id=turn_id, frames=_once(ending, after + 1, turn))


def _place(last_event_id: str) -> tuple[str, int]:
    turn_id, _, sequence = last_event_id.rpartition(":")
    if not turn_id or not sequence.isdecimal() or len(sequence) > 9:
        raise InvalidRequest("Last-Event-ID must be the id of a frame: `turn_...:number`.")
    return turn_id, int(sequence)


async def _ending(unit: Unit, turn: Turn) -> JsonObject | None:
    """The last frame of a turn whose stream is forgotten: its result or its error is in the store."""
    if turn.status == "committed":
        result = await unit.plays.result(turn.turn_id)
        return {"type": "completed", "response": {"type": "turn_completed", "result": result}}
    if turn.status == "running":
        return None
    return {"type": "failed", "error": turn.error}


async def _once(frame: JsonObject, sequence: int, turn: Turn) -> AsyncGenerator[Frame, None]:
    message = {
        "message_type": "stream",
        "request_id": turn.request_id,
        "session_id": turn.session_id,
        "sequence": sequence,
        "frame": frame,
    }
    yield Frame(sequence=sequence, data=orjson.dumps(message), last=True)
