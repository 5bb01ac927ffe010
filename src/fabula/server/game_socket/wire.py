"""What stands on the wire between a game and Fabula: every message with its fields, read from frames and written.

1. A message of the game is a tolerant value (see `fabula.story.npc`). `read_frame` makes one of a frame, or says what
   is wrong with it; whatever arrives, nothing is raised. `for_npcs` makes of it what NPCs understand.
2. A message of ours is sent exactly as it stands here; `written` makes one of what an NPC tells.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, NotRequired, assert_never, cast, get_args

import orjson
from pydantic import StringConstraints, ValidationError
from typing_extensions import TypedDict, TypeIs

from fabula.formats.json_bounds import value_count
from fabula.story.boundaries import Boundaries
from fabula.story.misfits import misfits, place_of
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
from fabula.story.npc_events import (
    EVERYBODY,
    CancelCame,
    EndReason,
    EventCame,
    GameMessage,
    InterruptReason,
    NoticeCame,
    NpcEvent,
    NpcProblem,
    NpcTurnFinished,
    NpcTurnInterrupted,
    NpcTurnStarted,
    ProblemName,
    StateAsked,
    StateCame,
    TagClosed,
    TagOpened,
    TagText,
    ToolsUsed,
    TurnPlayed,
)
from fabula.story.values import Json, JsonObject

PROTOCOL = 1
LARGEST_FRAME = 256 * 1024
LARGEST_EVENT = 64 * 1024
"""Of a message that is kept: all but an NPC's state, which is only known until the next one."""
DEEPEST_FRAME = 64
MOST_VALUES = 10_000
"""In one frame. Each value costs far more time and memory than its bytes."""
MOST_KEPT_VALUES = 1_000
"""In a message that is kept: each turn of an NPC reads the last 32 of them again."""
LONGEST_EVENT_ID = 1_000


class Hello(Tolerant):
    """Comes first, if at all. `client` names the game, `token` opens the door, `resume` is an old connection's id.

    `boundaries` are what must not happen in this game, and what is not shown: they count from the next turn on.
    """

    type: Literal["hello"] = "hello"
    protocol: int = PROTOCOL
    client: str | JsonObject | None = None
    token: str | None = None
    resume: str | None = None
    boundaries: Boundaries | None = None


class Ping(Tolerant):
    """Asks for a sign of life."""

    type: Literal["ping"] = "ping"
    id: Json = None


class InteractionEvent(Tolerant):
    """Something happened that the NPC reacts to: this starts a turn."""

    type: Literal["interaction_event"] = "interaction_event"
    agent_id: Name
    event_id: Annotated[str, StringConstraints(max_length=LONGEST_EVENT_ID)] = ""
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

    def names(self) -> tuple[str, ...]:
        several = [EVERYBODY] if self.agent_ids == EVERYBODY else [*self.agent_ids]
        return (*several, self.agent_id) if self.agent_id else (*several,)


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


NpcMessage = InteractionEvent | NotificationEvent | AgentStateSnapshot | AgentTurnResult | ToolResults | CancelTurn
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
_KEPT: Final = (InteractionEvent, NotificationEvent, AgentTurnResult, ToolResults)
CLIENT_MESSAGES: dict[str, type[Tolerant]] = {
    kind.model_fields["type"].default: kind for kind in get_args(ClientMessage)
}

ErrorCode = Literal["invalid_json", "unknown_type", "missing_field", "too_large", "unauthorized"] | ProblemName


class Welcome(TypedDict):
    """Answers `hello`. `resume` lists the turns of the old connection that the game has not confirmed yet."""

    type: Literal["welcome"]
    protocol: int
    connection_id: str
    resume: JsonObject | None


class Pong(TypedDict):
    """Answers `ping`."""

    type: Literal["pong"]
    id: NotRequired[Json]
    ts_ms: int


class GetAgentState(TypedDict):
    """Asks the game who the NPC is now; `agent_state_snapshot` answers within five seconds."""

    type: Literal["get_agent_state"]
    agent_id: str
    request_id: str
    event_id: str


class AgentTurnStarted(TypedDict):
    """A turn has begun; what follows under its `turn_id` belongs to it."""

    type: Literal["agent_turn_started"]
    agent_id: str
    turn_id: str
    event_id: str
    model: str


class AgentTagOpen(TypedDict):
    """A tag begins; `index` counts the tags of a turn from 0."""

    type: Literal["agent_tag_open"]
    agent_id: str
    turn_id: str
    tag_id: str
    index: int
    tag: str
    attrs: dict[str, str]


class AgentTagChunk(TypedDict):
    """More text of the open tag."""

    type: Literal["agent_tag_chunk"]
    agent_id: str
    turn_id: str
    tag_id: str
    tag: str
    text: str


class AgentTagClose(TypedDict):
    """A tag ends; `text` is all of it. `complete` is false when the model stopped in the middle."""

    type: Literal["agent_tag_close"]
    agent_id: str
    turn_id: str
    tag_id: str
    tag: str
    text: str
    complete: bool


