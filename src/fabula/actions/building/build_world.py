"""Build a world by talking: each thing an author says is a piece of work, taken down, answered and committed whole.

A building has no table of its own: it is the pieces of work under its id, the first of which opened it. What they
added is canon of the world, with the building as its evidence. It is remembered for as long as work is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.building.architect import Architect
from fabula.actions.canon.changes import Undo, judge_changes, undo_change, write_verdicts
from fabula.actions.house import House
from fabula.actions.repositories import WORLDS
from fabula.actions.views import Command, View
from fabula.actions.work.work_kind import HeldWork, WorkKind, taken_over
from fabula.canon.coverage import coverage_of
from fabula.canon.sentences import sentence_of
from fabula.language.english import joined
from fabula.loops.building import world_builder
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, NotFound, error_from
from fabula.ports.progress import TellProgress, quiet
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.ports.work import NewWork, Work
from fabula.story.canon import Change, Content, Decision, EntityContent, EntityKind, Evidence, Verdict
from fabula.story.events import Progress
from fabula.story.values import Id, JsonObject, Value
from fabula.story.worldbuilding import LONGEST_SAID, Aspect, BuildingTurn, TakenDown, WorldContext
from fabula.understudy.world_questions import architect_reply, questions_for

KIND: Final = "building"
DEADLINE_S: Final = 180.0
MOST_TURNS: Final = 200
MOST_READ: Final = 2_000
MOST_TOLD: Final = 80
STEPS: Final = 3


class OpenBuilding(Command):
    world_id: str


class SayInBuilding(Command):
    """What the author says. With `stream` the steps are told while they are taken."""

    building_id: Id
    text: str = Field(min_length=1, max_length=LONGEST_SAID)
    stream: bool = False


class UndoInBuilding(Command):
    item_id: Id
    reason: str = Field(default="", max_length=2000)


class NameBuilding(Command):
    building_id: Id


class AddedItem(Value):
    """Something that became true. `item_id` undoes it."""

    item_id: str
    kind: str
    sentence: str


class RefusedItem(Value):
    """Something that could not become true, and why."""

    sentence: str
    why: str


class BuildingView(View):
    """A turn of building: the architect's reply, what was added, and how much of the world is told by now.

    `coverage` counts what there is of each aspect; `gaps` are the aspects with too little, the emptiest first, `bare`
    the names of whom nothing else is known; `questions` are what is best asked next.
    """

    type: Literal["building"] = "building"
    building_id: str
    world_id: str
    reply: str
    added: list[AddedItem]
    refused: list[RefusedItem]
    coverage: dict[Aspect, int]
    gaps: list[Aspect]
    bare: list[str]
    questions: list[str]


class BuildingClosed(View):
    """What was added in a building and not undone since."""

    type: Literal["building_closed"] = "building_closed"
    building_id: str
    world_id: str
    added: list[AddedItem]
    coverage: dict[Aspect, int]
    gaps: list[Aspect]


class ItemUndone(View):
    type: Literal["building_item_undone"] = "building_item_undone"
    item_id: str
    sentence: str


@allowed("author")
async def open_building(house: House, actor: Actor, command: OpenBuilding) -> BuildingView:
    """Begins to build a world by talking; the architect asks a first question."""
    return await _take_turn(house, actor, house.ids.new(KIND), command.world_id, "", quiet)


@allowed("author")
async def say_in_building(
    house: House, actor: Actor, command: SayInBuilding, progress: TellProgress = quiet
) -> BuildingView:
    """Says something about a world; what it says is true from now on, and each item can be undone."""
    async with house.store.reading() as unit:
        earlier = await _turns(unit, command.building_id)
    if len(earlier) >= MOST_TURNS:
        raise Conflict(f"This building has had its {MOST_TURNS} turns. Open a new one.")
    world_id = str(earlier[-1].input["world_id"])
    return await _take_turn(house, actor, command.building_id, world_id, command.text, progress)


@allowed("author")
async def undo_in_building(house: House, actor: Actor, command: UndoInBuilding) -> ItemUndone:
    """Takes an item that was added out of canon again."""
    undone = await undo_change(house, actor, Undo(change_id=command.item_id, reason=command.reason))
    return ItemUndone(item_id=undone.change_id, sentence=said_of(undone.content, {}))


@allowed("author")
async def close_building(house: House, actor: Actor, command: NameBuilding) -> BuildingClosed:
    """Tells what was added in a building, and what is still missing in the world."""
    async with house.store.reading() as unit:
        turns = await _turns(unit, command.building_id)
        world_id = str(turns[-1].input["world_id"])
        rows = {row.change.change_id: row.change for row in await unit.canon.true_now(world_id, limit=MOST_READ)}
    items = [AddedItem.model_validate(one) for turn in reversed(turns) for one in _added_by(turn)]
    coverage = coverage_of([change.content for change in rows.values()])
    return BuildingClosed(
        building_id=command.building_id,
        world_id=world_id,
        added=[one for one in items if one.item_id in rows],
        coverage=coverage.counts,
        gaps=coverage.gaps,
    )


def building_kinds(house: House) -> dict[str, WorkKind]:
    """Turns of building, which any process goes on with at the node they were in."""
    does = "takes down what an author says about a world; one that was left behind goes on at its node"
    return {KIND: WorkKind(run=partial(_run, house), does=does, deadline_s=DEADLINE_S, is_loop=True)}


async def _take_turn(
    house: House, actor: Actor, building_id: str, world_id: str, text: str, progress: TellProgress
) -> BuildingView:
    async with house.store.writing() as unit:
        await WORLDS.get(unit, world_id)
        new = NewWork(
            work_id=house.ids.new("work"),
            kind=KIND,
            subject=building_id,
            input={"world_id": world_id, "text": text, "by": actor.token_id or "operator"},
            held=house.work.lease(),
        )
        work = await unit.work.begin(new)
    await house.work.start(work)

    def heard(frame: Any) -> None:
        if isinstance(frame.event, Progress):
            progress(frame.event)

    return BuildingView.model_validate(await house.work.result_of(work.work_id, heard))


async def _turns(unit: Unit, building_id: str) -> list[Work]:
    """The turns of a building, newest first. Those that cannot be read are left out, unless there are no others."""
    found = [work for work in await unit.work.of_subject(building_id, limit=MOST_TURNS + 1) if work.kind == KIND]
    if not found:
        raise NotFound(f"There is no building named '{building_id}'. Open a new one.")
    whole = [work for work in found if not work.is_damaged]
    if not whole and found[0].error is not None:
        raise error_from(found[0].error)
    return whole


def _added_by(turn: Work) -> Sequence[JsonObject]:
    added = (turn.result or {}).get("added")
    return [one for one in added if isinstance(one, dict)] if isinstance(added, list) else []


async def _run(house: House, held: HeldWork) -> JsonObject:
    """Takes a turn through the loop; its last step ends the work."""
    from fabula.loops.building.graph import BuildingRun

    told: list[JsonObject] = []
    work = held.work

    async def load() -> WorldContext:
        held.tell_progress(Progress(done=0, total=STEPS, label="looking at the world"))
        async with house.store.reading() as unit:
            return await _context(unit, work)

    async def answer(context: WorldContext) -> BuildingTurn:
        held.tell_progress(Progress(done=1, total=STEPS, label="taking it down"))
        return await (await Architect.of(house, work)).answer(context)

    async def commit(context: WorldContext, turn: BuildingTurn) -> None:
        held.tell_progress(Progress(done=2, total=STEPS, label="making it true"))
        told.append(await _commit(house, work, context, turn))

    build = await run_in_thread(world_builder)
    run = BuildingRun(load=load, answer=answer, commit=commit)
    await build(run, await house.checkpoints.saver(), thread_id=work.work_id, resumed=held.is_resumed)
    return told[0]


async def _context(unit: Unit, work: Work) -> WorldContext:
    """The world as it stands, and what was asked lately."""
    world = await WORLDS.get(unit, str(work.input["world_id"]))
    rows = await unit.canon.true_now(world.world_id, limit=MOST_READ)
    turns = [one for one in await _turns(unit, work.subject) if one.work_id < work.work_id]
    contents = [row.change.content for row in rows]
    return context_of(
        world.world_id,
        world.display_name,
        world.description,
        contents,
        asked=[str((turn.result or {}).get("reply", "")) for turn in reversed(turns)][-12:],
        said_so_far=len(turns),
        text=str(work.input["text"]),
    )


def context_of(
    world_id: str,
    name: str,
    description: str,
    contents: Sequence[Content],
    *,
    asked: Sequence[str] = (),
    said_so_far: int = 0,
    text: str = "",
) -> WorldContext:
    """What the architect is told of a world."""
    entities = [content for content in contents if isinstance(content, EntityContent)]
    names = {one.entity_id: one.name for one in entities}
    return WorldContext(
        world_id=world_id,
        name=name,
        description=description[:2000],
        known=[sentence_of(content, names) for content in contents[-MOST_TOLD:]],
        coverage=coverage_of(contents),
        asked=list(asked),
        said_so_far=said_so_far,
        a_place=_newest(entities, "place"),
        a_person=_newest(entities, "character"),
        a_faction=_newest(entities, "faction"),
        text=text,
    )


def _newest(entities: Sequence[EntityContent], kind: EntityKind) -> str:
    return next((one.name for one in reversed(entities) if one.entity_kind == kind), "")


async def _commit(house: House, work: Work, context: WorldContext, turn: BuildingTurn) -> JsonObject:
    """What was taken down is judged and becomes canon, together with the end of the work."""
    by = str(work.input["by"])
    decision = Decision(by=by, at_ms=house.clock.now_ms(), reason="said by the author of the world")
    async with house.store.writing() as unit:
        world = await WORLDS.get(unit, context.world_id)
        base = await unit.canon.version(context.world_id)
        changes = [_change(one, work, by, base) for one in turn.taken]
        for change in changes:
            await unit.canon.propose(change)
        judged = await judge_changes(unit, changes, world.policy)
        await write_verdicts(unit, judged, decision)
        rows = await unit.canon.true_now(context.world_id, limit=MOST_READ)
        view = _view(work, context, turn, judged, [row.change.content for row in rows])
        if not await unit.work.finish(work, view.as_json()):
            raise taken_over(work)
    return view.as_json()


def _change(taken: TakenDown, work: Work, by: str, base: int) -> Change:
    return Change(
        change_id=taken.change_id,
        world_id=str(work.input["world_id"]),
        content=taken.content,
        evidence=[Evidence(type="conversation", ref=work.subject, quote=taken.quote)],
        authority="gm",
        proposer=by,
        base_version=base,
    )


def _view(
    work: Work,
    context: WorldContext,
    turn: BuildingTurn,
    judged: Sequence[tuple[Change, Verdict]],
    contents: Sequence[Content],
) -> BuildingView:
    names = {one.entity_id: one.name for one in contents if isinstance(one, EntityContent)}
    added = [
        AddedItem(item_id=change.change_id, kind=change.kind, sentence=said_of(change.content, names))
        for change, verdict in judged
        if verdict.result == "accept"
    ]
    refused = [
        RefusedItem(sentence=said_of(change.content, names), why=verdict.sentence)
        for change, verdict in judged
        if verdict.result != "accept"
    ]
    now = context_of(
        context.world_id,
        context.name,
        context.description,
        contents,
        asked=context.asked,
        said_so_far=context.said_so_far,
        text=context.text,
    )
    reply = turn.reply or architect_reply(now, added=len(added), refused=[one.why for one in refused])
    return BuildingView(
        building_id=work.subject,
        world_id=context.world_id,
        reply=reply,
        added=added,
        refused=refused,
        coverage=now.coverage.counts,
        gaps=now.coverage.gaps,
        bare=now.coverage.bare,
        questions=questions_for(now),
    )


def said_of(content: Content, names: dict[str, str]) -> str:
    """An item in words, and who alone knows it."""
    told = sentence_of(content, names)
    knowing = getattr(content, "known_to", [])
    return f"{told} Only {joined([names.get(id, id) for id in knowing])} knows." if knowing else told
