"""Keep story resources: concept, cast, lore and plan, from which a story is made."""

from __future__ import annotations

from typing import Any, Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.listing import Listing
from fabula.actions.repositories import STORY_RESOURCES, checked_name
from fabula.actions.views import Command, ListView, View, changed
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.story.resources import StoryResources


class CreateStoryResources(Command):
    display_name: str | None = None
    story_concept: str
    character_ids: list[str]
    player_schema_id_seed: str | None = None
    world_schema_id_seed: str | None = None
    lorebook_ids: list[str] = []
    planned_story: str | None = None


class UpdateStoryResources(Command):
    resource_id: str
    display_name: str | None = None
    story_concept: str | None = None
    character_ids: list[str] | None = None
    player_schema_id_seed: str | None = None
    world_schema_id_seed: str | None = None
    lorebook_ids: list[str] | None = None
    planned_story: str | None = None


class NameStoryResources(Command):
    resource_id: str


class _ResourcesFields(View):
    resource_id: str
    display_name: str
    story_concept: str
    character_ids: list[str]
    player_schema_id_seed: str | None
    world_schema_id_seed: str | None
    lorebook_ids: list[str]
    planned_story: str | None


class StoryResourcesView(_ResourcesFields):
    type: Literal["story_resources"] = "story_resources"


class StoryResourcesCreated(_ResourcesFields):
    type: Literal["story_resources_created"] = "story_resources_created"


class StoryResourcesUpdated(_ResourcesFields):
    type: Literal["story_resources_updated"] = "story_resources_updated"


class StoryResourcesListed(ListView):
    type: Literal["story_resources_listed"] = "story_resources_listed"
    resources: list[StoryResourcesView]


class StoryResourcesDeleted(View):
    type: Literal["story_resources_deleted"] = "story_resources_deleted"
    resource_id: str


@allowed("author")
async def create_story_resources(house: House, actor: Actor, command: CreateStoryResources) -> StoryResourcesCreated:
    """Adds what a story is made from; the server names it."""
    given = {"resource_id": house.ids.new("resource"), **dict(command)}
    resource = _checked(given)
    async with house.store.writing() as unit:
        await STORY_RESOURCES.add(unit, resource.resource_id, resource)
    return StoryResourcesCreated(**shown(resource))


@allowed("author")
async def get_story_resources(house: House, actor: Actor, command: NameStoryResources) -> StoryResourcesView:
    """Shows a story resource."""
    async with house.store.reading() as unit:
        return StoryResourcesView(**shown(await STORY_RESOURCES.get(unit, command.resource_id)))


@allowed("author")
async def list_story_resources(house: House, actor: Actor, command: Listing) -> StoryResourcesListed:
    """Lists story resources, by id or `order`. `query` finds words of names and concepts."""
    async with house.store.reading() as unit:
        found, cursor = await STORY_RESOURCES.page(unit, command)
    views = [StoryResourcesView(**shown(resource)) for resource in found]
    return StoryResourcesListed(resources=views, next_cursor=cursor)


@allowed("author")
async def update_story_resources(house: House, actor: Actor, command: UpdateStoryResources) -> StoryResourcesUpdated:
    """Changes a story resource; fields that are not given stay, an empty plan or seed is cleared."""
    names = [name for name in StoryResources.model_fields if name != "resource_id"]
    async with house.store.writing() as unit:
        before = await STORY_RESOURCES.get(unit, command.resource_id)
        after = _checked(changed(before, command, *names))
        await STORY_RESOURCES.put(unit, after.resource_id, after)
    return StoryResourcesUpdated(**shown(after))


@allowed("author")
async def delete_story_resources(house: House, actor: Actor, command: NameStoryResources) -> StoryResourcesDeleted:
    """Removes a story resource that no story or draft uses."""
    async with house.store.writing() as unit:
        await STORY_RESOURCES.remove(unit, command.resource_id)
    return StoryResourcesDeleted(resource_id=command.resource_id)


def shown(resource: StoryResources) -> dict[str, Any]:
    """All eight fields; a blank name is shown as the concept."""
    name = (resource.display_name or "").strip() or resource.story_concept
    return {**dict(resource), "display_name": name}


def _checked(fields: dict[str, Any]) -> StoryResources:
    cleared = {name: _blank_to_none(fields[name]) for name in ("planned_story", "display_name")}
    seeds = {name: fields[name] or None for name in ("player_schema_id_seed", "world_schema_id_seed")}
    draft = CreateStoryResources.model_construct(**{**fields, **cleared, **seeds})
    if not draft.story_concept.strip():
        raise InvalidRequest("Write a story concept: `story_concept` is empty.")
    if not draft.character_ids:
        raise InvalidRequest("A story needs at least one character: `character_ids` is empty.")
    for id in draft.character_ids:
        checked_name(id, "character")
    for id in draft.lorebook_ids:
        checked_name(id, "lorebook")
    if len(set(draft.character_ids)) < len(draft.character_ids):
        raise InvalidRequest("A character is listed twice in `character_ids`.")
    return StoryResources.model_construct(**{**fields, **cleared, **seeds})


def _blank_to_none(text: object) -> object:
    return None if isinstance(text, str) and not text.strip() else text
