"""The inner life of a character: what it shows and hides, what it cannot forget, and how that stands in a play.

`Mask` and `Trauma` are an author's data on a character. `InnerLife` is what a play keeps of them and of moods: part of
its state, so that going back restores it. `Mind` is what a role is told of one character in one turn.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabula.story.relations import Relation
from fabula.story.values import Sparse, Value

Emotion = Literal["joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation"]
SlipGrade = Literal["hint", "slip", "break"]
"""How far a mask slips: a sign that something is there, a moment without it, or what is hidden in the open."""

Trait = Annotated[str, Field(min_length=1, max_length=200)]
Share = Annotated[float, Field(ge=0, le=1)]


class Mask(Sparse):
    """What a character presents, and what it hides behind that.

    `touches` are words that come near to what is hidden, beside those of the hidden traits themselves. `integrity` is
    how firmly the mask sits when a play begins, from 1 (nothing shows) to 0.
    """

    optional = frozenset({"touches", "integrity"})
    presented: list[Trait] = Field(min_length=1, max_length=20)
    hidden: list[Trait] = Field(min_length=1, max_length=20)
    touches: list[Trait] = Field(default=[], max_length=40)
    integrity: Share = 1.0


class Trauma(Sparse):
    """Something from before the play that a character cannot forget, and the words that bring it back.

    `text` is what it lives through again, and only its own actor is told. `told` is what the player is told then;
    without it only that something came back.
    """

    optional = frozenset({"told", "emotion"})
    text: str = Field(min_length=1, max_length=1_000)
    triggers: list[Trait] = Field(min_length=1, max_length=40)
    told: str | None = Field(default=None, min_length=1, max_length=500)
    emotion: Emotion = "fear"


class MoodState(Value):
    """How strongly each feeling is felt, from 0 to 1, at a minute of the story; what is hardly felt is left out."""

    felt: dict[Emotion, float] = {}
    minute: int = 0


class WornMask(Value):
    """How a mask sits at a minute of the story, and how many of its hidden traits have come out."""

    integrity: float = 1.0
    shown: int = 0
    minute: int = 0


class InnerLife(Value):
    """What a play keeps of the inner life of its cast, by id; `flashback_turn` is that of the last flashback."""

    moods: dict[str, MoodState] = {}
    masks: dict[str, WornMask] = {}
    flashback_turn: int | None = None


class Mind(Value):
    """What a role is told of a character's mind. Of what is `hidden` only its own actor is told all, others the first
    ones, so many as were `shown`; `relived` is a memory that came back in this turn.

    `stands` says in words how it stands to the others in the scene, `relation` is that to the player, `wants` what it
    is after just now."""

    id: str
    name: str
    mood: str = ""
    valence: float = 0.0
    presented: list[str] = []
    hidden: list[str] = []
    shown: int = 0
    slip: SlipGrade | None = None
    relived: str = ""
    stands: list[str] = []
    relation: Relation | None = None
    wants: list[str] = []
