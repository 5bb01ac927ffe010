"""Gather what a story is built from: concept, cast, lore, seeds, prompts and models, each read once."""

from __future__ import annotations

from fabula.actions.repositories import (
    API_GROUPS,
    APIS,
    CHARACTERS,
    PRESETS,
    SCHEMAS,
    STORY_RESOURCES,
)
from fabula.actions.setups.default_binding import default_binding
from fabula.actions.setups.story_lore import lore_of_books
from fabula.loops.generation.draft_setup import DraftSetup, ground_of
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.lint import Finding, lint
from fabula.story.resources import StoryResources
from fabula.story.stories import StoryDraft


async def gather_draft_setup(
    unit: Unit, resource_id: str, api_group_id: str | None, preset_id: str | None
) -> DraftSetup:
    """The materials of a resource, with the named group and preset or the first available ones."""
    resource = await STORY_RESOURCES.get(unit, resource_id)
    group_id, preset = await default_binding(unit, api_group_id, preset_id)
    group = await API_GROUPS.get(unit, group_id)
    cast = await CHARACTERS.get_all(unit, resource.character_ids)
    characters = {id: cast[id].content for id in resource.character_ids}
    seeds = [id for id in (resource.world_schema_id_seed, resource.player_schema_id_seed) if id is not None]
    schemas = await SCHEMAS.get_all(unit, sorted({*seeds, *(one.schema_id for one in characters.values())}))
    lore = await lore_of_books(unit, resource.lorebook_ids)
    return DraftSetup(
        resource=resource,
        characters=characters,
        character_schemas=schemas,
        lore=lore,
        world_seed=schemas[resource.world_schema_id_seed] if resource.world_schema_id_seed else None,
        player_seed=schemas[resource.player_schema_id_seed] if resource.player_schema_id_seed else None,
        preset=await PRESETS.get(unit, preset),
        group=group,
        apis=await APIS.get_all(unit, sorted(set(group.bindings.model_dump().values()))),
    )


async def draft_findings(unit: Unit, draft: StoryDraft) -> list[Finding]:
    """What lint finds in a draft's graph as it is now; nothing once the story is made."""
    resource = await STORY_RESOURCES.find(unit, draft.resource_id) if draft.status != "finalized" else None
    if resource is None:
        return []
    return await _lint(unit, draft, resource)


async def _lint(unit: Unit, draft: StoryDraft, resource: StoryResources) -> list[Finding]:
    cast = await CHARACTERS.get_all(unit, resource.character_ids)
    characters = {id: one.content for id, one in cast.items()}
    ids = {draft.world_schema_id, draft.player_schema_id, *(one.schema_id for one in characters.values())}
    schemas = await SCHEMAS.get_all(unit, sorted(ids))
    world, player = schemas[draft.world_schema_id].fields, schemas[draft.player_schema_id].fields
    return await run_in_thread(lint, draft.partial_graph, ground_of(characters, schemas, world, player))
