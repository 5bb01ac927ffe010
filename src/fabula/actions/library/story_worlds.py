"""Keep what a story says about time: its calendar, and the schedules of its people.

Both belong to the story. Plays that are under way follow a change with their next turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.repositories import STORIES, STORY_RESOURCES
from fabula.actions.views import Command, View, refuse
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.store import Unit
from fabula.story.calendars import Calendar, StoryTime, moment
from fabula.story.schedules import Schedule
from fabula.story.stories import Story
from fabula.story.story_worlds import StoryWorld, world_problems
from fabula.story.world_records import Stay


class NameCalendar(Command):
    story_id: str


class UpdateCalendar(Command):
    """`calendar` takes the place of the one before; what it does not name is as in our own. Null removes it, with all
    schedules and quests: no time passes then."""

    story_id: str
    calendar: Calendar | None


class CalendarView(View):
    """A story's calendar; null where no time passes. `begins` is how the first moment of a play reads."""

    optional = frozenset({"begins"})
    type: Literal["calendar"] = "calendar"
    story_id: str
    calendar: Calendar | None
    begins: StoryTime | None = None


class UpdateSchedule(Command):
    """`schedule` takes the place of the one before; null removes it."""

    story_id: str
    character_id: str
    schedule: Schedule | None


class ScheduleView(View):
    """Where a character of a story is at which phase; null where it has no schedule.

    `stays` are where it was in a play since which turn, oldest first, as far as followers have come."""

    optional = frozenset({"stays"})
    type: Literal["schedule"] = "schedule"
    story_id: str
    character_id: str
    schedule: Schedule | None
    stays: list[Stay] | None = None


@allowed("author")
async def get_calendar(house: House, actor: Actor, command: NameCalendar) -> CalendarView:
    """Shows a story's calendar."""
    async with house.store.reading() as unit:
        return _calendar_view(await STORIES.get(unit, command.story_id))


@allowed("author")
async def update_calendar(house: House, actor: Actor, command: UpdateCalendar) -> CalendarView:
    """Gives a story a calendar, so that time passes in its plays, or takes it away."""

    def change(world: StoryWorld | None) -> StoryWorld | None:
        if command.calendar is None:
            return None
        return (world or StoryWorld()).model_copy(update={"calendar": command.calendar})

    return _calendar_view(await _change_world(house, command.story_id, change))


@allowed("author")
async def update_schedule(house: House, actor: Actor, command: UpdateSchedule) -> ScheduleView:
    """Says where a character of a story is at which phase of the day."""

    def change(world: StoryWorld | None) -> StoryWorld | None:
        if world is None:
            raise InvalidRequest("Give the story a calendar first: a schedule names its phases.")
        others = {id: one for id, one in world.schedules.items() if id != command.character_id}
        added = {} if command.schedule is None else {command.character_id: command.schedule}
        return world.model_copy(update={"schedules": {**others, **added}})

    return schedule_view(await _change_world(house, command.story_id, change), command.character_id)


async def _change_world(house: House, story_id: str, change: Callable[[StoryWorld | None], StoryWorld | None]) -> Story:
    async with house.store.writing() as unit:
        before = await STORIES.get(unit, story_id)
        after = before.model_copy(update={"world": change(before.world)})
        await refuse_bad_world(unit, after)
        await STORIES.put(unit, story_id, after)
    return after


async def refuse_bad_world(unit: Unit, story: Story) -> None:
    """Raises InvalidRequest if what a story says about time cannot be used."""
    if story.world is not None:
        resource = await STORY_RESOURCES.get(unit.looking, story.resource_id)
        refuse(world_problems(story.world, story.graph, frozenset(resource.character_ids)), "world of this story")


def _calendar_view(story: Story) -> CalendarView:
    calendar = None if story.world is None else story.world.calendar
    begins = None if calendar is None else moment(calendar, 0)
    return CalendarView(story_id=story.story_id, calendar=calendar, begins=begins)


def schedule_view(story: Story, character_id: str) -> ScheduleView:
    """The schedule of a character as authors see it."""
    schedules = {} if story.world is None else story.world.schedules
    return ScheduleView(story_id=story.story_id, character_id=character_id, schedule=schedules.get(character_id))
