"""What games and NPCs tell each other, as values: what reaches an NPC, and what it tells its game.

How a game writes and reads these is the business of its door (`fabula.server.game_socket.wire`). With a hundred NPCs
speaking at once, a `TagText` is made for every piece of every model's answer: these are plain slotted objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fabula.story.npc import GameEvent, NpcState, PlayedTag, ToolResult

EVERYBODY = "*"

InterruptReason = Literal["newer_event", "client_cancel", "disconnect", "error"]
EndReason = Literal["stop", "length"]
ProblemName = Literal[
    "unknown_agent", "agent_state_timeout", "model_error", "unknown_turn", "duplicate_turn", "busy", "line_crossed"
]


@dataclass(frozen=True, kw_only=True, slots=True)
class EventCame:
    """Something happened that the NPC reacts to: this starts a turn."""

    agent_id: str
    event: GameEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class NoticeCame:
    """Something that NPCs notice. `EVERYBODY` among them means every NPC that the connection has spoken of."""

    agent_ids: tuple[str, ...]
    event: GameEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class StateCame:
    """Who the NPC is and what is around it now; an empty `request_id` answers whatever was asked."""

    agent_id: str
    request_id: str
    state: NpcState


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnPlayed:
    """What the game really played of a turn."""

    agent_id: str
    turn_id: str
    status: Literal["completed", "interrupted"]
    tags: tuple[PlayedTag, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolsUsed:
    """What came of the tools that a turn used; with `goes_on` the NPC takes another turn on it."""

    agent_id: str
    turn_id: str
    results: tuple[ToolResult, ...]
    goes_on: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class CancelCame:
    """The game ends the NPC's turn; an empty `turn_id` means whichever it is in."""

    agent_id: str
    turn_id: str


GameMessage = EventCame | NoticeCame | StateCame | TurnPlayed | ToolsUsed | CancelCame


@dataclass(frozen=True, kw_only=True, slots=True)
class StateAsked:
    """The game is asked who the NPC is now; it answers within five seconds."""

    agent_id: str
    request_id: str
    event_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NpcTurnStarted:
    """A turn has begun; what follows under its `turn_id` belongs to it."""

    agent_id: str
    turn_id: str
    event_id: str
    model: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TagOpened:
    """A tag begins; `index` counts the tags of a turn from 0."""

    agent_id: str
    turn_id: str
    tag_id: str
    index: int
    tag: str
    attrs: dict[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class TagText:
    """More text of the open tag."""

    agent_id: str
    turn_id: str
    tag_id: str
    tag: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TagClosed:
    """A tag ends; `text` is all of it. `complete` is false when the model stopped in the middle."""

    agent_id: str
    turn_id: str
    tag_id: str
    tag: str
    text: str
    complete: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class NpcTurnInterrupted:
    """The turn ends early, and nothing of it follows. `open_tag_id` is the tag that stays unfinished."""

    agent_id: str
    turn_id: str
    reason: InterruptReason
    by_event_id: str | None = None
    open_tag_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NpcTurnFinished:
    """The turn is over. `tag_count` tags were sent."""

    agent_id: str
    turn_id: str
    reason: EndReason
    usage: dict[str, int] | None = None
    tag_count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NpcProblem:
    """Something could not be done. The sentence says what to do next."""

    name: ProblemName
    message: str
    agent_id: str | None
    turn_id: str | None = None
    request_id: str | None = None


NpcEvent = (
    StateAsked | NpcTurnStarted | TagOpened | TagText | TagClosed | NpcTurnInterrupted | NpcTurnFinished | NpcProblem
)
