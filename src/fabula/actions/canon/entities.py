"""Put entities right: describe one anew, or make one of two that turned out to be the same.

Both are changes of canon like any other: what they replace is kept and marked, and each can be undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.canon.mergers import MOST_MOVED
from fabula.actions.canon.questions import EntityView, entity_view, find_entity
from fabula.actions.house import House
from fabula.actions.repositories import WORLDS
from fabula.actions.views import Command, View
from fabula.canon.contradictions import contradictions
from fabula.canon.merge import merged_entity, renamed
from fabula.ports.actors import Actor
from fabula.ports.canon import ChangeRow
from fabula.ports.canon_graph import EDGE_KINDS
from fabula.ports.errors import InvalidRequest
from fabula.ports.store import Unit
from fabula.story.canon import Change, Content, Decision, EntityContent, Evidence, Name, Step, Verdict


class UpdateEntity(Command):
    """What is not given stays as it is."""

    world_id: str
    entity_id: str
    name: Name | None = None
    aliases: list[Name] | None = Field(default=None, max_length=20)
    description: str | None = Field(default=None, max_length=4000)
    tags: list[Name] | None = Field(default=None, max_length=20)
    reason: str = Field(default="", max_length=2000)


class MergeEntities(Command):
    """`entity_id` is what is left; all that is known of `other_id` becomes known of it."""

    world_id: str
    entity_id: str
    other_id: str
    reason: str = Field(default="", max_length=2000)


class EntitiesMerged(View):
    """The entity that is left, and how many facts, relationships and events are about it now that were not."""

    type: Literal["entities_merged"] = "entities_merged"
    world_id: str
    entity: EntityView
    moved: int


@allowed("author")
async def update_entity(house: House, actor: Actor, command: UpdateEntity) -> EntityView:
    """Describes an entity of canon anew; what it was called before is kept."""
    given = {name: getattr(command, name) for name in ("name", "aliases", "description", "tags")}
    async with house.store.writing() as unit:
        await WORLDS.get(unit, command.world_id)
        row = await find_entity(unit, command.world_id, command.entity_id)
        old = row.change.content
        changed = old.model_copy(update={name: value for name, value in given.items() if value is not None})
        if changed == old:
            return entity_view(row)
        decision = _decision(house, actor, command.reason or f"{command.entity_id} is described anew")
        (new,) = await _replace(unit, house, [(changed, [row])], decision)
    return entity_view(new)


@allowed("author")
async def merge_entities(house: House, actor: Actor, command: MergeEntities) -> EntitiesMerged:
    """Makes one entity of two: the other's names become aliases, and what is true of it moves."""
    if command.entity_id == command.other_id:
        raise InvalidRequest("An entity cannot be merged with itself: name two.")
    world, into, other = command.world_id, command.entity_id, command.other_id
    async with house.store.writing() as unit:
        await WORLDS.get(unit, world)
        left, gone = await find_entity(unit, world, into), await find_entity(unit, world, other)
        moving = await _about(unit, world, other)
        moved = [(renamed(row.change.content, {other: into}), [row]) for row in moving]
        await _check(unit, world, into, moving, [content for content, _ in moved])
        assert isinstance(left.change.content, EntityContent) and isinstance(gone.change.content, EntityContent)
        whole = merged_entity(left.change.content, gone.change.content)
        decision = _decision(house, actor, command.reason or f"{other} is {into}")
        (new, *_) = await _replace(unit, house, [(whole, [left, gone]), *moved], decision)
    return EntitiesMerged(world_id=world, entity=entity_view(new), moved=len(moved))


async def _about(unit: Unit, world_id: str, entity_id: str) -> list[ChangeRow]:
    found: dict[str, ChangeRow] = {}
    for kind in EDGE_KINDS:
        rows = await unit.graph.about(world_id, kind, end=entity_id, limit=MOST_MOVED + 1)
        found.update((row.change.change_id, row) for row in rows)
    if len(found) > MOST_MOVED:
        raise InvalidRequest(f"More than {MOST_MOVED} changes are about '{entity_id}': merge the other one into it.")
    return list(found.values())


async def _check(
    unit: Unit, world_id: str, into: str, moving: Sequence[ChangeRow], contents: Sequence[Content]
) -> None:
    """Refuses a merger of two of whom canon says what cannot be true of one."""
    gone = {row.change.change_id for row in moving}
    canon = [row.change for row in await _about(unit, world_id, into) if row.change.change_id not in gone]
    for row, content in zip(moving, contents, strict=True):
        found = contradictions(row.change.model_copy(update={"content": content}), canon)
        if found:
            raise InvalidRequest(f"They cannot be the same: {found[0].sentence} Undo one of the two first.")


async def _replace(
    unit: Unit, house: House, news: Sequence[tuple[Content, Sequence[ChangeRow]]], decision: Decision
) -> list[ChangeRow]:
    """Makes contents true in place of changes that were, all together."""
    verdicts = []
    for content, olds in news:
        first = olds[0].change
        change = Change(
            change_id=house.ids.new("change"),
            world_id=first.world_id,
            content=content,
            evidence=[*first.evidence[:19], Evidence(type="user", ref=decision.by, quote=decision.reason[:1000])],
            authority="gm",
            proposer=decision.by,
            base_version=await unit.canon.version(first.world_id),
        )
        names = [row.change.change_id for row in olds]
        step = Step(rule="by_hand", found=[*names], sentence=f"{decision.reason}: it takes the place of what was said.")
        await unit.canon.propose(change)
        verdict = Verdict(result="accept", weight=1.0, steps=[step], contradicts=names, retcons=names)
        verdicts.append((change.change_id, verdict))
    return await unit.canon.commit(verdicts, decision)


def _decision(house: House, actor: Actor, reason: str) -> Decision:
    return Decision(by=actor.token_id or "operator", at_ms=house.clock.now_ms(), reason=reason)
