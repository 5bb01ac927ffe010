"""Relations: how one stands to another, and never the other way round; with what moved it, and with which turn.

They are part of the state of a play, so that going back restores them.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from fabula.story.values import Id, Sparse, Value

Axis = Literal["trust", "respect", "affinity", "fear"]
AXES: Final[tuple[Axis, ...]] = ("trust", "respect", "affinity", "fear")
"""What a relation is made of. `affinity` is also called affection elsewhere; it is one axis, with this name."""
MOST_STEPS: Final = 6
"""So many of the last changes of a relation are kept with their reasons."""
MOST_WITH_STEPS: Final = 500
"""So many relations of a play keep them: of more, those that changed last. Every turn stores all of them."""

Degree = Annotated[float, Field(ge=-1, le=1)]


def _is_nothing(value: object) -> bool:
    return not value


class Deltas(Value):
    """By how much each axis of a relation changes."""

    trust: Degree = 0.0
    respect: Degree = Field(default=0.0, exclude_if=_is_nothing)
    affinity: Degree = 0.0
    fear: Degree = 0.0

    def of(self, axis: Axis) -> float:
        value: float = getattr(self, axis)
        return value


class Tally(Value):
    """How an axis has moved since it was last proposed as canon: in sum, and how often in a row the same way (below
    zero: downwards). `firm` is the way it went when that had happened three times in a row."""

    moved: float = 0.0
    row: int = 0
    firm: Literal[-1, 0, 1] = 0


class RelationStep(Value):
    """A change of a relation: by how much, why, and with which turn on the line that is played.

    The turn is told by its number, so that the same play has the same state wherever it is played.
    """

    turn_index: int
    deltas: Deltas
    reason: str = Field(default="", max_length=200)


class Relation(Value):
    """How one stands to another: trust, respect and affinity from -1 to 1, fear from 0 to 1. `reason` is that of the
    last change.

    `collected` is what was too small to change anything by itself; `steps` are the last changes, oldest first.
    """

    trust: float = Field(default=0.0, ge=-1, le=1)
    respect: float = Field(default=0.0, ge=-1, le=1, exclude_if=_is_nothing)
    affinity: float = Field(default=0.0, ge=-1, le=1)
    fear: float = Field(default=0.0, ge=0, le=1)
    tallies: dict[Axis, Tally] = {}
    reason: str = Field(default="", max_length=200)
    collected: dict[Axis, float] = Field(default={}, exclude_if=_is_nothing)
    steps: list[RelationStep] = Field(default=[], exclude_if=_is_nothing)

    def of(self, axis: Axis) -> float:
        value: float = getattr(self, axis)
        return value


Relations = dict[str, dict[str, Relation]]
"""By who feels, then by whom it is about; the player is `player`."""


def kept_step(relation: Relation, step: RelationStep) -> Relation:
    """The relation with one more of its changes kept; the oldest ones go."""
    return relation.model_copy(update={"steps": [*relation.steps, step][-MOST_STEPS:]})


def within_bounds(relations: Relations) -> Relations:
    """Relations of which not too many keep their changes; how everybody stands stays as it is."""
    changed = [one.steps[-1].turn_index for mine in relations.values() for one in mine.values() if one.steps]
    if len(changed) <= MOST_WITH_STEPS:
        return relations
    oldest = sorted(changed)[-MOST_WITH_STEPS]
    return {
        who: {
            towards: one.model_copy(update={"steps": []}) if one.steps and one.steps[-1].turn_index < oldest else one
            for towards, one in mine.items()
        }
        for who, mine in relations.items()
    }


class FeelingTest(Sparse):
    """Whether somebody stands to somebody so: an axis `at_least` or `at_most` so far. The player is `player`."""

    optional = frozenset({"at_least", "at_most"})
    who: Id
    towards: Id = "player"
    axis: Axis
    at_least: Degree | None = None
    at_most: Degree | None = None

    def holds(self, relations: Relations) -> bool:
        one = relations.get(self.who, {}).get(self.towards)
        value = 0.0 if one is None else one.of(self.axis)
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)
