"""What happens to a session, for those who have it open: that a turn began or is over, that the head moved.

These are hints, small and few: whoever hears one reads what it needs. The text of a turn has a stream of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

import orjson
from pydantic import Field, TypeAdapter

from fabula.story.events import Event, event_json, plain

MOST_IDS = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedSnapshot(Event):
    """Where the session stands. First, unless the client names an event after which nothing was missed: read anew."""

    type: Literal["snapshot"] = "snapshot"
    head_turn_id: str
    active_turn_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnBegan(Event):
    """A turn began; `GET /sessions/{session_id}/events` tells it. `by` is the id of the token that began it, if any."""

    type: Literal["turn_began"] = "turn_began"
    turn_id: str
    by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnOver(Event):
    """A turn ended: `committed`, `cut`, `failed` or `cancelled`."""

    type: Literal["turn_over"] = "turn_over"
    turn_id: str
    status: Literal["committed", "cut", "failed", "cancelled"]


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadMoved(Event):
    """The session now stands at this turn: it was played, somebody went there, or it is a change by hand."""

    type: Literal["head_moved"] = "head_moved"
    turn_id: str
    by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MessagesChanged(Event):
    """Lines were added, corrected or struck out by hand. Of very many no ids are told: read the transcript anew."""

    type: Literal["messages_changed"] = "messages_changed"
    message_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class VariablesChanged(Event):
    """Variables were changed by hand."""

    type: Literal["variables_changed"] = "variables_changed"


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfigChanged(Event):
    """The session has another name, player, models, prompts or budget."""

    type: Literal["config_changed"] = "config_changed"


@dataclass(frozen=True, kw_only=True, slots=True)
class CanonCommitted(Event):
    """The canon keeper judged what was proposed up to this turn: so many changes became canon of the play, were
    rejected, or wait for somebody to decide."""

    type: Literal["canon_committed"] = "canon_committed"
    turn_id: str
    accepted: int
    rejected: int
    pending: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedSessionDeleted(Event):
    """The session is gone. Last."""

    type: Literal["session_deleted"] = "session_deleted"


@dataclass(frozen=True, kw_only=True, slots=True)
class Seat:
    """Somebody who has the session open. `name` is what they call themselves, else the label of their token."""

    seat_id: str
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Presence(Event):
    """Who has the session open now, in the order of their names. `you` is the listener's own `seat_id`."""

    type: Literal["presence"] = "presence"
    seats: tuple[Seat, ...]
    you: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SeatHere(Event):
    """Between servers: somebody is here, and will say so again. With `asks` the others are to say it, too."""

    type: Literal["seat_here"] = "seat_here"
    seat_id: str
    name: str
    asks: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class SeatGone(Event):
    """Between servers: somebody closed the session, at least in one place."""

    type: Literal["seat_gone"] = "seat_gone"
    seat_id: str


SessionEvent = (
    TurnBegan
    | TurnOver
    | HeadMoved
    | MessagesChanged
    | VariablesChanged
    | ConfigChanged
    | CanonCommitted
    | FeedSessionDeleted
)
FeedEvent = FeedSnapshot | SessionEvent | Presence
SeatNote = SeatHere | SeatGone
FeedNote = SessionEvent | SeatNote
"""What travels between servers; what a client hears of seats is a `Presence`."""


def encode_feed_event(event: FeedNote) -> bytes:
    """An event as bytes, for servers that share a store."""
    return orjson.dumps(event_json(event), default=plain)


def decode_feed_event(data: bytes) -> FeedNote:
    """The event that was encoded; raises ValueError when the bytes are none."""
    return _reader().validate_json(data)


@cache
def _reader() -> TypeAdapter[FeedNote]:
    return TypeAdapter(Annotated[FeedNote, Field(discriminator="type")])
