"""What is told while a turn is played or a story is built: every event, and the frames around them.

Events are values: whoever tells one says `tell(NarratorStarted(beat_index=0, ...))`, the bus carries it, and each door
writes it in its own way. A delta is made for every piece of a model's answer, so events are plain slotted objects
without validation; what is read from another process (`decode_event`) is validated.

1. A turn of a scene play tells `SceneEvent`s, a turn of an Ink play `InkEvent`s, building a story `Progress`.
2. The stream of a turn is `Started`, its events, then `Completed` or `Failed`: a `TurnFrame` each.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, Protocol

import orjson
from pydantic import Field, TypeAdapter

from fabula.story.agendas import FiredAgenda
from fabula.story.checks import Modifier, Resolution
from fabula.story.conflicts import ConflictPhase
from fabula.story.contexts import KeeperPhase
from fabula.story.error_values import ErrorValue
from fabula.story.ink_stories import Outcome, WaitingKind
from fabula.story.intent_verdicts import IntentResult, IntentRule
from fabula.story.minds import Emotion
from fabula.story.plans import ActorBeatPurpose, DirectorResult, NarratorBeatPurpose
from fabula.story.plays import GuestOnStage
from fabula.story.plot_threads import ThreadStatus
from fabula.story.relations import Deltas
from fabula.story.scenes import SceneOutcome
from fabula.story.sizes import memory_size
from fabula.story.state import MemoryEntry, Snapshot, StateOp, StateUpdate
from fabula.story.turn_results import ActorResponse, InkChoiceView, NarratorResponse
from fabula.story.values import JsonObject, Value

BYTES_OF_AN_EVENT = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something that is told. Fields in `optional` are left out of what a client reads while they are None."""

    optional: ClassVar[frozenset[str]] = frozenset()


