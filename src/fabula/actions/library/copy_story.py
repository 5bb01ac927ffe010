"""Copy a story: a second one with a graph or source of its own, and the same cast and lore."""

from __future__ import annotations

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.library.stories import InkStoryView, StoryView, story_view
from fabula.actions.repositories import ALL_STORIES
from fabula.actions.views import Command
from fabula.ports.actors import Actor


class CopyStory(Command):
    story_id: str
    display_name: str | None = None


@allowed("author")
async def copy_story(house: House, actor: Actor, command: CopyStory) -> StoryView | InkStoryView:
    """Adds a copy of a story under an id of its own; cast and lore are shared with the first one."""
    async with house.store.writing() as unit:
        story = await ALL_STORIES.get(unit, command.story_id)
        name = (command.display_name or "").strip() or f"{story.display_name} (copy)"
        copied = story.model_copy(update={"story_id": house.ids.new("story"), "display_name": name})
        await ALL_STORIES.add(unit, copied.story_id, copied)
    return story_view(copied)
