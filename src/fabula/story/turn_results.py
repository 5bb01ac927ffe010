"""What a turn answers when it is completed, and what its beats leave behind: the shapes that clients read.

A result is kept as JSON and never read back into values here, so these shapes cost nothing: they are checked where
results are written, and described in the protocol.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema
from typing_extensions import TypedDict

from fabula.story.checks import Resolution
from fabula.story.ink_stories import Outcome, WaitingKind
from fabula.story.minds import Emotion
from fabula.story.plans import ActorBeatPurpose, DirectorResult, NarratorBeatPurpose
from fabula.story.relations import Deltas
from fabula.story.state import Snapshot, StateOp, StateUpdate
from fabula.story.values import Json, JsonObject, Value


class Shape:
    """Says of plain JSON that it has the shape of a value."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self._of)


class Segment(Value):
    """A part of an actor's beat."""

    kind: Literal["dialogue", "thought", "action"]
    text: str


class NarratorResponse(Value):
    """The whole of a narrator's beat."""

    text: str
    raw_output: str


class ActorResponse(Value):
    """The whole of an actor's beat."""

    speaker_id: str
    speaker_name: str
    segments: list[Segment]
    raw_output: str


class CompletedNarratorBeat(TypedDict):
    type: Literal["narrator"]
    beat_index: int
    purpose: NarratorBeatPurpose
    response: Annotated[JsonObject, Shape(NarratorResponse)]


class CompletedActorBeat(TypedDict):
    type: Literal["actor"]
    beat_index: int
    speaker_id: str
    purpose: ActorBeatPurpose
    response: Annotated[JsonObject, Shape(ActorResponse)]


class ModelMessage(TypedDict):
    role: Literal["assistant"]
    content: str


class TokenUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ModelOutput(TypedDict):
    """What a model said to the keeper's question."""

    message: ModelMessage
    model: str
    finish_reason: str
    usage: TokenUsage
    structured_output: Json


class KeeperResult(TypedDict):
    """The keeper's operations that were applied, and its own words."""

    update: Annotated[JsonObject, Shape(StateUpdate)]
    output: Annotated[JsonObject, Shape(ModelOutput)]


class RefusedNote(TypedDict):
    """An operation that was not applied, and why."""

    op: Annotated[JsonObject, Shape(StateOp)]
    reason: str


class HelpedNote(TypedDict):
    """A role whose model failed, and who stood in for it, if anybody did."""

    agent: str
    reason: str
    stand_in: NotRequired[str]


class StagedNote(TypedDict):
    """A change of canon that a turn proposes."""

    change_id: str
    sentence: str


class ToldFlashback(TypedDict):
    """Something that came back to somebody in the turn, as it was told."""

    character_id: str
    character_name: str
    text: str
    emotion: NotRequired[Emotion]


class ToldSocialBeat(TypedDict):
    """How a reply moved the way its speaker stands to somebody; `inner` is there for authors."""

    character_id: str
    towards: str
    surface: NotRequired[Emotion]
    inner: NotRequired[Emotion]
    deltas: Annotated[JsonObject, Shape(Deltas)]
    reason: str


class SceneTurnResult(TypedDict):
    """A completed turn of a scene play. One that was `cut` ended early; its last beat may be told in part.

    `notes` are there where something was refused or somebody helped out.
    `resolutions` are what the dice decided, where the play has a game system and something was rolled.
    `staged` are the changes of canon that it proposes, where its story belongs to a world.
    `flashback` is there where something came back to somebody, `social_beats` where it was a turn of a conversation.
    """

    turn_id: str
    turn_index: int
    player_input: str
    first_keeper: Annotated[JsonObject, Shape(KeeperResult)]
    director: Annotated[JsonObject, Shape(DirectorResult)]
    completed_beats: Annotated[list[JsonObject], Shape(list[CompletedNarratorBeat | CompletedActorBeat])]
    second_keeper: Annotated[JsonObject, Shape(KeeperResult)]
    snapshot: Annotated[Json, Shape(Snapshot)]
    notes: NotRequired[Annotated[list[Json], Shape(list[RefusedNote | HelpedNote])]]
    cut: NotRequired[bool]
    resolutions: NotRequired[Annotated[list[Json], Shape(list[Resolution])]]
    staged: NotRequired[Annotated[list[Json], Shape(list[StagedNote])]]
    flashback: NotRequired[Annotated[JsonObject, Shape(ToldFlashback)]]
    social_beats: NotRequired[Annotated[list[Json], Shape(list[ToldSocialBeat])]]


class InkLine(TypedDict):
    text: str
    tags: list[str]


class InkChoiceView(TypedDict):
    """A choice on offer."""

    index: int
    text: str
    tags: list[str]


class InkInput(TypedDict):
    """What the story waits for."""

    kind: WaitingKind
    placeholder: NotRequired[str]
    character: NotRequired[str]


class InkOutcome(TypedDict):
    """What came of the player's words in a talk."""

    outcome: Outcome
    reply: str
    reason: str
    bridge_text: NotRequired[str]
    guidance: NotRequired[str]


class InkTurn(TypedDict):
    """Where an Ink play stands, and what was told on the way there."""

    lines: list[InkLine]
    choices: list[InkChoiceView]
    input: InkInput | None
    ended: bool
    outcome: NotRequired[InkOutcome | None]


class InkTurnResult(TypedDict):
    """A completed turn of an Ink play. It has no beats: the list is for clients that read every kind of turn alike."""

    turn_id: str
    turn_index: int
    player_input: str
    completed_beats: list[JsonObject]
    ink: Annotated[JsonObject, Shape(InkTurn)]
    snapshot: Annotated[Json, Shape(Snapshot)]
    notes: NotRequired[Annotated[list[Json], Shape(list[RefusedNote | HelpedNote])]]
