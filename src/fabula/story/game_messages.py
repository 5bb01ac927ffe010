"""What games and NPCs tell each other over the game socket: every message, each with its fields.

A message of the game is a tolerant value (see `fabula.story.npc`); one of ours is sent exactly as it stands here.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

from fabula.story.npc import (
    GameEvent,
    Name,
    NpcSpec,
    NpcState,
    NpcWorld,
    PlayedTag,
    Someone,
    TagSpec,
    Tolerant,
    ToolResult,
    ToolSpec,
)
from fabula.story.values import Json, JsonObject, Sparse

PROTOCOL = 1
EVERYBODY = "*"


class Hello(Tolerant):
    """Comes first, if at all. `client` names the game, `token` opens the door, `resume` is an old connection's id."""

    type: Literal["hello"] = "hello"
    protocol: int = PROTOCOL
    client: str | JsonObject | None = None
    token: str | None = None
    resume: str | None = None


class Ping(Tolerant):
    """Asks for a sign of life."""

    type: Literal["ping"] = "ping"
    id: Json = None


class InteractionEvent(Tolerant):
    """Something happened that the NPC reacts to: this starts a turn."""

    type: Literal["interaction_event"] = "interaction_event"
    agent_id: Name
    event_id: str = ""
    event_type: str = "player_speech"
    source: Someone = Someone()
    text: str = ""
    data: Json = None
    priority: float = 0
    interrupt: bool = True

    def event(self) -> GameEvent:
        return GameEvent.model_construct(
            **{name: getattr(self, name) for name in GameEvent.model_fields if name in type(self).model_fields}
        )


class NotificationEvent(Tolerant):
    """Something that NPCs notice. It is remembered for the next prompt and never starts or cancels a turn.

    One of `agent_id` and `agent_ids` names them; `"*"` means every NPC that this connection has spoken of.
    """

    type: Literal["notification_event"] = "notification_event"
    agent_id: str = ""
    agent_ids: list[Name] | Literal["*"] = []
    event_type: str
    text: str
    data: Json = None

    def event(self) -> GameEvent:
        return GameEvent(event_type=self.event_type, text=self.text, data=self.data)


class AgentStateSnapshot(Tolerant):
    """Answers `get_agent_state`: who the NPC is and what is around it now."""

    type: Literal["agent_state_snapshot"] = "agent_state_snapshot"
    agent_id: Name
    request_id: str = ""
    spec: NpcSpec = NpcSpec()
    world: NpcWorld = NpcWorld()
    tags: list[TagSpec] = []
    tools: list[ToolSpec] = []
    player: Someone = Someone()

    def state(self) -> NpcState:
        return NpcState.model_construct(**{name: getattr(self, name) for name in NpcState.model_fields})


class AgentTurnResult(Tolerant):
    """Tells what the game really played of a turn; only this enters the NPC's history."""

    type: Literal["agent_turn_result"] = "agent_turn_result"
    agent_id: Name
    turn_id: Name
    status: Literal["completed", "interrupted"] = "completed"
    tags: list[PlayedTag] = []


class ToolResults(Tolerant):
    """Tells what came of the tools that a turn used; with `continue` the NPC takes another turn on it."""

    type: Literal["tool_results"] = "tool_results"
    agent_id: Name
    turn_id: Name
    results: list[ToolResult] = []
    continue_: bool = False


class CancelTurn(Tolerant):
    """Ends the NPC's turn; without `turn_id`, whichever it is in."""

    type: Literal["cancel_turn"] = "cancel_turn"
    agent_id: Name
    turn_id: str = ""


ClientMessage = (
    Hello
    | Ping
    | InteractionEvent
    | NotificationEvent
    | AgentStateSnapshot
    | AgentTurnResult
    | ToolResults
    | CancelTurn
)
CLIENT_MESSAGES: dict[str, type[Tolerant]] = {
    kind.model_fields["type"].default: kind for kind in get_args(ClientMessage)
}

