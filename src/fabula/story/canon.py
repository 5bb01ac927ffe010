"""Canon: what really happened. Changes that are proposed, with their evidence, and the verdicts on them.

One type serves all proposed changes. `content` says what is to be true; `kind` says of what kind that is. A verdict
carries every step that led to it, so that it can be told to whoever proposed the change, and worked out again.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from fabula.story.values import Id, Json, Value

Name = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
Predicate = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
Moment = int
"""Minutes of story time since the beginning of the world's calendar."""

EntityKind = Literal["character", "faction", "place", "object", "concept"]
ChangeKind = Literal["fact", "entity", "relationship", "state", "event", "axiom"]
Authority = Literal["source", "gm", "player", "system"]
"""On whose word a change rests: the written world, a game master, a player, or the engine's own agents."""
ChangeStatus = Literal["pending", "accepted", "rejected", "committed", "undone"]
EvidenceType = Literal["turn", "message", "roll", "source", "conversation", "user", "clock", "conflict"]


class Evidence(Value):
    """What a change rests on: a turn, a line, a roll, a text, somebody's word, a clock that is full, or a conflict that
    ended. `quote` are its words."""

    type: EvidenceType
    ref: str = Field(max_length=200)
    quote: str = Field(default="", max_length=1000)


class EntityContent(Value):
    """Somebody or something. An `anchor` is there because the author says so."""

    kind: Literal["entity"] = "entity"
    entity_id: Id
    entity_kind: EntityKind
    name: Name
    aliases: list[Name] = Field(default=[], max_length=20)
    description: str = Field(default="", max_length=4000)
    tags: list[Name] = Field(default=[], max_length=20)
    anchor: bool = False


KnownTo = Annotated[list[Id], Field(max_length=40)]
"""Who knows something, by id, the player as `player`; nobody named means that everybody may know it."""


class FactContent(Value):
    """Something that is true of somebody: subject, predicate, object. Without `since` it was always so."""

    kind: Literal["fact"] = "fact"
    subject: Id
    predicate: Predicate
    object: Name
    since: Moment | None = None
    until: Moment | None = None
    known_to: KnownTo = []

    @model_validator(mode="after")
    def _ends_after_it_began(self) -> FactContent:
        if self.since is not None and self.until is not None and self.until <= self.since:
            raise ValueError("a fact ends after it began")
        return self


class RelationshipContent(Value):
    """How one stands to another; not mirrored. `strength` is from -1 to 1."""

    kind: Literal["relationship"] = "relationship"
    subject: Id
    predicate: Predicate
    object: Id
    strength: float = Field(default=0.5, ge=-1, le=1)
    reason: str = Field(default="", max_length=400)
    since: Moment | None = None
    until: Moment | None = None
    known_to: KnownTo = []


class EventContent(Value):
    """Something that happened: who did it, to or with whom, where, and when."""

    kind: Literal["event"] = "event"
    what: Name
    who: list[Id] = Field(default=[], max_length=20)
    where: Id | None = None
    at: Moment | None = None
    known_to: KnownTo = []


class StateContent(Value):
    """A variable that changes with every scene: place, mood, health. It is applied, and not reviewed."""

    kind: Literal["state"] = "state"
    subject: Id
    key: Predicate
    value: Json


class AxiomContent(Value):
    """What can never be true in this world: of nobody, or of nothing of these kinds, a predicate (with this object)."""

    kind: Literal["axiom"] = "axiom"
    text: Name
    predicate: Predicate
    object: Name | None = None
    entity_kinds: list[EntityKind] = Field(default=[], max_length=5)


Content = Annotated[
    EntityContent | FactContent | RelationshipContent | EventContent | StateContent | AxiomContent,
    Field(discriminator="kind"),
]


def entities_in(content: Content) -> tuple[str, ...]:
    """The entities that a content is about; at the other end of a fact there may be plain words."""
    match content:
        case FactContent() | RelationshipContent():
            return (content.subject, content.object)
        case EntityContent():
            return (content.entity_id,)
        case EventContent():
            return (*content.who, *([content.where] if content.where else []))
        case _:
            return ()


class CanonRule(Value):
    """What a variable says about the world when it changes: that `subject` `predicate` `object`.

    Without a subject it is whose variable it is; without an object it is the variable's value. A variable of type bool
    says it when it becomes true, and takes nothing back when it becomes false.
    """

    predicate: Predicate
    subject: Id | None = None
    object: Name | None = None


class Decision(Value):
    """Who decided upon a change, when and why."""

    by: Name
    at_ms: int
    reason: str = Field(max_length=2000)


class Change(Value):
    """A proposed change. `base_version` is the version of canon that it was proposed against.

    `session_id` and `turn_id` put it into the layer of a play; without them it is about the world itself.
    """

    change_id: Id
    world_id: Id
    session_id: Id | None = None
    turn_id: Id | None = None
    content: Content
    evidence: list[Evidence] = Field(default=[], max_length=20)
    confidence: float = Field(default=1.0, ge=0, le=1)
    authority: Authority
    proposer: Name
    base_version: int = 0

    @property
    def kind(self) -> ChangeKind:
        return self.content.kind


class Policy(Value):
    """How changes are judged, as data of a world."""

    authority: dict[Authority, float] = {"source": 1.0, "gm": 1.0, "player": 0.8, "system": 0.5}
    without_evidence: float = Field(default=0.5, ge=0, le=1)
    accept_at: float = Field(default=0.7, ge=0, le=1)
    reject_below: float = Field(default=0.3, ge=0, le=1)
    mentions: int = Field(default=3, ge=0, le=1000)
    retcon: list[Authority] = ["gm"]

    @model_validator(mode="after")
    def _leaves_room_between(self) -> Policy:
        if self.reject_below > self.accept_at:
            raise ValueError("reject_below is at most accept_at")
        return self


Result = Literal["accept", "reject", "pending"]


class Step(Value):
    """One step of a verdict: the rule, what it found, and in one sentence why."""

    rule: str
    found: Json
    sentence: str


class Verdict(Value):
    """What becomes of a change, and every step that led there. `retcons` are changes whose facts it replaces."""

    result: Result
    weight: float
    steps: list[Step]
    contradicts: list[Id] = []
    retcons: list[Id] = []
    critical: bool = False

    @property
    def sentence(self) -> str:
        """The step that decided."""
        return self.steps[-1].sentence
