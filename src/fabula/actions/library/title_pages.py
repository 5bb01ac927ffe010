"""A story's title page: what a player may know of it before the first turn."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.library.stories import NameStory, pinned_variables
from fabula.actions.repositories import ALL_STORIES, CHARACTERS, STORY_RESOURCES, checked_name
from fabula.actions.views import View
from fabula.ports.actors import Actor
from fabula.ports.store import Stored, Unit
from fabula.story.values import Value


class CastName(Value):
    """Somebody of a story's cast, by name alone: who they are is for the story to tell."""

    character_id: str
    name: str
    has_cover: bool


class StoryTitlePage(View):
    """A story as a player meets it. How many scenes and endings it has tells how long it is, and nothing of them.

    `pinned` are the names of the variables that the stage shows. `plays` are those that the caller reaches. Ink stories
    have no cast, and neither scenes nor endings that could be counted.
    """

    optional = frozenset({"words", "scenes", "endings"})
    type: Literal["story_title_page"] = "story_title_page"
    story_id: str
    kind: Literal["graph", "ink"]
    display_name: str
    introduction: str
    cast: list[CastName]
    pinned: list[str]
    words: int | None = None
    scenes: int | None = None
    endings: int | None = None
    plays: int
    created_at_ms: int
    updated_at_ms: int


@allowed("player")
async def show_title_page(house: House, actor: Actor, command: NameStory) -> StoryTitlePage:
    """Shows what a player may know of a story before it begins: introduction, cast by name, how long it is."""
    async with house.store.reading() as unit:
        row = await unit.resources.get("story", checked_name(command.story_id, ALL_STORIES.noun))
        if row is None:
            raise ALL_STORIES.missing(command.story_id)
        ALL_STORIES.refuse_damaged(row)
        known = (await unit.index.entries("story", [row.id]))[row.id]
        plays = await unit.index.count_plays([row.id], token_id=actor.sees_only)
        cast = await _cast(unit, row)
    return StoryTitlePage(
        story_id=row.id,
        kind="ink" if row.doc.get("kind") == "ink" else "graph",
        display_name=str(row.doc.get("display_name", "")),
        introduction=str(row.doc.get("introduction", "")),
        cast=cast,
        pinned=[one.display_name for one in pinned_variables(row.doc) if one.pinned],
        words=known.words,
        scenes=known.scenes,
        endings=known.endings,
        plays=plays.get(row.id, 0),
        created_at_ms=row.created_at_ms,
        updated_at_ms=row.updated_at_ms,
    )


async def _cast(unit: Unit, story: Stored) -> list[CastName]:
    """Its characters in their author's order."""
    resource_id = story.doc.get("resource_id")
    if not isinstance(resource_id, str) or not resource_id:
        return []
    resource = await STORY_RESOURCES.get(unit, resource_id)
    characters = await CHARACTERS.get_all(unit, resource.character_ids)
    return [
        CastName(character_id=id, name=characters[id].content.name, has_cover=characters[id].cover is not None)
        for id in resource.character_ids
    ]
