"""The envelope of the turn stream: events become the frames that clients read, exactly.

{"message_type": "stream", "request_id": ..., "session_id": ..., "sequence": 0, "frame": {"type": "started"}}
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from fabula.server.error_codes import error_payload
from fabula.story.error_values import ErrorValue
from fabula.story.events import Completed, Failed, Progress, Started, TurnEvent, TurnFrame, event_json, plain
from fabula.story.player_views import event_for_players
from fabula.story.turn_results import InkTurnResult, SceneTurnResult
from fabula.story.values import Json, JsonObject


class ErrorPayload(TypedDict):
    """What went wrong, and in a sentence what to do next."""

    code: int
    message: str
    data: NotRequired[Json]


class StartedFrame(TypedDict):
    """First, always."""

    type: Literal["started"]


class EventFrame(TypedDict):
    """Something happened."""

    type: Literal["event"]
    body: Annotated[TurnEvent | Progress, Field(discriminator="type")]


class TurnCompleted(TypedDict):
    type: Literal["turn_completed"]
    result: SceneTurnResult | InkTurnResult


class CompletedFrame(TypedDict):
    """Last: the turn is committed."""

    type: Literal["completed"]
    response: TurnCompleted


class FailedFrame(TypedDict):
    """Last: nothing of the turn is kept but the player's words."""

    type: Literal["failed"]
    error: ErrorPayload


StreamFrame = Annotated[StartedFrame | EventFrame | CompletedFrame | FailedFrame, Field(discriminator="type")]


class StreamMessage(TypedDict):
    """The data of one `event: message`."""

    message_type: Literal["stream"]
    request_id: str
    session_id: NotRequired[str]
    sequence: int
    frame: StreamFrame


class Envelope:
    """What stands around every frame of one stream; its head is written once.

    `for_player` says that whoever reads the stream sees no plans and thoughts.
    """

    def __init__(self, *, request_id: str, session_id: str | None = None, for_player: bool = False) -> None:
        self._for_player = for_player
        head = {"message_type": "stream", "request_id": request_id}
        written = orjson.dumps(head if session_id is None else {**head, "session_id": session_id})
        self._head = written[:-1] + b',"sequence":'

    def message(self, sequence: int, event: TurnFrame | Progress) -> bytes:
        """One message, as JSON on one line."""
        if self._for_player:
            event = event_for_players(event)
        return b'%b%d,"frame":%b}' % (self._head, sequence, orjson.dumps(frame_json(event), default=plain))


def frame_json(event: TurnFrame | Progress) -> Any:
    """The frame that clients read, for orjson; the last frames are what clients wait for, so they are whole."""
    match event:
        case Started():
            return {"type": "started"}
        case Completed():
            return {"type": "completed", "response": {"type": "turn_completed", "result": event.result}}
        case Failed():
            return {"type": "failed", "error": _failure(event.error)}
        case _:
            return {"type": "event", "body": event_json(event)}


def _failure(error: ErrorValue) -> JsonObject:
    """An error of a turn. `data.cause` tells of every failed model by its name: a client then offers to go on."""
    payload = error_payload(error)
    if error.name.startswith("model"):
        return {**payload, "data": {"cause": error.name, **error.data}}
    return payload