ErrorCode = Literal[
    "invalid_json",
    "unknown_type",
    "missing_field",
    "unknown_agent",
    "agent_state_timeout",
    "model_error",
    "unknown_turn",
    "duplicate_turn",
    "busy",
    "too_large",
    "unauthorized",
]
InterruptReason = Literal["newer_event", "client_cancel", "disconnect", "error"]


class Told(Sparse):
    """A message of ours. Fields in `optional` are left out while they are None."""

    hidden_from_log: ClassVar[bool] = False
    urgent: ClassVar[bool] = False
    """Whether a game waits for it and it should not wait for anything."""

    def frame(self) -> dict[str, Any]:
        """The message as plain data, ready to be written as JSON. Flat on purpose: this runs once for every chunk."""
        optional = self.optional
        return {name: value for name, value in self.__dict__.items() if value is not None or name not in optional}


class Welcome(Told):
    """Answers `hello`. `resume` lists the turns of the old connection that the game has not confirmed yet."""

    type: Literal["welcome"] = "welcome"
    protocol: int = PROTOCOL
    connection_id: str
    resume: JsonObject | None = None


class Pong(Told):
    """Answers `ping`."""

    optional = frozenset({"id"})
    hidden_from_log = True
    type: Literal["pong"] = "pong"
    id: Json = None
    ts_ms: int


class GetAgentState(Told):
    """Asks the game who the NPC is now; `agent_state_snapshot` answers within five seconds."""

    type: Literal["get_agent_state"] = "get_agent_state"
    agent_id: str
    request_id: str
    event_id: str


class AgentTurnStarted(Told):
    """A turn has begun; what follows under its `turn_id` belongs to it."""

    type: Literal["agent_turn_started"] = "agent_turn_started"
    agent_id: str
    turn_id: str
    event_id: str
    model: str


class AgentTagOpen(Told):
    """A tag begins; `index` counts the tags of a turn from 0."""

    type: Literal["agent_tag_open"] = "agent_tag_open"
    agent_id: str
    turn_id: str
    tag_id: str
    index: int
    tag: str
    attrs: dict[str, str]


class AgentTagChunk(Told):
    """More text of the open tag."""

    hidden_from_log = True
    type: Literal["agent_tag_chunk"] = "agent_tag_chunk"
    agent_id: str
    turn_id: str
    tag_id: str
    tag: str
    text: str


class AgentTagClose(Told):
    """A tag ends; `text` is all of it. `complete` is false when the model stopped in the middle."""

    type: Literal["agent_tag_close"] = "agent_tag_close"
    agent_id: str
    turn_id: str
    tag_id: str
    tag: str
    text: str
    complete: bool


class AgentTurnInterrupted(Told):
    """The turn ends early, and nothing of it follows. `open_tag_id` is the tag that stays unfinished."""

    optional = frozenset({"by_event_id", "open_tag_id"})
    urgent = True
    type: Literal["agent_turn_interrupted"] = "agent_turn_interrupted"
    agent_id: str
    turn_id: str
    reason: InterruptReason
    by_event_id: str | None = None
    open_tag_id: str | None = None


class AgentTurnFinished(Told):
    """The turn is over. `tag_count` tags were sent."""

    optional = frozenset({"usage"})
    type: Literal["agent_turn_finished"] = "agent_turn_finished"
    agent_id: str
    turn_id: str
    reason: Literal["stop", "length"]
    usage: dict[str, int] | None = None
    tag_count: int


class Problem(Told):
    """Something could not be done; the connection stays open. The sentence says what to do next."""

    optional = frozenset({"agent_id", "turn_id", "request_id", "details"})
    type: Literal["error"] = "error"
    code: ErrorCode
    message: str
    agent_id: str | None = None
    turn_id: str | None = None
    request_id: str | None = None
    details: JsonObject | None = None


ServerMessage = (
    Welcome
    | Pong
    | GetAgentState
    | AgentTurnStarted
    | AgentTagOpen
    | AgentTagChunk
    | AgentTagClose
    | AgentTurnInterrupted
    | AgentTurnFinished
    | Problem
)
