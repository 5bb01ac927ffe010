"""What building writes: a new draft with its schemas, and section after section joined to its graph."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fabula.actions.drafts.story_drafts import GENERATED, draft_tag
from fabula.actions.house import House
from fabula.actions.repositories import DRAFTS, SCHEMAS
from fabula.actions.views import refuse
from fabula.language.titles import title_of
from fabula.loops.generation.draft_setup import DraftSetup
from fabula.loops.generation.section_run import Opened
from fabula.ports.errors import InvalidRequest
from fabula.ports.store import Unit
from fabula.story.graph import Graph
from fabula.story.schemas import Schema, SchemaField
from fabula.story.sections import Section, grown, joined, section_problems
from fabula.story.stories import CommonVariable, DraftStatus, StoryDraft, common_variable_problems

PREFIX = "schema-generated-"
_NUMBERED = re.compile(rf"{PREFIX}(\d{{1,12}})")


@dataclass(frozen=True, kw_only=True)
class Order:
    """What an author asks to be built."""

    materials: DraftSetup
    display_name: str | None
    variables: list[CommonVariable]

    @property
    def title(self) -> str:
        resource = self.materials.resource
        given = (self.display_name or "").strip() or (resource.display_name or "").strip()
        return given or title_of(resource.story_concept) or resource.story_concept


def checked_variables(order: Order) -> None:
    """Refuses pinned variables that no schema can make right; those of world and player are not made yet."""
    anything = Schema(
        schema_id="any", display_name="", fields={one.key: SchemaField(value_type="null") for one in order.variables}
    )
    _refuse_variables(order, anything, anything)


def _refuse_variables(order: Order, world: Schema, player: Schema) -> None:
    materials = order.materials
    schemas = {id: materials.character_schemas[content.schema_id] for id, content in materials.characters.items()}
    found = common_variable_problems(order.variables, world=world, player=player, characters=schemas)
    refuse(found, "list of common variables")


async def open_draft(house: House, unit: Unit, order: Order, draft_id: str, opened: Opened) -> None:
    """Adds a draft with its first section and the schemas that were made for it; one that is there stays."""
    if await DRAFTS.find(unit, draft_id) is not None:
        return
    world = await _generated(unit, order, draft_id, "world", opened.world, order.materials.world_seed)
    player = await _generated(unit, order, draft_id, "player", opened.player, order.materials.player_seed)
    _refuse_variables(order, world, player)
    draft = StoryDraft(
        draft_id=draft_id,
        display_name=order.title,
        resource_id=order.materials.resource.resource_id,
        api_group_id=order.materials.group.api_group_id,
        preset_id=order.materials.preset.preset_id,
        planned_story=opened.plan,
        outline_sections=opened.sections,
        next_section_index=1,
        partial_graph=Graph(start_node=opened.start_node, nodes=joined([], opened.section)),
        world_schema_id=world.schema_id,
        player_schema_id=player.schema_id,
        introduction=opened.introduction,
        common_variables=order.variables,
        section_summaries=[opened.section.summary],
        status=_status(1, len(opened.sections)),
        recent_node_ids=[node.id for node in opened.section.nodes],
    )
    await DRAFTS.add(unit, draft_id, draft)


async def add_section(unit: Unit, draft_id: str, index: int, section: Section) -> None:
    """Joins a section to a draft; one that is there already is not joined twice."""
    draft = await DRAFTS.get(unit, draft_id)
    if draft.next_section_index > index:
        return
    if problems := section_problems(draft.partial_graph.nodes, section):
        raise InvalidRequest(f"The section does not fit the draft any more: {'; '.join(problems)}. Continue again.")
    grew = draft.model_copy(
        update={
            "partial_graph": grown(draft.partial_graph, section),
            "section_summaries": [*draft.section_summaries, section.summary],
            "next_section_index": index + 1,
            "status": _status(index + 1, draft.total_sections),
            "recent_node_ids": [node.id for node in section.nodes],
        }
    )
    await DRAFTS.put(unit, draft_id, grew)


def _status(built: int, total: int) -> DraftStatus:
    return "building" if built < total else "ready_to_finalize"


async def _generated(
    unit: Unit, order: Order, draft_id: str, whose: str, fields: dict[str, SchemaField], seed: Schema | None
) -> Schema:
    schema = Schema(
        schema_id=f"{PREFIX}{await _next_number(unit)}",
        display_name=f"{order.title[:80]}: {whose}",
        tags=[whose, GENERATED, draft_tag(draft_id)],
        fields=fields,
        additional=True if seed is None else seed.additional,
    )
    await SCHEMAS.add(unit, schema.schema_id, schema)
    return schema


async def _next_number(unit: Unit) -> int:
    """One more than the highest number in use."""
    highest, after = 0, PREFIX
    while rows := await unit.resources.page("schema", after=after, limit=500):
        numbers = [_NUMBERED.fullmatch(row.id) for row in rows]
        highest = max([highest, *(int(found.group(1)) for found in numbers if found)])
        after = rows[-1].id
        if not after.startswith(PREFIX):
            break
    return highest + 1
