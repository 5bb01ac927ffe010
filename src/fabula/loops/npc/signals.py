"""What can happen to an NPC, and what is then to be done: the vocabulary of the floor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fabula.rules.guardrails import Objection
from fabula.story.npc import GameEvent, Lived, NpcState, PlayedTag, ToolResult
from fabula.story.npc_events import EndReason, NpcEvent


@dataclass(frozen=True, kw_only=True)
class Addressed:
    """The game tells of an event that the NPC reacts to."""

    event: GameEvent


@dataclass(frozen=True, kw_only=True)
class StateArrived:
    """The game says who the NPC is; an empty `request_id` answers whatever was asked."""

    request_id: str
    state: NpcState


@dataclass(frozen=True, kw_only=True)
class StateOverdue:
    request_id: str


@dataclass(frozen=True, kw_only=True)
class TurnReady:
    """The turn is kept durably and the model is about to be asked."""

    turn_id: str
    model: str
    last_says: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PieceCame:
    """Some text of the model's reply. `attempt` tells a second reply of the same turn from the first."""

    turn_id: str
    attempt: int = 1
    text: str


@dataclass(frozen=True, kw_only=True)
class ReplyEnded:
    turn_id: str
    attempt: int = 1
    reason: EndReason = "stop"
    usage: dict[str, int] | None = None


@dataclass(frozen=True, kw_only=True)
class ReplyFailed:
    turn_id: str
    attempt: int = 1
    message: str


@dataclass(frozen=True, kw_only=True)
class CancelAsked:
    """The game wants the turn to end; an empty `turn_id` means whichever it is."""

    turn_id: str = ""


@dataclass(frozen=True, kw_only=True)
class ResultCame:
    """The game says what it really played of a turn."""

    turn_id: str
    status: Literal["completed", "interrupted"]
    tags: tuple[PlayedTag, ...]


@dataclass(frozen=True, kw_only=True)
class ResultOverdue:
    turn_id: str


@dataclass(frozen=True, kw_only=True)
class ToolsAnswered:
    turn_id: str
    results: tuple[ToolResult, ...]
    goes_on: bool


@dataclass(frozen=True, kw_only=True)
class Gone:
    """The connection is lost."""


Happening = (
    Addressed
    | StateArrived
    | StateOverdue
    | TurnReady
    | PieceCame
    | ReplyEnded
    | ReplyFailed
    | CancelAsked
    | ResultCame
    | ResultOverdue
    | ToolsAnswered
    | Gone
)


@dataclass(frozen=True, kw_only=True)
class Tell:
    """Tell the game of an event."""

    event: NpcEvent


@dataclass(frozen=True, kw_only=True)
class Begin:
    """Keep the turn, recall, and ask the model. `pending` is what was sent lately and is not settled yet; `crossed` is
    the line that the first reply crossed."""

    turn_id: str
    event: GameEvent
    state: NpcState
    attempt: int = 1
    pending: tuple[Lived, ...] = ()
    crossed: str | None = None


@dataclass(frozen=True, kw_only=True)
class Note:
    """Write down what guardrails objected to."""

    objections: tuple[Objection, ...]


@dataclass(frozen=True, kw_only=True)
class Stop:
    """End the model's reply upstream; what stands behind this waits until that is done."""

    turn_id: str


@dataclass(frozen=True, kw_only=True)
class WaitFor:
    """Tell `then` when the time is over, unless `NoLongerWaitFor` comes first."""

    name: str
    seconds: float
    then: StateOverdue | ResultOverdue


@dataclass(frozen=True, kw_only=True)
class NoLongerWaitFor:
    name: str


@dataclass(frozen=True, kw_only=True)
class Settle:
    """Keep what was played of a turn, as the game confirmed it or, unconfirmed, as it was sent."""

    turn_id: str
    played: tuple[PlayedTag, ...]
    confirmed: bool


@dataclass(frozen=True, kw_only=True)
class Drop:
    """Forget a turn that never started."""

    turn_id: str


@dataclass(frozen=True, kw_only=True)
class Notice:
    """Keep something that the NPC noticed."""

    event: GameEvent = field(default_factory=GameEvent)


Effect = Tell | Begin | Note | Stop | WaitFor | NoLongerWaitFor | Settle | Drop | Notice
