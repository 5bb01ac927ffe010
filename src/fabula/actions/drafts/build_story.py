"""Build stories: plan one, start a draft, continue it section by section, or do everything at once.

A section is built outside of any transaction and kept in one, which also ends the work on it: a failure leaves the
draft as it was. Work on a draft is held (see `draft_work`), so that two callers never build the same section; who asked
may leave, and after a crash the same call goes on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.drafts.draft_work import (
    DraftWork,
    command_name,
    refuse_busy,
    take_up_command,
    take_up_section,
    unfinished_draft,
)
from fabula.actions.drafts.new_draft import Order, add_section, checked_variables, open_draft
from fabula.actions.drafts.story_drafts import NameDraft, StoryDraftView, draft_view, remove_draft, story_from
from fabula.actions.house import House
from fabula.actions.library.stories import StoryGenerated
from fabula.actions.repositories import DRAFTS, SCHEMAS, STORIES
from fabula.actions.setups.draft_setup import gather_draft_setup
from fabula.actions.views import Command, View
from fabula.actions.work.work_kind import HeldWork, Run, WorkKind
from fabula.actions.work.work_runner import tell_progress
from fabula.loops.generation import section_builder
from fabula.loops.generation.draft_setup import DraftSetup
from fabula.loops.generation.section_run import Begun, Opened, SectionRun
from fabula.loops.generation.section_writer import draw_plan
from fabula.ports.actors import Actor
from fabula.ports.errors import FabulaError, InvalidRequest
from fabula.ports.models import CallOrigin, ModelUnusable
from fabula.ports.progress import TellProgress, quiet
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.sections import Section
from fabula.story.seeds import derived_seed
from fabula.story.stories import CommonVariable
from fabula.story.values import JsonObject

DEADLINE_MARGIN_S = 10
"""What writing a section down may take beyond the time for its models."""


class GeneratePlan(Command):
    """Without a `seed` every call brings another plan; the same seed brings the same again."""

    resource_id: str
    api_group_id: str | None = None
    preset_id: str | None = None
    seed: int | None = Field(default=None, ge=0, le=0x7FFFFFFF)


class StartDraft(Command):
    """`stream` true answers with events of progress before the result."""

    resource_id: str
    display_name: str | None = None
    api_group_id: str | None = None
    preset_id: str | None = None
    common_variables: list[CommonVariable] | None = None
    stream: bool = False


class GenerateStory(StartDraft):
    pass


class ContinueDraft(NameDraft):
    stream: bool = False


class StoryPlanned(View):
    type: Literal["story_planned"] = "story_planned"
    resource_id: str
    story_script: str


@allowed("author")
async def generate_plan(house: House, actor: Actor, command: GeneratePlan) -> StoryPlanned:
    """Writes a plan for a story resource; it is shown, not kept."""
    async with house.store.reading() as unit:
        materials = await gather_draft_setup(unit, command.resource_id, command.api_group_id, command.preset_id)
    # Lots are drawn by the id of something new: actions hold no dice of their own.
    seed = command.seed if command.seed is not None else derived_seed(house.ids.new("plan"), "planner")
    plan = await draw_plan(
        materials, house.models, origin=CallOrigin(agent="planner"), seed=seed, deadline=_deadline(house)
    )
    return StoryPlanned(resource_id=command.resource_id, story_script=plan)


@allowed("author")
async def start_draft(
    house: House, actor: Actor, command: StartDraft, progress: TellProgress = quiet
) -> StoryDraftView:
    """Starts a draft: plans the story if it has no plan, and builds the first section."""
    gone = await house.work.gone()
    async with house.store.writing() as unit:
        order = await _order(unit, command)
        name = await _name(unit, order, "start")
        work = await take_up_command(house, unit, "draft_start", name, gone=gone)

    async def run(held: HeldWork) -> JsonObject:
        await _build_opening(house, order, work, held.tell_progress, name, ends_work=True)
        return {"draft_id": work.draft_id}

    await _run(house, work, run, progress)
    async with house.store.reading() as unit:
        return await draft_view(unit, work.draft_id)


@allowed("author")
async def continue_draft(
    house: House, actor: Actor, command: ContinueDraft, progress: TellProgress = quiet
) -> StoryDraftView:
    """Builds the next section of a draft."""
    gone = await house.work.gone()
    async with house.store.writing() as unit:
        stored = await unit.resources.get("story_draft", command.draft_id)
        draft = await DRAFTS.get(unit, command.draft_id)
        if draft.status != "building":
            raise InvalidRequest(f"This draft has all its sections; its status is {draft.status}.")
        assert stored is not None
        work = await take_up_section(
            house, unit, draft.draft_id, draft.next_section_index, made_at_ms=stored.created_at_ms, gone=gone
        )

    async def run(held: HeldWork) -> JsonObject:
        await _build_next(house, work, held.tell_progress, ends_work=True)
        return {"draft_id": work.draft_id}

    await _run(house, work, run, progress)
    async with house.store.reading() as unit:
        return await draft_view(unit, command.draft_id)


@allowed("author")
async def generate_story(
    house: House, actor: Actor, command: GenerateStory, progress: TellProgress = quiet
) -> StoryGenerated:
    """Plans and builds a whole story in one go; a failure leaves nothing behind."""
    gone = await house.work.gone()
    async with house.store.writing() as unit:
        order = await _order(unit, command)
        name = await _name(unit, order, "generate")
        work = await take_up_command(
            house, unit, "story_generation", name, gone=gone, unless=await _finished_by_hand(house, unit, name)
        )

    async def run(held: HeldWork) -> JsonObject:
        try:
            return await _generate(house, order, work, held.tell_progress)
        except FabulaError:
            await _clear_away(house, work.draft_id)
            raise

    result = await _run(house, work, run, progress)
    async with house.store.reading() as unit:
        return StoryGenerated(**dict(await STORIES.get(unit, str(result["story_id"]))))


async def _run(house: House, work: DraftWork, run: Run, progress: TellProgress) -> JsonObject:
    """Runs work on a draft, and waits for it."""
    await house.work.start(work.work, run)
    return await house.work.result_of(work.work.work_id, tell_progress(progress))


async def _generate(house: House, order: Order, work: DraftWork, progress: TellProgress) -> JsonObject:
    async with house.store.reading() as unit:
        begun = await DRAFTS.find(unit, work.draft_id) is not None
    if not begun:
        await _build_opening(house, order, work, progress, None, ends_work=False)
    while await _is_building(house, work.draft_id):
        await _build_next(house, work, progress, ends_work=False)
    return await _finish(house, work)


async def _finished_by_hand(house: House, unit: Unit, name: str) -> str | None:
    """The draft of a generation that was interrupted and that its author finished, or works on, by hand."""
    draft_id = await unfinished_draft(unit, name)
    draft = None if draft_id is None else await DRAFTS.find(unit, draft_id)
    if draft is None:
        return None
    if draft.status == "finalized":
        return draft_id
    await refuse_busy(house, unit, draft.draft_id)
    return None


async def _order(unit: Unit, command: StartDraft) -> Order:
    materials = await gather_draft_setup(unit.looking, command.resource_id, command.api_group_id, command.preset_id)
    order = Order(materials=materials, display_name=command.display_name, variables=command.common_variables or [])
    checked_variables(order)
    return order


async def _name(unit: Unit, order: Order, verb: str) -> str:
    """What the command is about; its display name and pinned variables may be put right when it is sent again."""
    materials = order.materials
    stored = await unit.looking.resources.get("story_resources", materials.resource.resource_id)
    assert stored is not None
    return command_name(verb, stored.id, stored.revision, materials.group.api_group_id, materials.preset.preset_id)


async def _build_opening(
    house: House, order: Order, work: DraftWork, progress: TellProgress, name: str | None, *, ends_work: bool
) -> None:
    async def keep(made: Opened | Section) -> None:
        assert isinstance(made, Opened)
        async with house.store.writing() as unit:
            await open_draft(house, unit, order, work.draft_id, made)
            if ends_work:
                await work.finish(unit, {"draft_id": work.draft_id})

    run_key = f"0:{work.attempt(0)}:{name}"
    await _build(house, _section_run(house, order.materials, work, None, run_key, progress, keep), work)


async def _build_next(house: House, work: DraftWork, progress: TellProgress, *, ends_work: bool) -> None:
    async with house.store.reading() as unit:
        begun, materials, revision = await _begun(unit, work.draft_id)
    index = begun.draft.next_section_index

    async def keep(made: Opened | Section) -> None:
        assert isinstance(made, Section)
        async with house.store.writing() as unit:
            await add_section(unit, work.draft_id, index, made)
            if ends_work:
                await work.finish(unit, {"draft_id": work.draft_id})

    run_key = f"{index}:{work.attempt(index)}:{revision}"
    await _build(house, _section_run(house, materials, work, begun, run_key, progress, keep), work)


async def _build(house: House, run: SectionRun, work: DraftWork) -> None:
    build_section = await run_in_thread(section_builder)
    try:
        await build_section(run, await house.checkpoints.saver(), thread_id=work.work.work_id)
    except ModelUnusable as error:
        # What cannot be used is asked for anew when the work is begun again.
        error.data["section_index"] = run.section_index
        raise
    await house.checkpoints.forget(work.work.work_id)


def _section_run(
    house: House,
    materials: DraftSetup,
    work: DraftWork,
    begun: Begun | None,
    run: str,
    progress: TellProgress,
    keep: Callable[[Opened | Section], Awaitable[None]],
) -> SectionRun:
    return SectionRun(
        draft_id=work.draft_id,
        begun=begun,
        materials=materials,
        models=house.models,
        deadline=_deadline(house),
        attempt=work.attempt(0 if begun is None else begun.draft.next_section_index),
        run=run,
        progress=progress,
        keep=keep,
    )


async def _begun(unit: Unit, draft_id: str) -> tuple[Begun, DraftSetup, int]:
    stored = await unit.resources.get("story_draft", draft_id)
    if stored is None:
        raise DRAFTS.missing(draft_id)
    draft = DRAFTS.read(stored)
    materials = await gather_draft_setup(unit, draft.resource_id, draft.api_group_id, draft.preset_id)
    schemas = await SCHEMAS.get_all(unit, [draft.world_schema_id, draft.player_schema_id])
    begun = Begun(draft=draft, world=schemas[draft.world_schema_id], player=schemas[draft.player_schema_id])
    return begun, materials, stored.revision


def _deadline(house: House) -> float:
    return house.clock.monotonic() + house.settings.section_deadline_s


async def _is_building(house: House, draft_id: str) -> bool:
    async with house.store.reading() as unit:
        return (await DRAFTS.get(unit, draft_id)).status == "building"


async def _finish(house: House, work: DraftWork) -> JsonObject:
    """The story in place of its draft, in one transaction."""
    async with house.store.writing() as unit:
        draft = await DRAFTS.get(unit, work.draft_id)
        story = await story_from(house, unit, draft)
        await remove_draft(unit, draft.model_copy(update={"status": "finalized"}))
        result: JsonObject = {"story_id": story.story_id}
        await work.finish(unit, result)
    return result


async def _clear_away(house: House, draft_id: str) -> None:
    """Nothing is left of a generation that failed but the answers that it got: sent again, it need not ask twice."""
    async with house.store.writing() as unit:
        draft = await DRAFTS.find(unit, draft_id)
        if draft is not None:
            await remove_draft(unit, draft)


def draft_kinds(house: House) -> dict[str, WorkKind]:
    """The kinds of work on drafts; none is taken up unasked."""
    one_section = house.settings.section_deadline_s + DEADLINE_MARGIN_S
    return {
        "draft_start": WorkKind(does="plans a story draft", deadline_s=one_section, is_loop=True),
        "draft_section": WorkKind(does="builds one section of a draft", deadline_s=one_section, is_loop=True),
        "story_generation": WorkKind(does="builds a whole draft, section by section", deadline_s=None, is_loop=True),
    }