class AgentTurnInterrupted(TypedDict):
    """The turn ends early, and nothing of it follows. `open_tag_id` is the tag that stays unfinished."""

    type: Literal["agent_turn_interrupted"]
    agent_id: str
    turn_id: str
    reason: InterruptReason
    by_event_id: NotRequired[str]
    open_tag_id: NotRequired[str]


class AgentTurnFinished(TypedDict):
    """The turn is over. `tag_count` tags were sent."""

    type: Literal["agent_turn_finished"]
    agent_id: str
    turn_id: str
    reason: EndReason
    usage: NotRequired[dict[str, int]]
    tag_count: int


class Problem(TypedDict):
    """Something could not be done; the connection stays open. The sentence says what to do next."""

    type: Literal["error"]
    code: ErrorCode
    message: str
    agent_id: NotRequired[str]
    turn_id: NotRequired[str]
    request_id: NotRequired[str]
    details: NotRequired[JsonObject]


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


def written(event: NpcEvent) -> ServerMessage:
    """The message that tells a game of an event. Flat on purpose: this runs once for every piece."""
    match event:
        case TagText():
            return {
                "type": "agent_tag_chunk",
                "agent_id": event.agent_id,
                "turn_id": event.turn_id,
                "tag_id": event.tag_id,
                "tag": event.tag,
                "text": event.text,
            }
        case TagOpened():
            return {
                "type": "agent_tag_open",
                "agent_id": event.agent_id,
                "turn_id": event.turn_id,
                "tag_id": event.tag_id,
                "index": event.index,
                "tag": event.tag,
                "attrs": event.attrs,
            }
        case TagClosed():
            return {
                "type": "agent_tag_close",
                "agent_id": event.agent_id,
                "turn_id": event.turn_id,
                "tag_id": event.tag_id,
                "tag": event.tag,
                "text": event.text,
                "complete": event.complete,
            }
        case StateAsked():
            return {
                "type": "get_agent_state",
                "agent_id": event.agent_id,
                "request_id": event.request_id,
                "event_id": event.event_id,
            }
        case NpcTurnStarted():
            return {
                "type": "agent_turn_started",
                "agent_id": event.agent_id,
                "turn_id": event.turn_id,
                "event_id": event.event_id,
                "model": event.model,
            }
        case NpcTurnInterrupted():
            return _interrupted(event)
        case NpcTurnFinished():
            return _finished(event)
        case NpcProblem():
            return problem(
                event.name,
                event.message,
                agent_id=event.agent_id,
                turn_id=event.turn_id,
                request_id=event.request_id,
            )
        case _:
            assert_never(event)


def _interrupted(event: NpcTurnInterrupted) -> AgentTurnInterrupted:
    message: AgentTurnInterrupted = {
        "type": "agent_turn_interrupted",
        "agent_id": event.agent_id,
        "turn_id": event.turn_id,
        "reason": event.reason,
    }
    if event.by_event_id is not None:
        message["by_event_id"] = event.by_event_id
    if event.open_tag_id is not None:
        message["open_tag_id"] = event.open_tag_id
    return message


def _finished(event: NpcTurnFinished) -> AgentTurnFinished:
    message: AgentTurnFinished = {
        "type": "agent_turn_finished",
        "agent_id": event.agent_id,
        "turn_id": event.turn_id,
        "reason": event.reason,
        "tag_count": event.tag_count,
    }
    if event.usage is not None:
        message["usage"] = event.usage
    return message


def pong(id: Json, ts_ms: int) -> Pong:
    """Answers a ping with its id, if it has one."""
    return {"type": "pong", "ts_ms": ts_ms} if id is None else {"type": "pong", "id": id, "ts_ms": ts_ms}


def welcome(connection_id: str, resume: JsonObject | None) -> Welcome:
    return {"type": "welcome", "protocol": PROTOCOL, "connection_id": connection_id, "resume": resume}


def problem(
    code: ErrorCode,
    message: str,
    *,
    agent_id: str | None = None,
    turn_id: str | None = None,
    request_id: str | None = None,
    details: JsonObject | None = None,
) -> Problem:
    """Says what could not be done, with what is known of it."""
    told: Problem = {"type": "error", "code": code, "message": message}
    if agent_id is not None:
        told["agent_id"] = agent_id
    if turn_id is not None:
        told["turn_id"] = turn_id
    if request_id is not None:
        told["request_id"] = request_id
    if details is not None:
        told["details"] = details
    return told


