"""The state of a play: what is true now, and the operations that change it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabula.story.calendars import StoryTime
from fabula.story.values import Id, Json, JsonObject, Value

MemoryKind = Literal["player_input", "narration", "dialogue", "thought", "action"]


def _is_unsaid(value: object) -> bool:
    return value is None


class MemoryEntry(Value):
    """One thing that was said, done, told or thought.

    `heard_by` are the characters who noticed it, by id; nothing in lines from before that was kept.
    """

    speaker_id: str
    speaker_name: str
    kind: MemoryKind
    text: str
    heard_by: list[str] | None = Field(default=None, exclude_if=_is_unsaid)


class SetCurrentNode(Value):
    type: Literal["SetCurrentNode"] = "SetCurrentNode"
    node_id: Id


class SetActiveCharacters(Value):
    type: Literal["SetActiveCharacters"] = "SetActiveCharacters"
    characters: list[Id]


class AddActiveCharacter(Value):
    type: Literal["AddActiveCharacter"] = "AddActiveCharacter"
    character: Id


class RemoveActiveCharacter(Value):
    type: Literal["RemoveActiveCharacter"] = "RemoveActiveCharacter"
    character: Id


class SetState(Value):
    type: Literal["SetState"] = "SetState"
    key: str
    value: Json


class RemoveState(Value):
    type: Literal["RemoveState"] = "RemoveState"
    key: str


class SetPlayerState(Value):
    type: Literal["SetPlayerState"] = "SetPlayerState"
    key: str
    value: Json


class RemovePlayerState(Value):
    type: Literal["RemovePlayerState"] = "RemovePlayerState"
    key: str


class SetCharacterState(Value):
    type: Literal["SetCharacterState"] = "SetCharacterState"
    character: Id
    key: str
    value: Json


class RemoveCharacterState(Value):
    type: Literal["RemoveCharacterState"] = "RemoveCharacterState"
    character: Id
    key: str


VariableOp = SetState | RemoveState | SetPlayerState | RemovePlayerState | SetCharacterState | RemoveCharacterState
CastOp = SetActiveCharacters | AddActiveCharacter | RemoveActiveCharacter
StateOp = Annotated[SetCurrentNode | CastOp | VariableOp, Field(discriminator="type")]


class StateUpdate(Value):
    """Operations that are applied in order."""

    ops: list[StateOp] = []


class WorldState(Value):
    """All volatile state of a play."""

    current_node: str
    active_characters: list[str] = []
    custom: JsonObject = {}
    player_state: JsonObject = {}
    character_state: dict[str, JsonObject] = {}
    actor_shared_history: list[MemoryEntry] = []
    actor_private_memory: dict[str, list[MemoryEntry]] = {}


class Snapshot(Value):
    """What a turn leaves behind: enough to go on from there without reading the history.

    The last three are there only where the story has a calendar. `time` is the clock of the play. `world_version`
    counts the turns on this line after which followers had the world to change, `applied_version` how many of these
    they have applied; the latter is written nowhere, it is what a reader found out.
    """

    story_id: str
    player_description: str
    world_state: WorldState
    turn_index: int = 0
    time: StoryTime | None = Field(default=None, exclude_if=_is_unsaid)
    world_version: int | None = Field(default=None, exclude_if=_is_unsaid)
    applied_version: int | None = Field(default=None, exclude_if=_is_unsaid)
