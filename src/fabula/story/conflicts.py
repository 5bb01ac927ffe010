"""Conflicts: what people in a world are at odds about, from the first grudge to what is left of it.

An author writes a conflict into a world. A play keeps of it only what moves (`ConflictNow`), with each turn, so that
going back finds it as it was. How conflicts move is decided in `fabula.rules.conflicts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from fabula.story.agendas import AgendaText, Notice, Outcome
from fabula.story.canon import KnownTo, Name
from fabula.story.conditions import Condition, tests_of
from fabula.story.relations import Degree, FeelingTest
from fabula.story.values import Id, Sparse, Value

MOST_CONFLICTS: Final = 12
MOST_CONFLICT_TESTS: Final = 200
"""So many comparisons the rules of all conflicts of a world have: a turn may look at all."""
MOST_CONFLICT_STEPS: Final = 8
LONGEST_WHY: Final = 300

ConflictPhase = Literal["seed", "emerging", "rising", "confrontation", "climax", "falling", "resolution", "aftermath"]
PHASES: Final[tuple[ConflictPhase, ...]] = (
    "seed",
    "emerging",
    "rising",
    "confrontation",
    "climax",
    "falling",
    "resolution",
    "aftermath",
)
Why = Annotated[str, StringConstraints(max_length=LONGEST_WHY, strip_whitespace=True)]


class Stakeholder(Sparse):
    """Somebody who has a part in a conflict, and what they want of it."""

    who: Id
    wants: AgendaText = ""


class ConflictPush(Sparse):
    """What moves a conflict once, as soon as all that it names holds: a condition, a feeling, a clock that fired.

    `by` is added to its intensity; below zero it calms.
    """

    optional = frozenset({"when", "feeling", "clock_id"})
    push_id: Id
    when: Condition | None = None
    feeling: FeelingTest | None = None
    clock_id: Id | None = None
    by: Degree
    why: Why


class ConflictMove(Sparse):
    """What a stakeholder does when the world moves, once, while the conflict is in one of these phases.

    `notice` is what is told of it where it is noticed, else `what`. `when` must hold.
    """

    optional = frozenset({"when", "notice", "where", "known_to"})
    move_id: Id
    by: Id
    phases: list[ConflictPhase] = Field(min_length=1, max_length=8)
    what: Name
    push: Degree = 0.1
    when: Condition | None = None
    notice: Notice | None = None
    where: Id | None = None
    known_to: KnownTo = []


class ConflictOutcome(Sparse):
    """How a conflict may end: at its climax when `when` holds, `early` also before that. One without `when` is how it
    ends if nobody does anything about it. `changes` are what is true from then on."""

    optional = frozenset({"when", "feeling", "early", "notice", "where", "known_to", "changes"})
    outcome_id: Id
    when: Condition | None = None
    feeling: FeelingTest | None = None
    early: bool = False
    event: Name
    notice: Notice | None = None
    where: Id | None = None
    known_to: KnownTo = []
    changes: list[Outcome] = Field(default=[], max_length=8)


class ConflictStep(Value):
    """What moved a conflict: with which turn, to where, and why."""

    turn_index: int
    minute: int
    phase: ConflictPhase
    intensity: float
    why: str = Field(max_length=LONGEST_WHY)


class ConflictNow(Value):
    """What moves of a conflict. `ticks` is how often the world moved since its phase began, `ticked` the minute up to
    which it has moved; `pushed` and `made` are the
    pushes and moves that are over."""

    phase: ConflictPhase = "seed"
    intensity: float = Field(default=0.0, ge=0, le=1)
    momentum: float = Field(default=0.0, ge=-1, le=1)
    ticks: int = 0
    ticked: int | None = None
    outcome_id: Id | None = None
    pushed: list[Id] = []
    made: list[Id] = []
    steps: list[ConflictStep] = []


class Conflict(Sparse):
    """A conflict as it is written: who has a part in it, what is at stake, and how it stands when a play begins.

    It has a tick every so many minutes of story time, as the world moves (`every`).
    `drift` is what each tick adds to its intensity by itself before the climax, `patience` how many ticks a climax
    lasts if nobody decides it. `where` are the places in which it is felt, `known_to` those who know of it, by id:
    nobody named means everybody. `signs` is what is told when a phase begins.
    """

    optional = frozenset({"where", "known_to", "signs", "pushes", "moves", "momentum", "every"})
    conflict_id: Id
    title: Name
    stakes: AgendaText = ""
    stakeholders: list[Stakeholder] = Field(min_length=1, max_length=12)
    intensity: float = Field(default=0.1, ge=0, le=1)
    momentum: float = Field(default=0.0, ge=-1, le=1)
    drift: float = Field(default=0.03, ge=-0.5, le=0.5)
    patience: int = Field(default=2, ge=1, le=20)
    every: int = Field(default=120, ge=0, le=100_000)
    where: list[Id] = Field(default=[], max_length=12)
    known_to: KnownTo = []
    signs: dict[ConflictPhase, Notice] = {}
    pushes: list[ConflictPush] = Field(default=[], max_length=24)
    moves: list[ConflictMove] = Field(default=[], max_length=24)
    outcomes: list[ConflictOutcome] = Field(min_length=1, max_length=8)

    @property
    def start(self) -> ConflictNow:
        """How it stands when a play begins."""
        return ConflictNow(intensity=self.intensity, momentum=self.momentum)

    @property
    def people(self) -> list[str]:
        return [one.who for one in self.stakeholders]

    @property
    def conditions(self) -> list[Condition | None]:
        """All that its rules ask of variables."""
        pushes, moves = [one.when for one in self.pushes], [one.when for one in self.moves]
        return [*pushes, *moves, *(one.when for one in self.outcomes)]

    def outcome(self, id: str | None) -> ConflictOutcome | None:
        return next((one for one in self.outcomes if one.outcome_id == id), None)


def conflict_problems(conflicts: Sequence[Conflict]) -> list[str]:
    """What is wrong with the conflicts of a world, in sentences; empty when all is well."""
    problems = [f"the conflict '{id}' is there twice" for id in _twice([one.conflict_id for one in conflicts])]
    if len(conflicts) > MOST_CONFLICTS:
        problems.append(f"there are {len(conflicts)} conflicts, and {MOST_CONFLICTS} are the most")
    conditions = [condition for one in conflicts for condition in one.conditions]
    tests = sum(1 for condition in conditions for _ in tests_of(condition))
    if tests > MOST_CONFLICT_TESTS:
        problems.append(f"the conflicts have {tests} comparisons, and {MOST_CONFLICT_TESTS} are the most")
    for one in conflicts:
        named: Mapping[str, list[str]] = {
            "push": [push.push_id for push in one.pushes],
            "move": [move.move_id for move in one.moves],
            "outcome": [outcome.outcome_id for outcome in one.outcomes],
        }
        for kind, ids in named.items():
            problems += [f"the conflict '{one.conflict_id}' has the {kind} '{id}' twice" for id in _twice(ids)]
        problems += [
            f"the conflict '{one.conflict_id}' has a move of '{move.by}', who has no part in it"
            for move in one.moves
            if move.by not in one.people
        ]
        if all(outcome.when is not None or outcome.feeling is not None for outcome in one.outcomes):
            problems.append(
                f"the conflict '{one.conflict_id}' never ends by itself: give it an outcome with no condition"
            )
    return problems


def _twice(ids: Sequence[str]) -> list[str]:
    return sorted({id for id in ids if ids.count(id) > 1})