def for_npcs(message: NpcMessage) -> GameMessage | Problem:
    """What a message of the game means to NPCs, or why nobody can be meant."""
    match message:
        case InteractionEvent():
            return EventCame(agent_id=message.agent_id, event=message.event())
        case AgentStateSnapshot():
            return StateCame(agent_id=message.agent_id, request_id=message.request_id, state=message.state())
        case NotificationEvent():
            if names := message.names():
                return NoticeCame(agent_ids=names, event=message.event())
            sentence = 'Name the agents that notice this: `agent_id`, `agent_ids`, or "*" for all.'
            return problem("missing_field", sentence, details={"field": "agent_id"})
        case AgentTurnResult():
            tags = tuple(message.tags)
            return TurnPlayed(agent_id=message.agent_id, turn_id=message.turn_id, status=message.status, tags=tags)
        case ToolResults():
            return ToolsUsed(
                agent_id=message.agent_id,
                turn_id=message.turn_id,
                results=tuple(message.results),
                goes_on=message.continue_,
            )
        case CancelTurn():
            return CancelCame(agent_id=message.agent_id, turn_id=message.turn_id)
        case _:
            assert_never(message)


def read_frame(raw: str | bytes) -> ClientMessage | Problem:
    """What a frame says. Its fields may stand beside `type` or inside `payload`."""
    data = raw.encode("utf-8", "replace") if isinstance(raw, str) else raw
    if len(data) > LARGEST_FRAME:
        return problem("too_large", f"A frame may have {LARGEST_FRAME // 1024} KiB. Send less at once.")
    # There are never more values than bytes, so that most frames need not be counted.
    if len(data) > MOST_VALUES and value_count(data) > MOST_VALUES:
        return problem("too_large", f"A frame may have {MOST_VALUES} JSON values. Send fewer at once.")
    try:
        frame: Json = orjson.loads(data)
    except orjson.JSONDecodeError:
        return problem("invalid_json", "This frame is no JSON. Send one JSON object as text.")
    if not isinstance(frame, dict):
        return problem("invalid_json", "A frame must be a JSON object with a field `type`.")
    if _deeper_than(frame, DEEPEST_FRAME):
        return problem("too_large", f"A frame may be {DEEPEST_FRAME} levels deep. Send it flatter.")
    return _read(frame, data)


def is_problem(message: ClientMessage | GameMessage | Problem) -> TypeIs[Problem]:
    """Whether something could not be read. A problem is a plain object; everything else is a value."""
    return isinstance(message, dict)


def _deeper_than(value: Json, levels: int) -> bool:
    """Whether lists and objects stand deeper in each other; what is read here is written again elsewhere."""
    layer: list[Json] = [value]
    for _ in range(levels):
        layer = [inner for outer in layer if isinstance(outer, (dict, list)) for inner in _inside(outer)]
        if not layer:
            return False
    return True


def _inside(outer: JsonObject | list[Json]) -> list[Json]:
    return [*outer.values()] if isinstance(outer, dict) else outer


def _read(frame: JsonObject, data: bytes) -> ClientMessage | Problem:
    name = frame.get("type")
    if name is None:
        return _problem("missing_field", "The field `type` is missing.", frame, field="type")
    kind = CLIENT_MESSAGES.get(name) if isinstance(name, str) else None
    if kind is None:
        known = ", ".join(CLIENT_MESSAGES)
        return _problem("unknown_type", f"There is no message '{str(name)[:60]}'. Send one of {known}.", frame)
    if len(data) > LARGEST_EVENT and kind is not AgentStateSnapshot:
        return _problem(
            "too_large", f"A message of this kind may have {LARGEST_EVENT // 1024} KiB. Send less at once.", frame
        )
    fields = _flat(frame)
    if kind in _KEPT and len(data) > MOST_KEPT_VALUES and value_count(data) - _named(fields) > MOST_KEPT_VALUES:
        return _problem(
            "too_large", f"A message of this kind may have {MOST_KEPT_VALUES} JSON values. Send fewer at once.", frame
        )
    try:
        return cast(ClientMessage, kind.model_validate(fields))
    except ValidationError as error:
        return _explained(error, fields)


def _named(fields: JsonObject) -> int:
    """How many agents a message names; they are not kept with what it tells them."""
    names = fields.get("agent_ids")
    return len(names) if isinstance(names, list) else 0


def _flat(frame: JsonObject) -> JsonObject:
    inner = frame.get("payload")
    fields = {**inner, **frame} if isinstance(inner, dict) else dict(frame)
    if "continue" in fields:
        fields["continue_"] = fields.pop("continue")
    return fields


def _explained(error: ValidationError, frame: JsonObject) -> Problem:
    first = misfits(error)[0]
    field = place_of(first) or "type"
    if first["type"] == "missing":
        return _problem("missing_field", f"The field `{field}` is missing.", frame, field=field)
    sentence = f"The field `{field}` cannot be used: {first['msg']}."
    return _problem("missing_field", sentence, frame, field=field)


def _problem(code: ErrorCode, message: str, frame: JsonObject, **details: Json) -> Problem:
    def named(key: str) -> str | None:
        value = frame.get(key)
        return value[:200] if isinstance(value, str) and value else None

    return problem(
        code,
        message,
        agent_id=named("agent_id"),
        turn_id=named("turn_id"),
        request_id=named("request_id"),
        details=details or None,
    )
