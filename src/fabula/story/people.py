"""People of a story as time moves them: how they stand to each other when a play begins, and what they are after.

A goal is as strong as its author says, moved by every rule that holds: it follows from the variables of a play and from
how people stand in it, so nothing of it is stored, and going back finds it as it was. Who pursues a goal may be
elsewhere than usual for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from fabula.story.calendars import TimeName
from fabula.story.conditions import Condition, holds
from fabula.story.relations import Degree, FeelingTest, Relation, Relations
from fabula.story.schedules import Schedule
from fabula.story.state import WorldState
from fabula.story.values import Id, Sparse, Value

PURSUED_FROM: Final = 0.6
GIVEN_UP_BELOW: Final = 0.2
Stance = Literal["given_up", "held", "pursued"]
Sentence = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]


class Bond(Sparse):
    """How somebody stands to somebody when a play begins, and why."""

    optional = frozenset({"trust", "respect", "affinity", "fear", "reason"})
    trust: Degree = 0.0
    respect: Degree = 0.0
    affinity: Degree = 0.0
    fear: float = Field(default=0.0, ge=0, le=1)
    reason: str = Field(default="", max_length=200)

    @property
    def relation(self) -> Relation:
        return Relation(
            trust=self.trust, respect=self.respect, affinity=self.affinity, fear=self.fear, reason=self.reason
        )


class GoalRule(Sparse):
    """While all that it names holds, a condition and a feeling, so much is added to the strength of a goal."""

    optional = frozenset({"when", "feeling"})
    when: Condition | None = None
    feeling: FeelingTest | None = None
    by: Degree
    why: Sentence


class Goal(Sparse):
    """What somebody is after. `at` is where they are for it at which phase while they pursue it, instead of where they
    usually are; the exceptions of their schedule come first."""

    optional = frozenset({"rules", "at"})
    goal_id: Id
    text: Sentence
    strength: float = Field(default=0.5, ge=0, le=1)
    rules: list[GoalRule] = Field(default=[], max_length=12)
    at: dict[TimeName, Id] = Field(default={}, max_length=24)


class Person(Sparse):
    """What an author says of somebody beside their schedule: how they stand to others, and what they are after."""

    optional = frozenset({"bonds", "goals"})
    bonds: dict[Id, Bond] = Field(default={}, max_length=100)
    goals: list[Goal] = Field(default=[], max_length=8)


People = Mapping[str, Person]


class GoalNow(Value):
    """How strong a goal is now, and why."""

    goal: Goal
    strength: float
    reasons: list[str] = []

    @property
    def stance(self) -> Stance:
        if self.strength >= PURSUED_FROM:
            return "pursued"
        return "given_up" if self.strength < GIVEN_UP_BELOW else "held"


def goals_now(person: Person, state: WorldState, relations: Relations) -> list[GoalNow]:
    """The goals of somebody, the strongest first."""
    found = []
    for goal in person.goals:
        applied = [
            rule
            for rule in goal.rules
            if holds(rule.when, state) and (rule.feeling is None or rule.feeling.holds(relations))
        ]
        strength = round(max(0.0, min(1.0, goal.strength + sum(rule.by for rule in applied))), 3)
        found.append(GoalNow(goal=goal, strength=strength, reasons=[rule.why for rule in applied]))
    return sorted(found, key=lambda one: -one.strength)


def bent_schedules(
    schedules: Mapping[str, Schedule], people: People, state: WorldState, relations: Relations
) -> Mapping[str, Schedule]:
    """Schedules as they are now: who pursues a goal is where it takes them."""
    bent = {}
    for id, person in people.items():
        if not any(goal.at for goal in person.goals):
            continue
        strongest = goals_now(person, state, relations)[0]
        if strongest.stance == "pursued" and strongest.goal.at:
            usual = schedules.get(id) or Schedule()
            bent[id] = usual.model_copy(update={"usual": {**usual.usual, **strongest.goal.at}})
    return {**schedules, **bent} if bent else schedules


def first_relations(people: People) -> Relations:
    """How everybody stands when a play begins."""
    return {
        id: {whom: bond.relation for whom, bond in person.bonds.items()}
        for id, person in people.items()
        if person.bonds
    }