class Place(Protocol):
    """Finds what a piece of text belongs to."""

    def __call__(self, event: Any, /) -> object: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Delta(Event):
    """A piece of text, its `delta`, to be added to the pieces before it that come from the same `place`."""

    place: ClassVar[Place]


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnStarted(Event):
    """The turn began; a choice stands in `player_input` by its text."""

    type: Literal["turn_started"] = "turn_started"
    next_turn_index: int
    player_input: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PlayerInputRecorded(Event):
    """Everyone in the scene noticed the player's words."""

    type: Literal["player_input_recorded"] = "player_input_recorded"
    entry: MemoryEntry
    snapshot: Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class KeeperApplied(Event):
    """The keeper's operations that were accepted; `phase` is `after_player_input`, at the end `after_turn_outputs`."""

    type: Literal["keeper_applied"] = "keeper_applied"
    phase: KeeperPhase
    update: StateUpdate
    snapshot: Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class StateOpRefused(Event):
    """An operation that the schemas do not allow; the turn goes on."""

    type: Literal["state_op_refused"] = "state_op_refused"
    op: StateOp
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckAsked(Event):
    """The rules of the game ask for a check: who rolls with which stat, what must be reached, and what is added."""

    optional: ClassVar[frozenset[str]] = frozenset({"target"})
    type: Literal["check_asked"] = "check_asked"
    check_id: str
    actor: str
    stat: str
    target: int | None = None
    modifiers: tuple[Modifier, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class IntentJudged(Event):
    """What the player wants cannot be done like that here: by which rule, why, and what would help (`lead`). `result`
    is `deny`, `ask`, `defer` or `analog`; what is allowed is not told."""

    type: Literal["intent_judged"] = "intent_judged"
    rule: IntentRule
    result: IntentResult
    sentence: str
    lead: str


@dataclass(frozen=True, kw_only=True, slots=True)
class WishLeft(Event):
    """What the player wished of the telling, out of character, cannot be followed by rule, and no model tells the turn;
    `sentence` says so. It is no part of the story."""

    type: Literal["wish_left"] = "wish_left"
    sentence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckResolved(Event):
    """What came of a check: the roll, its level and its effects; `sentence` stands in the transcript."""

    type: Literal["check_resolved"] = "check_resolved"
    check_id: str
    resolution: Resolution
    sentence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeStaged(Event):
    """The turn proposes a change of canon; `sentence` says what would be true. The canon keeper judges it later."""

    type: Literal["change_staged"] = "change_staged"
    change_id: str
    sentence: str


class OffScreenEvent(Value):
    """Something that came to pass off-screen: whose clock was full, what happened, and when in story time."""

    clock_id: str
    event: str
    minute: int
    where: str | None = None
    known_to: list[str] = []

    @classmethod
    def of(cls, fired: FiredAgenda) -> OffScreenEvent:
        return cls(
            clock_id=fired.clock_id,
            event=fired.event,
            minute=fired.minute,
            where=fired.where,
            known_to=fired.known_to,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class WorldAdvanced(Event):
    """A scene ended, and the world beyond it moved for so many minutes. Players are told of `events` that everybody
    everywhere knows."""

    type: Literal["world_advanced"] = "world_advanced"
    minutes: int
    events: tuple[OffScreenEvent, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadChanged(Event):
    """The turn moved a plot thread: to which status, and why. Players are not told which one, nor why."""

    type: Literal["thread_changed"] = "thread_changed"
    thread_id: str
    title: str
    status: ThreadStatus
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ConflictChanged(Event):
    """A conflict of the world moved: to which phase and intensity, and why. Players are not told which one, nor why."""

    type: Literal["conflict_changed"] = "conflict_changed"
    conflict_id: str
    title: str
    phase: ConflictPhase
    intensity: float
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SceneCompleted(Event):
    """A scene has ended. `outcome` says how, `summary` what happened in it, in the words in which it was told."""

    type: Literal["scene_completed"] = "scene_completed"
    scene_id: str
    title: str
    outcome: SceneOutcome
    summary: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Flashback(Event):
    """Something came back to somebody at once; `character_id` is `player` for the player, `text` is what is told."""

    optional: ClassVar[frozenset[str]] = frozenset({"emotion"})
    type: Literal["flashback"] = "flashback"
    character_id: str
    character_name: str
    text: str
    emotion: Emotion | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SocialBeat(Event):
    """How a reply moved the way its speaker stands to somebody. `surface` is the feeling that shows; `inner`, the one
    that is felt, is told to authors only."""

    optional: ClassVar[frozenset[str]] = frozenset({"surface", "inner"})
    type: Literal["social_beat"] = "social_beat"
    character_id: str
    towards: str
    surface: Emotion | None = None
    inner: Emotion | None = None
    deltas: Deltas
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DirectorCompleted(Event):
    """Whether the story moved on, and the plan of beats."""

    type: Literal["director_completed"] = "director_completed"
    result: DirectorResult
    snapshot: Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionCharacterCreated(Event):
    """A guest was invented."""

    type: Literal["session_character_created"] = "session_character_created"
    session_character: GuestOnStage
    snapshot: Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionCharacterEnteredScene(Event):
    """A guest came in."""

    type: Literal["session_character_entered_scene"] = "session_character_entered_scene"
    session_character_id: str
    snapshot: Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionCharacterLeftScene(Event):
    """A guest left."""

    type: Literal["session_character_left_scene"] = "session_character_left_scene"
    session_character_id: str
    snapshot: Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class NarratorStarted(Event):
    """A beat of the narrator begins."""

    type: Literal["narrator_started"] = "narrator_started"
    beat_index: int
    purpose: NarratorBeatPurpose


@dataclass(frozen=True, kw_only=True, slots=True)
class NarratorTextDelta(Delta):
    """A piece of what the narrator tells."""

    place: ClassVar[Place] = attrgetter("beat_index", "purpose")
    type: Literal["narrator_text_delta"] = "narrator_text_delta"
    beat_index: int
    purpose: NarratorBeatPurpose
    delta: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NarratorCompleted(Event):
    """The whole beat: `{text, raw_output}`."""

    type: Literal["narrator_completed"] = "narrator_completed"
    beat_index: int
    purpose: NarratorBeatPurpose
    response: NarratorResponse


@dataclass(frozen=True, kw_only=True, slots=True)
class ActorStarted(Event):
    """A beat of a character begins."""

    type: Literal["actor_started"] = "actor_started"
    beat_index: int
    speaker_id: str
    purpose: ActorBeatPurpose


@dataclass(frozen=True, kw_only=True, slots=True)
class ActorThoughtDelta(Delta):
    """A piece of what it thinks; thoughts are in no transcript."""

    place: ClassVar[Place] = attrgetter("beat_index", "speaker_id")
    type: Literal["actor_thought_delta"] = "actor_thought_delta"
    beat_index: int
    speaker_id: str
    delta: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ActorActionComplete(Event):
    """Something it does, in one piece."""

    type: Literal["actor_action_complete"] = "actor_action_complete"
    beat_index: int
    speaker_id: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ActorDialogueDelta(Delta):
    """A piece of what it says."""

    place: ClassVar[Place] = attrgetter("beat_index", "speaker_id")
    type: Literal["actor_dialogue_delta"] = "actor_dialogue_delta"
    beat_index: int
    speaker_id: str
    delta: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ActorCompleted(Event):
    """The whole beat: `{speaker_id, speaker_name, segments, raw_output}`."""

    type: Literal["actor_completed"] = "actor_completed"
    beat_index: int
    speaker_id: str
    purpose: ActorBeatPurpose
    response: ActorResponse


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentDegraded(Event):
    """An agent's answer could not be used; a fallback was taken, a filler in character, or a `stand_in` plays on."""

    optional: ClassVar[frozenset[str]] = frozenset({"stand_in"})
    type: Literal["agent_degraded"] = "agent_degraded"
    agent: str
    reason: str
    stand_in: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StoryEnded(Event):
    """The story is over; a scene play names the scene that has no way on."""

    optional: ClassVar[frozenset[str]] = frozenset({"node_id", "title"})
    type: Literal["story_ended"] = "story_ended"
    node_id: str | None = None
    title: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentReplyDelta(Delta):
    """A piece of a reply, to be added to those before it; `character` is empty in a `continue`."""

    place: ClassVar[Place] = attrgetter("character")
    type: Literal["agent_reply_delta"] = "agent_reply_delta"
    character: str
    delta: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentOutcome(Event):
    """What came of the player's words, see below."""

    optional: ClassVar[frozenset[str]] = frozenset({"bridge_text", "guidance"})
    type: Literal["agent_outcome"] = "agent_outcome"
    outcome: Outcome
    reply: str
    reason: str
    bridge_text: str | None = None
    guidance: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class InkText(Event):
    """A line of the story."""

    type: Literal["ink_text"] = "ink_text"
    text: str
    tags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneratedText(Event):
    """What a `generate` wrote."""

    type: Literal["generated_text"] = "generated_text"
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class InkChoices(Event):
    """The choices on offer: `[{index, text, tags}]`."""

    type: Literal["ink_choices"] = "ink_choices"
    choices: tuple[InkChoiceView, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class InkInputRequested(Event):
    """The story waits for the player, see below."""

    optional: ClassVar[frozenset[str]] = frozenset({"placeholder", "character"})
    type: Literal["ink_input_requested"] = "ink_input_requested"
    kind: WaitingKind
    placeholder: str | None = None
    character: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress(Event):
    """How far a long piece of work has come; `total` is 0 while nobody knows it."""

    type: Literal["progress"] = "progress"
    done: int
    total: int
    label: str


SceneEvent = (
    TurnStarted
    | PlayerInputRecorded
    | KeeperApplied
    | StateOpRefused
    | CheckAsked
    | CheckResolved
    | IntentJudged
    | WishLeft
    | ChangeStaged
    | WorldAdvanced
    | ThreadChanged
    | ConflictChanged
    | SceneCompleted
    | Flashback
    | SocialBeat
    | DirectorCompleted
    | SessionCharacterCreated
    | SessionCharacterEnteredScene
    | SessionCharacterLeftScene
    | NarratorStarted
    | NarratorTextDelta
    | NarratorCompleted
    | ActorStarted
    | ActorThoughtDelta
    | ActorActionComplete
    | ActorDialogueDelta
    | ActorCompleted
    | AgentDegraded
    | StoryEnded
)
InkEvent = (
    TurnStarted
    | AgentDegraded
    | AgentReplyDelta
    | AgentOutcome
    | InkText
    | GeneratedText
    | InkChoices
    | InkInputRequested
    | StoryEnded
)
TextDelta = NarratorTextDelta | ActorThoughtDelta | ActorDialogueDelta | AgentReplyDelta
TurnEvent = SceneEvent | InkEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class Started(Event):
    """First, always."""

    type: Literal["started"] = "started"


@dataclass(frozen=True, kw_only=True, slots=True)
class Completed(Event):
    """Last: the turn is committed; `result` is a SceneTurnResult or an InkTurnResult."""

    type: Literal["completed"] = "completed"
    result: JsonObject


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed(Event):
    """Last: nothing of the turn is kept but the player's words."""

    type: Literal["failed"] = "failed"
    error: ErrorValue


TurnFrame = Started | TurnEvent | Completed | Failed
Told = TurnFrame | Progress


def event_json(event: Event) -> Any:
    """An event for orjson (with `plain` as its default): as it stands, without what does not apply."""
    optional = event.optional
    if not optional:
        return event
    every = ((one.name, getattr(event, one.name)) for one in fields(event))
    return {name: value for name, value in every if value is not None or name not in optional}


def event_fields(event: Event) -> JsonObject:
    """The fields of an event as plain JSON, without its type."""
    written: JsonObject = orjson.loads(orjson.dumps(event_json(event), default=plain))
    del written["type"]
    return written


def plain(value: object) -> Any:
    """A value inside an event as JSON."""
    if isinstance(value, Value):
        # Written straight to JSON: a snapshot stands in four events of every turn.
        return orjson.Fragment(value.model_dump_json(by_alias=True))
    if isinstance(value, ErrorValue):
        return value.as_json()
    raise TypeError(f"{type(value).__name__} does not belong into an event")


def event_weight(event: Told) -> int:
    """About the bytes that an event takes in memory: most are a few words, but some have the whole state."""
    match event:
        case Completed():
            return BYTES_OF_AN_EVENT + memory_size(event.result)
        case Delta():
            return BYTES_OF_AN_EVENT + len(event.delta)
        case _:
            return BYTES_OF_AN_EVENT + _letters(event)


def _letters(event: Told) -> int:
    try:
        return len(encode_event(event))
    except (TypeError, ValueError):
        # Half surrogates are no UTF-8.
        return len(repr(event))


def encode_event(event: Told) -> bytes:
    """An event as bytes, for a bus that crosses processes."""
    return orjson.dumps(event, default=plain)


def decode_event(data: bytes) -> Told:
    """The event that was encoded; raises ValueError when the bytes are none."""
    return _reader().validate_json(data)


@cache
def _reader() -> TypeAdapter[Told]:
    """Made at the first event that is read: it takes a while, and most processes read none."""
    return TypeAdapter(Annotated[Told, Field(discriminator="type")])
