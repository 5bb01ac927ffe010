"""Agendas: what factions are about while nobody looks, each a clock of a few segments that fills as time passes.

An author writes a clock into a world. A play keeps of it only what moves (`AgendaNow`), with each turn, so that going
back finds it as it was. How clocks move is decided in `fabula.rules.agendas`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, model_validator

from fabula.story.canon import EntityContent, EventContent, FactContent, KnownTo, Moment, Name, RelationshipContent
from fabula.story.conditions import Condition, tests_of
from fabula.story.values import Id, Sparse, Value

MOST_CLOCKS: Final = 24
"""So many clocks a world has, and so many a play makes beside them."""
MOST_SEGMENTS: Final = 12
MOST_FORCE: Final = 10
MOST_FIRED: Final = 40
"""So many of the events that came to pass a play remembers; canon has them all."""
MOST_TESTS: Final = 200
"""So many comparisons the rules of all clocks of a world have: a turn may look at all."""
LONGEST_NOTICE: Final = 600

AgendaStatus = Literal["waiting", "active", "fired", "dropped"]
"""A clock waits until another one starts it, runs, has come to its end, or was given up."""
Segments = Annotated[int, Field(ge=1, le=MOST_SEGMENTS)]
Force = Annotated[int, Field(ge=0, le=MOST_FORCE)]
Minutes = Annotated[int, Field(ge=10, le=100 * 366 * 1440)]
AgendaText = Annotated[str, StringConstraints(max_length=1000, strip_whitespace=True)]
Notice = Annotated[str, StringConstraints(max_length=LONGEST_NOTICE, strip_whitespace=True)]
Outcome = Annotated[EntityContent | FactContent | RelationshipContent, Field(discriminator="kind")]


class ForceRule(Sparse):
    """While `when` holds in a play, so much is added to a clock's pressure and opposition. With `stops` it is given up
    for good as soon as that holds."""

    optional = frozenset({"stops"})
    when: Condition
    pressure: int = Field(default=0, ge=-MOST_FORCE, le=MOST_FORCE)
    opposition: int = Field(default=0, ge=-MOST_FORCE, le=MOST_FORCE)
    stops: bool = False


class Firing(Sparse):
    """What comes to pass when a clock is full.

    `event` is what happened, in a few words; `notice` is what somebody notices of it, told as it stands, else the event
    itself. `where` is the place at which it is noticed, else everywhere. `known_to` are those who know of it, by id:
    nobody named means everybody. `changes` are what is true from then on. `starts` are clocks that run from then on,
    `pushes` what it adds to the pressure of others.
    """

    optional = frozenset({"where", "known_to", "changes", "starts", "pushes", "notice"})
    event: Name
    notice: Notice | None = None
    where: Id | None = None
    known_to: KnownTo = []
    changes: list[Outcome] = Field(default=[], max_length=8)
    starts: list[Id] = Field(default=[], max_length=8)
    pushes: dict[Id, int] = Field(default={}, max_length=8)

    @property
    def told(self) -> str:
        """What is told of it where it is noticed."""
        return self.notice or self.event


class AgendaNow(Value):
    """What moves of a clock. `rest` are the minutes since its last chance."""

    filled: int = Field(ge=0, le=MOST_SEGMENTS)
    pressure: Force
    opposition: Force
    status: AgendaStatus
    rest: int = Field(default=0, ge=0)


class AgendaClock(Sparse):
    """An agenda as it is written: whose it is (`owner`), what they want, and how the clock stands when a play begins.

    Every so many minutes of story time (`every`) it has one chance to fill a segment.
    """

    optional = frozenset({"owner", "rules", "fires"})
    clock_id: Id
    name: Name
    agenda: AgendaText = ""
    owner: Id | None = None
    segments: Segments = 6
    filled: int = Field(default=0, ge=0, le=MOST_SEGMENTS)
    pressure: Force = 1
    opposition: Force = 0
    every: Minutes = 60
    status: AgendaStatus = "active"
    rest: int = Field(default=0, ge=0)
    rules: list[ForceRule] = Field(default=[], max_length=8)
    fires: Firing | None = None

    @model_validator(mode="after")
    def _fits(self) -> AgendaClock:
        if self.filled > self.segments:
            raise ValueError("a clock is filled to its last segment at most")
        return self

    @property
    def now(self) -> AgendaNow:
        """What moves of it, as it stands."""
        return AgendaNow(
            filled=self.filled,
            pressure=self.pressure,
            opposition=self.opposition,
            status=self.status,
            rest=self.rest,
        )

    def at(self, now: AgendaNow) -> AgendaClock:
        """The same clock as it stands elsewhere; its author may have taken segments away since."""
        moved = {name: getattr(now, name) for name in AgendaNow.model_fields}
        return self.model_copy(update={**moved, "filled": min(now.filled, self.segments)})


class FiredAgenda(Value):
    """That a clock came to its end: when, and at which turn of the play, where it has one.

    `noticed` is the turn at which the event was told. It is kept as it was told to be, whatever the author changes.
    """

    clock_id: Id
    name: Name
    owner: Id | None = None
    minute: Moment
    turn_index: int = 0
    event: Name
    told: str = Field(max_length=LONGEST_NOTICE)
    where: Id | None = None
    known_to: KnownTo = []
    noticed: int | None = None

    def is_known_in(self, place: str, knowing: Iterable[str]) -> bool:
        """Whether it is noticed at a place, or one of these knows of it."""
        if not self.known_to:
            return self.where in (None, place)
        return not frozenset(knowing).isdisjoint(self.known_to)

    @property
    def content(self) -> EventContent:
        """The event as it is proposed to canon."""
        who = [] if self.owner is None else [self.owner]
        return EventContent(what=self.event, who=who, where=self.where, at=self.minute, known_to=self.known_to)


def clocks_at(clocks: Sequence[AgendaClock], moved: Mapping[str, AgendaNow]) -> list[AgendaClock]:
    """Clocks as they stand where these have moved; the others stand as they are written."""
    return [clock.at(moved[clock.clock_id]) if clock.clock_id in moved else clock for clock in clocks]


def agenda_problems(clocks: Sequence[AgendaClock]) -> list[str]:
    """What is wrong with the clocks of a world, in sentences; empty when all is well."""
    ids = [clock.clock_id for clock in clocks]
    problems = [f"the clock '{id}' is there twice" for id in sorted({id for id in ids if ids.count(id) > 1})]
    if len(clocks) > MOST_CLOCKS:
        problems.append(f"there are {len(clocks)} clocks, and {MOST_CLOCKS} are the most")
    tests = sum(1 for clock in clocks for rule in clock.rules for _ in tests_of(rule.when))
    if tests > MOST_TESTS:
        problems.append(f"the rules of the clocks have {tests} comparisons, and {MOST_TESTS} are the most")
    for clock in clocks:
        fires = clock.fires
        named = [] if fires is None else [*fires.starts, *fires.pushes]
        problems += [
            f"the clock '{clock.clock_id}' names the clock '{id}', which does not exist"
            for id in named
            if id not in ids
        ]
    return problems
