"""The world of a story as far as time moves it: its calendar, the schedules of its people, and its quests."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from fabula.story.calendars import Calendar, calendar_problems
from fabula.story.conditions import WEIGHT_OF_LOOKING, Comparison, tests_of, weight_of
from fabula.story.graph import Graph
from fabula.story.people import Person, bent_schedules
from fabula.story.quests import Quest, quest_problems
from fabula.story.relations import Relations
from fabula.story.schedules import Schedule, schedule_problems
from fabula.story.state import WorldState
from fabula.story.values import Id, Value

MOST_RULES = 5_000
"""So many exceptions of schedules, and comparisons in them and in quests, a world has: a turn may look at all."""


def _is_nobody(value: object) -> bool:
    return not value


class StoryWorld(Value):
    """What a story says about time. A story without one has no clock, and its plays cost nothing more.

    `people` is how its people stand to each other when a play begins, and what they are after.
    """

    calendar: Calendar = Calendar()
    schedules: dict[Id, Schedule] = Field(default={}, max_length=1000)
    quests: list[Quest] = Field(default=[], max_length=100)
    people: dict[Id, Person] = Field(default={}, max_length=200, exclude_if=_is_nobody)

    def schedules_now(self, state: WorldState, relations: Relations) -> Mapping[str, Schedule]:
        """Schedules, bent to the goals that people pursue."""
        return bent_schedules(self.schedules, self.people, state, relations) if self.people else self.schedules


def world_tests(world: StoryWorld) -> list[Comparison]:
    """All that the quests and schedules of a world ask of variables."""
    rules = [rule for quest in world.quests for rule in (quest.opens, quest.done, quest.fails) if rule is not None]
    exceptions = [one for schedule in world.schedules.values() for one in schedule.exceptions]
    goals = [rule for person in world.people.values() for goal in person.goals for rule in goal.rules]
    conditions = [
        *(rule.condition for rule in rules),
        *(one.condition for one in exceptions),
        *(rule.when for rule in goals),
    ]
    return [test for condition in conditions for test in tests_of(condition)]


def world_problems(world: StoryWorld, graph: Graph, cast: frozenset[str]) -> list[str]:
    """What is wrong with the world of a story, in sentences; empty when all is well."""
    nodes = frozenset(node.id for node in graph.nodes)
    rules = sum(map(weight_of, world_tests(world)))
    rules += sum(len(schedule.exceptions) for schedule in world.schedules.values())
    if rules > MOST_RULES:
        return [
            f"its schedules and quests have {rules} exceptions and comparisons, and {MOST_RULES} are the most; "
            f"`contains` counts as {WEIGHT_OF_LOOKING}"
        ]
    problems = calendar_problems(world.calendar)
    for name, schedule in world.schedules.items():
        if name not in cast:
            problems.append(f"there is a schedule for '{name}', who is not in the cast")
        problems += schedule_problems(name, schedule, world.calendar, nodes)
    for name, person in world.people.items():
        if name not in cast:
            problems.append(f"there are goals or bonds of '{name}', who is not in the cast")
        bent = [Schedule(usual=goal.at) for goal in person.goals]
        problems += [text for one in bent for text in schedule_problems(name, one, world.calendar, nodes)]
    problems += [
        f"the node '{node.id}' is played in the phase '{node.phase}', which the calendar does not have"
        for node in graph.nodes
        if node.phase is not None and world.calendar.phase_named(node.phase) is None
    ]
    return [*problems, *quest_problems(world.quests, nodes)]
