"""The world of a story as far as time moves it: its calendar, the schedules of its people, and its quests."""

from __future__ import annotations

from pydantic import Field

from fabula.story.calendars import Calendar, calendar_problems
from fabula.story.conditions import Comparison, tests_of
from fabula.story.graph import Graph
from fabula.story.quests import Quest, quest_problems
from fabula.story.schedules import Schedule, schedule_problems
from fabula.story.values import Id, Value

MOST_RULES = 5_000
"""So many exceptions of schedules, and comparisons in them and in quests, a world has: a turn may look at all."""


class StoryWorld(Value):
    """What a story says about time. A story without one has no clock, and its plays cost nothing more."""

    calendar: Calendar = Calendar()
    schedules: dict[Id, Schedule] = Field(default={}, max_length=1000)
    quests: list[Quest] = Field(default=[], max_length=100)


def world_tests(world: StoryWorld) -> list[Comparison]:
    """All that the quests and schedules of a world ask of variables."""
    rules = [rule for quest in world.quests for rule in (quest.opens, quest.done, quest.fails) if rule is not None]
    exceptions = [one for schedule in world.schedules.values() for one in schedule.exceptions]
    conditions = [*(rule.condition for rule in rules), *(one.condition for one in exceptions)]
    return [test for condition in conditions for test in tests_of(condition)]


def world_problems(world: StoryWorld, graph: Graph, cast: frozenset[str]) -> list[str]:
    """What is wrong with the world of a story, in sentences; empty when all is well."""
    nodes = frozenset(node.id for node in graph.nodes)
    rules = len(world_tests(world)) + sum(len(schedule.exceptions) for schedule in world.schedules.values())
    if rules > MOST_RULES:
        return [f"its schedules and quests have {rules} exceptions and comparisons, and {MOST_RULES} are the most"]
    problems = calendar_problems(world.calendar)
    for name, schedule in world.schedules.items():
        if name not in cast:
            problems.append(f"there is a schedule for '{name}', who is not in the cast")
        problems += schedule_problems(name, schedule, world.calendar, nodes)
    problems += [
        f"the node '{node.id}' is played in the phase '{node.phase}', which the calendar does not have"
        for node in graph.nodes
        if node.phase is not None and world.calendar.phase_named(node.phase) is None
    ]
    return [*problems, *quest_problems(world.quests, nodes)]
