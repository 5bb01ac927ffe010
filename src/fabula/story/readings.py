"""What a player's line was understood to mean: its acts one by one, and what follows for the ways on.

A reading is made by rule, once a turn, from the line and the scene it is said in. Whoever answers the player goes by
it: roles that play by rule, and the gate that stands before what a model proposes.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabula.story.values import Id, Value

IntentKind = Literal[
    "go",
    "look",
    "examine",
    "listen",
    "talk",
    "ask",
    "tell",
    "take",
    "give",
    "put",
    "use",
    "open",
    "close",
    "read",
    "eat",
    "attack",
    "touch",
    "gesture",
    "wait",
    "greet",
    "farewell",
    "thank",
    "apologise",
    "agree",
    "refuse",
    "promise",
    "speech",
    "hint",
    "where",
    "who_is_here",
    "act",
    "silence",
    "unknown",
]
"""What kind of act a clause is. `speech` is said and asks for nothing; `act` is a deed of no other kind; `hint`,
`where` and `who_is_here` ask for the way on, the place and the people; `unknown` are words that mean nothing here."""

Mood = Literal["act", "order", "question", "wish", "maybe", "past", "statement"]
"""How a clause is meant: done now, asked of another, asked, wished for, only thought of, told of the past, or said."""


class Intent(Value):
    """One act of a line. Words are as the player wrote them, without articles; people are named by id.

    `whom` is who is spoken to or acted on, `about` what is asked or told about, `what` the thing that is acted on,
    `where` the place that is gone to. What is not said is empty.
    """

    kind: IntentKind
    text: str
    verb: str = ""
    what: str = ""
    whom: str = ""
    about: str = ""
    where: str = ""
    mood: Mood = "act"
    negated: bool = False


class TakeWay(Value):
    """The line means this way of the node, or a step towards it: `way` counts its transitions from 0."""

    kind: Literal["take"] = "take"
    way: int


class AskBack(Value):
    """The line may mean these ways: the player is asked which, or whether it is the one.

    `names` says of each what it is, in words that follow `do you mean`: `to read the logbook`, `the lighthouse`.
    """

    kind: Literal["ask"] = "ask"
    ways: list[int]
    names: list[str] = []


class Stay(Value):
    """The line is understood, and means no way on."""

    kind: Literal["stay"] = "stay"


class Unclear(Value):
    """The line is not understood: its words mean nothing here, or it is in a language that is not read."""

    kind: Literal["unclear"] = "unclear"
    reason: Literal["words", "language"] = "words"


Decision = Annotated[TakeWay | AskBack | Stay | Unclear, Field(discriminator="kind")]


class Understood(Value):
    """A line as it was understood in its scene.

    `line` is what the player wrote. `scores` has a number from 0 to 1 for each transition of the node, in its order; of
    very many transitions for the first ones.
    `topic` are the words that the line is about, as a dictionary has them: what was asked after, looked at or acted on.
    `addressed` is who is spoken to, if that is said; `answers` tells that the line answers the question of the turn
    before. `hint` is the number of the hint that is due in this scene with this turn, 0 when none is.
    """

    line: str
    node_id: Id
    intents: list[Intent] = []
    scores: list[float] = []
    decision: Decision = Stay()
    topic: list[str] = []
    addressed: str = ""
    answers: bool = False
    hint: int = 0

    @property
    def first(self) -> Intent | None:
        """The act that an answer is about: the first that is no greeting, or the first of all."""
        plain = [intent for intent in self.intents if intent.kind not in ("greet", "thank", "apologise")]
        return next(iter(plain or self.intents), None)

    def has(self, *kinds: IntentKind) -> bool:
        """Whether the line has an act of one of these kinds that is meant as such."""
        return any(intent.kind in kinds and not intent.negated for intent in self.intents)


class OpenQuestion(Value):
    """What the storyteller asked back: which of these ways of the node is meant."""

    node_id: Id
    ways: list[int]
