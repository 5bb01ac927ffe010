"""Contexts: what planner and architect are told about a story that is being made."""

from __future__ import annotations

from fabula.loops.generation.draft_setup import DraftSetup
from fabula.story.contexts import ArchitectContext, Lore, PlannerContext
from fabula.story.lore import active_lore
from fabula.story.schemas import Schema, SchemaField
from fabula.story.sections import recent_nodes
from fabula.story.stories import StoryDraft

TARGET_NODES = 4


def planner_context(materials: DraftSetup) -> PlannerContext:
    """What the planner is told."""
    concept = materials.resource.story_concept
    return PlannerContext(
        story_concept=concept,
        lore=active_lore(materials.lore, [concept]),
        available_characters=materials.cast(),
    )


def graph_context(materials: DraftSetup, plan: str) -> ArchitectContext:
    """What the architect is told when it builds a whole story in one go."""
    return ArchitectContext(
        mode="graph",
        story_concept=materials.resource.story_concept,
        planned_story=plan,
        lore=_lore(materials, plan),
        available_characters=materials.cast(),
        world_fields=_fields(materials.world_seed),
        player_fields=_fields(materials.player_seed),
    )


def opening_context(
    materials: DraftSetup, plan: str, sections: list[str], *, problems: list[str] | None = None
) -> ArchitectContext:
    """What the architect is told before the first section."""
    return ArchitectContext(
        mode="draft_init",
        story_concept=materials.resource.story_concept,
        planned_story=plan,
        lore=_lore(materials, plan, sections[0]),
        available_characters=materials.cast(),
        world_fields=_fields(materials.world_seed),
        player_fields=_fields(materials.player_seed),
        current_section=sections[0],
        total_sections=len(sections),
        target_node_count=TARGET_NODES,
        problems=problems or [],
    )


def section_context(
    materials: DraftSetup, draft: StoryDraft, world: Schema, player: Schema, *, problems: list[str] | None = None
) -> ArchitectContext:
    """What the architect is told before any later section; edits of the author's are part of the graph."""
    current = draft.outline_sections[draft.next_section_index]
    recent = recent_nodes(draft.partial_graph, draft.recent_node_ids, at_least=TARGET_NODES)
    told = [text for node in recent for text in (node.title, node.scene, node.goal)]
    return ArchitectContext(
        mode="draft_continue",
        story_concept=materials.resource.story_concept,
        planned_story=draft.planned_story,
        lore=_lore(materials, draft.planned_story, current, *draft.section_summaries, *told),
        available_characters=materials.cast(),
        world_fields=world.fields,
        player_fields=player.fields,
        section_summaries=draft.section_summaries,
        current_section=current,
        section_index=draft.next_section_index,
        total_sections=draft.total_sections,
        target_node_count=TARGET_NODES,
        graph_nodes=draft.partial_graph.nodes,
        recent_nodes=recent,
        problems=problems or [],
    )


def _lore(materials: DraftSetup, *texts: str) -> Lore:
    return active_lore(materials.lore, [materials.resource.story_concept, *texts])


def _fields(seed: Schema | None) -> dict[str, SchemaField] | None:
    return None if seed is None else dict(seed.fields)
