"""Resources: what an author or operator keeps on the server, in the shapes in which it is stored."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from fabula.story.knowledge import Fact, Piece
from fabula.story.minds import Mask, Trauma
from fabula.story.schemas import Schema
from fabula.story.values import Id, Json, Sparse, Value

AgentRole = Literal["planner", "architect", "director", "actor", "narrator", "keeper", "replyer"]
ROLES: tuple[AgentRole, ...] = ("planner", "architect", "director", "actor", "narrator", "keeper", "replyer")
Provider = Literal["open_ai", "local", "understudy"]
ArchitectMode = Literal["graph", "draft_init", "draft_continue"]


class Api(Value):
    """A model and where it is reached. The key itself is a secret and never part of this value."""

    api_id: Id
    display_name: str
    provider: Provider
    base_url: str
    model: str


class Bindings(Value):
    """Which api each of the seven roles uses."""

    planner_api_id: Id
    architect_api_id: Id
    director_api_id: Id
    actor_api_id: Id
    narrator_api_id: Id
    keeper_api_id: Id
    replyer_api_id: Id

    @classmethod
    def all_to(cls, api_id: str) -> Bindings:
        """One api for all roles."""
        return cls.model_validate(dict.fromkeys(cls.model_fields, api_id))

    def api_for(self, role: AgentRole) -> str:
        api_id: str = getattr(self, f"{role}_api_id")
        return api_id


class ApiGroup(Value):
    """A cast of models: one api for each role."""

    api_group_id: Id
    display_name: str
    bindings: Bindings


EntryKind = Literal["built_in_text", "built_in_context_ref", "custom_text"]


class PresetEntry(Sparse):
    """One piece of a prompt: a built-in text, a piece of context, or the author's own words."""

    optional = frozenset({"text", "context_key"})
    entry_id: Id
    display_name: str = ""
    kind: EntryKind
    enabled: bool = True
    order: int = 0
    required: bool = False
    text: str | None = None
    context_key: str | None = None


class PresetModule(Value):
    """A part of a prompt that is sent as one block under one message role."""

    module_id: Id
    display_name: str | None = None
    message_role: Literal["system", "user"] | None = None
    order: int | None = None
    entries: list[PresetEntry] = []

    @model_validator(mode="before")
    @classmethod
    def _forget_counts(cls, raw: object) -> object:
        return _without(raw, "module_count", "entry_count")


class AgentPreset(Sparse):
    """How one role is asked: its limits and the modules of its prompt."""

    optional = frozenset(
        {
            "temperature",
            "max_tokens",
            "director_shared_history_limit",
            "actor_shared_history_limit",
            "actor_private_memory_limit",
            "narrator_shared_history_limit",
            "replyer_session_history_limit",
            "extra",
        }
    )
    temperature: float | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    director_shared_history_limit: int | None = Field(default=None, ge=0)
    actor_shared_history_limit: int | None = Field(default=None, ge=0)
    actor_private_memory_limit: int | None = Field(default=None, ge=0)
    narrator_shared_history_limit: int | None = Field(default=None, ge=0)
    replyer_session_history_limit: int | None = Field(default=None, ge=0)
    extra: Json = None
    modules: list[PresetModule] = []

    @model_validator(mode="before")
    @classmethod
    def _forget_counts(cls, raw: object) -> object:
        return _without(raw, "module_count", "entry_count")


def _without(raw: object, *names: str) -> object:
    """Lists tell more than they keep, such as counts; a client may send back what it was shown."""
    if not isinstance(raw, dict):
        return raw
    return {key: value for key, value in raw.items() if key not in names}


class PresetAgents(Value):
    """The seven roles of a preset, all required."""

    planner: AgentPreset
    architect: AgentPreset
    director: AgentPreset
    actor: AgentPreset
    narrator: AgentPreset
    keeper: AgentPreset
    replyer: AgentPreset

    def of(self, role: AgentRole) -> AgentPreset:
        agent: AgentPreset = getattr(self, role)
        return agent


class Preset(Value):
    """How all seven roles are asked."""

    preset_id: Id
    display_name: str
    agents: PresetAgents


class LorebookEntry(Piece):
    """A piece of lore, the words that call it to mind, and who may know it."""

    optional = frozenset({"budget", *Piece.optional})
    entry_id: Id
    title: str
    content: str
    keywords: list[str] = []
    enabled: bool = True
    always_include: bool = False
    match: Literal["word", "substring"] = "word"
    order: int = 0
    budget: int | None = Field(default=None, ge=1)
    recursive: bool = False

    @model_validator(mode="before")
    @classmethod
    def _forget_address(cls, raw: object) -> object:
        return _without(raw, "type", "lorebook_id")


class Lorebook(Value):
    """A book of lore entries, in the author's order."""

    lorebook_id: Id
    display_name: str
    entries: list[LorebookEntry] = []


class PlayerProfile(Sparse):
    """Who the player is in a play. Without an owner it belongs to the house, and everybody may play as it."""

    optional = frozenset({"owner_token_id"})
    player_profile_id: Id
    display_name: str
    description: str
    owner_token_id: str | None = None


class CharacterContent(Sparse):
    """A character as its author wrote it. `facts` are what is true of it, each with who else may know it.

    `mask` is what it presents and hides, `traumas` are what it cannot forget.
    """

    optional = frozenset({"facts", "mask", "traumas"})
    id: Id
    name: str
    personality: str
    style: str
    schema_id: Id
    system_prompt: str
    tags: list[str] = []
    folder: str = ""
    facts: list[Fact] = Field(default=[], max_length=100)
    mask: Mask | None = None
    traumas: list[Trauma] = Field(default=[], max_length=20)


class Cover(Value):
    """A character's picture: where its bytes are, and what they are."""

    blob: str
    file_name: str
    mime_type: Literal["image/png", "image/jpeg", "image/webp"]


class Character(Value):
    """A character and its cover."""

    content: CharacterContent
    cover: Cover | None = None


class StoryResources(Value):
    """What a story is made from: a concept, a cast, lore, and perhaps a plan."""

    resource_id: Id
    display_name: str | None = None
    story_concept: str
    character_ids: list[Id]
    player_schema_id_seed: Id | None = None
    world_schema_id_seed: Id | None = None
    lorebook_ids: list[Id] = []
    planned_story: str | None = None


__all__ = [
    "ROLES",
    "AgentPreset",
    "AgentRole",
    "Api",
    "ApiGroup",
    "ArchitectMode",
    "Bindings",
    "Character",
    "CharacterContent",
    "Cover",
    "EntryKind",
    "Lorebook",
    "LorebookEntry",
    "PlayerProfile",
    "Preset",
    "PresetAgents",
    "PresetEntry",
    "PresetModule",
    "Provider",
    "Schema",
    "StoryResources",
]
