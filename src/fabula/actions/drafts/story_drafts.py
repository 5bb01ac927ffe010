"""Keep drafts of stories: read them with what lint finds, redraw their graph, make a story of one, remove it."""

from __future__ import annotations

from typing import Any, Literal

from fabula.actions.authority import allowed
from fabula.actions.drafts.draft_work import cancel_work, refuse_busy
from fabula.actions.house import House
from fabula.actions.library.stories import CreateStory, StoryGenerated, add_story
from fabula.actions.listing import Listing
from fabula.actions.repositories import DRAFTS, SCHEMAS, STORIES, checked_name
from fabula.actions.setups.draft_setup import draft_findings
from fabula.actions.views import Command, ListView, View, refuse
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.store import Stored, Unit
from fabula.story.graph import Graph, graph_problems, width_problems
from fabula.story.lint import FindingKind
from fabula.story.stories import CommonVariable, DraftStatus, Story, StoryDraft
from fabula.story.values import Value

GENERATED = "generated"


class NameDraft(Command):
    draft_id: str


class UpdateDraftGraph(Command):
    draft_id: str
    partial_graph: Graph


class LintFinding(Value):
    """Something that an author would want to know about the graph before anyone plays it."""

    kind: FindingKind
    node_id: str
    message: str


class _DraftFields(View):
    may_be_large = True
    draft_id: str
    display_name: str
    resource_id: str
    api_group_id: str
    preset_id: str
    planned_story: str
    outline_sections: list[str]
    next_section_index: int
    total_sections: int
    world_schema_id: str
    player_schema_id: str
    introduction: str
    common_variables: list[CommonVariable]
    section_summaries: list[str]
    status: DraftStatus
    final_story_id: str | None
    created_at_ms: int
    updated_at_ms: int


class StoryDraftView(_DraftFields):
    """A draft in full; `lint` tells what is wrong with its graph so far."""

    type: Literal["story_draft"] = "story_draft"
    partial_graph: Graph
    lint: list[LintFinding]


class StoryDraftSummary(_DraftFields):
    type: Literal["story_draft_summary"] = "story_draft_summary"
    partial_node_count: int


class StoryDraftsListed(ListView):
    type: Literal["story_drafts_listed"] = "story_drafts_listed"
    drafts: list[StoryDraftSummary]


class StoryDraftDeleted(View):
    type: Literal["story_draft_deleted"] = "story_draft_deleted"
    draft_id: str


@allowed("author")
async def get_draft(house: House, actor: Actor, command: NameDraft) -> StoryDraftView:
    """Shows a draft with its graph so far, and what lint finds in it."""
    async with house.store.reading() as unit:
        return await draft_view(unit, command.draft_id)


@allowed("author")
async def list_drafts(house: House, actor: Actor, command: Listing) -> StoryDraftsListed:
    """Lists drafts without their graphs, by id or `order`. `query` finds words of names and introductions."""
    async with house.store.reading() as unit:
        rows, cursor = await DRAFTS.page_of_rows(unit, command)
        drafts = await DRAFTS.read_whole(rows)
    return StoryDraftsListed(drafts=[_summary(row, draft) for row, draft in drafts], next_cursor=cursor)


@allowed("author")
async def update_draft_graph(house: House, actor: Actor, command: UpdateDraftGraph) -> StoryDraftView:
    """Replaces the graph of a draft that is not a story yet; the next section is built upon it."""
    refuse(graph_problems(command.partial_graph) + width_problems(command.partial_graph), "graph")
    async with house.store.writing() as unit:
        draft = await DRAFTS.get(unit, command.draft_id)
        await refuse_busy(house, unit, draft.draft_id)
        if draft.status == "finalized":
            raise InvalidRequest("This draft is a story already. Change the story's graph instead.")
        changed = draft.model_copy(update={"partial_graph": command.partial_graph})
        await DRAFTS.put(unit, draft.draft_id, changed)
        return await draft_view(unit, draft.draft_id)


@allowed("author")
async def finalize_draft(house: House, actor: Actor, command: NameDraft) -> StoryGenerated:
    """Makes a story of a draft that has all its sections; asked again, it answers the same story."""
    async with house.store.writing() as unit:
        draft = await DRAFTS.get(unit, command.draft_id)
        if draft.final_story_id is not None:
            return StoryGenerated(**dict(await STORIES.get(unit, draft.final_story_id)))
        await refuse_busy(house, unit, draft.draft_id)
        story = await story_from(house, unit, draft)
        done = draft.model_copy(update={"status": "finalized", "final_story_id": story.story_id})
        await DRAFTS.put(unit, draft.draft_id, done)
    return StoryGenerated(**dict(story))


async def story_from(house: House, unit: Unit, draft: StoryDraft) -> Story:
    """Adds the story that a draft has become; raises InvalidRequest while sections are missing."""
    if draft.status != "ready_to_finalize":
        left = draft.total_sections - draft.next_section_index
        raise InvalidRequest(f"This draft still misses {left} of {draft.total_sections} sections. Continue it first.")
    names = [name for name in CreateStory.model_fields if name in StoryDraft.model_fields]
    fields = {name: getattr(draft, name) for name in names}
    return await add_story(house, unit, CreateStory(graph=draft.partial_graph, **fields))


@allowed("author")
async def delete_draft(house: House, actor: Actor, command: NameDraft) -> StoryDraftDeleted:
    """Removes a draft; schemas that were made for it go too, unless it became a story."""
    async with house.store.writing() as unit:
        draft = await DRAFTS.get(unit, command.draft_id)
        await refuse_busy(house, unit, draft.draft_id)
        await remove_draft(unit, draft)
        interrupted = await cancel_work(unit, draft.draft_id)
    for work_id in interrupted:
        await house.checkpoints.forget(work_id)
    return StoryDraftDeleted(draft_id=draft.draft_id)


async def remove_draft(unit: Unit, draft: StoryDraft) -> None:
    """Removes a draft and, if no story came of it, the schemas that were made for it and that nothing else uses."""
    await DRAFTS.remove(unit, draft.draft_id)
    if draft.status == "finalized":
        return
    for id in {draft.world_schema_id, draft.player_schema_id}:
        schema = await SCHEMAS.find(unit, id)
        made_for_it = schema is not None and {GENERATED, draft_tag(draft.draft_id)} <= set(schema.tags)
        if made_for_it and not await unit.resources.users("schema", id):
            await SCHEMAS.remove(unit, id)


def draft_tag(draft_id: str) -> str:
    """The tag of schemas that were made for a draft."""
    return f"draft:{draft_id}"


async def draft_view(unit: Unit, draft_id: str) -> StoryDraftView:
    """A draft as clients show it."""
    stored = await unit.resources.get("story_draft", checked_name(draft_id, DRAFTS.noun))
    if stored is None:
        raise DRAFTS.missing(draft_id)
    draft = DRAFTS.read(stored)
    found = [
        LintFinding(kind=finding.kind, node_id=finding.node_id, message=finding.sentence)
        for finding in await draft_findings(unit, draft)
    ]
    return StoryDraftView(**_fields(draft, stored), partial_graph=draft.partial_graph, lint=found)


def _summary(stored: Stored, draft: StoryDraft) -> StoryDraftSummary:
    return StoryDraftSummary(**_fields(draft, stored), partial_node_count=len(draft.partial_graph.nodes))


def _fields(draft: StoryDraft, stored: Stored) -> dict[str, Any]:
    shown = {name: getattr(draft, name) for name in _DraftFields.model_fields if hasattr(draft, name)}
    return {**shown, "created_at_ms": stored.created_at_ms, "updated_at_ms": stored.updated_at_ms}
