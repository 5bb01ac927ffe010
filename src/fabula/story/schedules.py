"""Schedules: which character is where at which phase of the day, and who is therefore met in a scene; pure."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from fabula.story.calendars import Calendar, StoryTime, TimeName
from fabula.story.changes import let_in
from fabula.story.conditions import Condition, holds
from fabula.story.graph import Node
from fabula.story.state import WorldState
from fabula.story.values import Id, Sparse


class ScheduleException(Sparse):
    """Where somebody is instead, when everything that it names fits: a phase, a weekday, a date, a condition.

    Without a `node_id` they are in no scene.
    """

    optional = frozenset({"phase", "weekday", "month", "day", "condition", "node_id"})
    phase: TimeName | None = None
    weekday: TimeName | None = None
    month: TimeName | None = None
    day: int | None = Field(default=None, ge=1, le=1000)
    condition: Condition | None = None
    node_id: Id | None = None

    def fits(self, now: StoryTime, state: WorldState) -> bool:
        named = ((self.phase, now.phase), (self.weekday, now.weekday), (self.month, now.month))
        if any(wanted is not None and wanted.casefold() != found.casefold() for wanted, found in named):
            return False
        return self.day in (None, now.day) and holds(self.condition, state)


class Schedule(Sparse):
    """Where a character is at which phase, by the phases' names; exceptions come first, in their order."""

    optional = frozenset({"exceptions"})
    usual: dict[TimeName, Id] = Field(default={}, max_length=24)
    exceptions: list[ScheduleException] = Field(default=[], max_length=100)


Schedules = Mapping[str, Schedule]


def place_of(schedule: Schedule, now: StoryTime, state: WorldState) -> str | None:
    """The node at which a character is now; None where it is in no scene."""
    for exception in schedule.exceptions:
        if exception.fits(now, state):
            return exception.node_id
    phase = now.phase.casefold()
    return next((node_id for name, node_id in schedule.usual.items() if name.casefold() == phase), None)


def scheduled_at(schedules: Schedules, node_id: str, now: StoryTime, state: WorldState) -> list[str]:
    """Who is at a node now by schedule."""
    return [id for id, schedule in schedules.items() if place_of(schedule, now, state) == node_id]


def with_presence(
    schedules: Schedules, node: Node, state: WorldState, *, before: StoryTime | None, now: StoryTime
) -> WorldState:
    """The state after those came and went whom the change of time brings and takes away.

    `before` is None at the beginning of a scene. The cast of the node stays whatever its schedules say, and a node that
    keeps its cast is left alone. Who was brought or sent away otherwise stays so until its own schedule moves it.
    """
    if node.keeps_cast or not schedules:
        return state
    here = scheduled_at(schedules, node.id, now, state)
    left = [] if before is None else scheduled_at(schedules, node.id, before, state)
    gone = {id for id in left if id not in here and id not in node.characters}
    came = [id for id in here if id not in left]
    present = [id for id in state.active_characters if id not in gone]
    after = let_in(present, came)
    return state if after == state.active_characters else state.model_copy(update={"active_characters": after})


def schedule_problems(name: str, schedule: Schedule, calendar: Calendar, nodes: frozenset[str]) -> list[str]:
    """What is wrong with a character's schedule, in sentences."""
    phases = [*schedule.usual, *(one.phase for one in schedule.exceptions if one.phase is not None)]
    problems = [
        f"the schedule of '{name}' names the phase '{phase}', which the calendar does not have"
        for phase in phases
        if calendar.phase_named(phase) is None
    ]
    places = [*schedule.usual.values(), *(one.node_id for one in schedule.exceptions if one.node_id is not None)]
    problems += [
        f"the schedule of '{name}' names the node '{place}', which does not exist"
        for place in places
        if place not in nodes
    ]
    days = {day.casefold() for day in calendar.weekdays}
    months = {month.name.casefold() for month in calendar.months}
    for one in schedule.exceptions:
        if one.weekday is not None and one.weekday.casefold() not in days:
            problems.append(f"the schedule of '{name}' names the weekday '{one.weekday}', which there is not")
        if one.month is not None and one.month.casefold() not in months:
            problems.append(f"the schedule of '{name}' names the month '{one.month}', which there is not")
    return problems
