"""An NPC as its game describes it: who it is, where it stands, what it may do, and what it has lived through.

Games differ in how carefully they write JSON, so these values are decoded tolerantly: unknown fields are ignored, null
means "not given", numbers may stand for names, and one text may stand for a list of one.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_origin

from pydantic import ConfigDict, StringConstraints, model_validator

from fabula.story.tags import TagSet, tag_set
from fabula.story.values import Json, JsonObject, Value

Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""What a game calls one of its things: any text of one line, up to 200 characters."""


class Tolerant(Value):
    """A value that takes what games really send."""

    model_config = ConfigDict(extra="ignore", strict=False, coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _forgive(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        return {key: _listed(cls, key, value) for key, value in raw.items() if value is not None}


def _listed(cls: type[Value], key: str, value: Any) -> Any:
    """One thing where a list of things is wanted."""
    field = cls.model_fields.get(key)
    is_list = field is not None and get_origin(field.annotation) is list
    return [value] if is_list and isinstance(value, (str, dict)) else value


class Relationship(Tolerant):
    """What an NPC thinks of somebody."""

    id: str = ""
    name: str = ""
    description: str = ""
    score: float | None = None


class NpcSpec(Tolerant):
    """Who an NPC is. `system_prompt` is added to its dossier word for word."""

    name: str = "Somebody"
    role: str = ""
    personality: str = ""
    style: str = ""
    backstory: str = ""
    goals: list[str] = []
    knowledge: list[str] = []
    relationships: list[Relationship] = []
    mood: str = ""
    system_prompt: str = ""
    language: str = ""


class NpcWorld(Tolerant):
    """Where an NPC is and what is around it."""

    location: str = ""
    time: str = ""
    nearby: list[Json] = []
    inventory: list[Json] = []
    state: JsonObject = {}


class TagSpec(Tolerant):
    """A kind of thing that an NPC can do. Tags that are not `visible` are the NPC's own and are never sent."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][\w.-]{0,63}$")]
    description: str = ""
    attrs: list[str] | JsonObject | None = None
    visible: bool = True
    mode: Literal["stream", "atomic"] = "stream"


class ToolSpec(Tolerant):
    """Something that the game can do for an NPC; `parameters` is a JSON schema."""

    name: Name
    description: str = ""
    parameters: JsonObject = {}


class Someone(Tolerant):
    """Who did something: the player, another NPC, the world."""

    id: str = ""
    name: str = ""
    kind: str = ""


SAY = "say"
TOOL = "tool"
DEFAULT_TAGS: tuple[TagSpec, ...] = (
    TagSpec(name=SAY, description="what you say aloud"),
    TagSpec(name="think", description="what you think", visible=False),
    TagSpec(name="emote", description="a gesture or look, in a few words"),
    TagSpec(name="action", description="something you do", attrs=["name", "target"], mode="atomic"),
    TagSpec(name="silence", description="you choose to say and do nothing", mode="atomic"),
)
TOOL_TAG = TagSpec(name=TOOL, description="asks the game to do something", attrs=["name"], mode="atomic")


class NpcState(Tolerant):
    """All that a game says of an NPC before a turn."""

    spec: NpcSpec = NpcSpec()
    world: NpcWorld = NpcWorld()
    tags: list[TagSpec] = []
    tools: list[ToolSpec] = []
    player: Someone = Someone()

    def known_tags(self) -> tuple[TagSpec, ...]:
        """The tags of a turn: the game's own, or the usual ones; `tool` is there when there are tools."""
        chosen = tuple(self.tags) or DEFAULT_TAGS
        if self.tools and all(tag.name.lower() != TOOL for tag in chosen):
            chosen = (*chosen, TOOL_TAG)
        return chosen

    def tag_set(self) -> TagSet:
        return tag_set([tag.name for tag in self.known_tags()], default=SAY, raw=(TOOL,))


class GameEvent(Tolerant):
    """Something that happened to an NPC. `priority` is kept in the log; the order is first in, first out."""

    event_id: str = ""
    event_type: str = "player_speech"
    source: Someone = Someone()
    text: str = ""
    data: Json = None
    priority: float = 0
    interrupt: bool = True


PlayedStatus = Literal["played", "partial", "skipped"]


class PlayedTag(Tolerant):
    """A tag as the game played it: whole, cut short, or not at all."""

    tag: str = SAY
    attrs: JsonObject = {}
    text: str = ""
    status: PlayedStatus = "played"


class ToolResult(Tolerant):
    """What came of a tool that an NPC used; `call_id` is the id of the tag."""

    call_id: str
    name: str = ""
    ok: bool = True
    result: Json = None
    error: str = ""


class Lived(Value):
    """One entry of an NPC's history: something it noticed, or an event together with what it did about it.

    `played` is only what was really played. `unconfirmed` means that the game has not said what that was.
    """

    kind: Literal["turn", "notice"]
    event: GameEvent
    played: list[PlayedTag] = []
    unconfirmed: bool = False

    def said(self) -> str:
        """What the NPC said aloud in it."""
        return " ".join(tag.text.strip() for tag in self.played if tag.tag == SAY and tag.status != "skipped").strip()
