"""Where a character of a story is: by its schedule, and in one of the story's plays."""

from __future__ import annotations

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.library.story_worlds import ScheduleView, schedule_view
from fabula.actions.plays.play_states import head_state
from fabula.actions.plays.world_records import newest_record
from fabula.actions.repositories import CHARACTERS, STORIES
from fabula.actions.views import Command
from fabula.ports.actors import Actor


class ShowSchedule(Command):
    """`in_session_id` names a play of the story in which the character is to be found."""

    story_id: str
    character_id: str
    in_session_id: str | None = None


@allowed("author")
async def get_schedule(house: House, actor: Actor, command: ShowSchedule) -> ScheduleView:
    """Shows the schedule of a character in a story, on wish with where it was and is in one of its plays."""
    async with house.store.reading() as unit:
        story = await STORIES.get(unit, command.story_id)
        await CHARACTERS.get(unit, command.character_id)
        view = schedule_view(story, command.character_id)
        if command.in_session_id is None:
            return view
        _, state = await head_state(unit, actor, command.in_session_id)
        record = await newest_record(unit, state)
    stays = [] if record is None else record.whereabouts.get(command.character_id, [])
    return view.model_copy(update={"stays": stays})
