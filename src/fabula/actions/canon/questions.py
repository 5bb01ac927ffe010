"""Ask the knowledge graph: who and what there is, what is true of them, and how they connect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.canon.changes import PAGE, ChangesListed, change_view
from fabula.actions.house import House
from fabula.actions.repositories import WORLDS
from fabula.actions.views import Command, ListView, Paging, View, cursor_after, place_of
from fabula.ports.actors import Actor
from fabula.ports.canon import ChangeQuestion, ChangeRow
from fabula.ports.errors import NotFound
from fabula.ports.store import Unit
from fabula.story.canon import EntityContent, EntityKind, EventContent, FactContent, RelationshipContent

MOST_NODES = 300
MOST_EDGES = 2000
FARTHEST = 6


class InWorld(Paging):
    world_id: str
    about: str | None = None


class FactsAsked(InWorld):
    """`at` is a moment of story time, in minutes: only what was true then is listed."""

    at: int | None = None


class NameEntity(Command):
    world_id: str
    entity_id: str


class AskGraph(Command):
    """What is around an entity, so many steps far; without a `centre` the first entities of the world."""

    world_id: str
    centre: str | None = None
    hops: int = Field(default=1, ge=1, le=3)
    at: int | None = None
    limit: int = Field(default=MOST_NODES, ge=1, le=MOST_NODES)


class AskPath(Command):
    """The shortest way from one entity to another, over facts and relationships; `from` and `to` are ids."""

    world_id: str
    from_: str = Field(alias="from")
    to: str


class EntityView(View):
    type: Literal["entity"] = "entity"
    entity_id: str
    kind: EntityKind
    name: str
    aliases: list[str]
    description: str
    tags: list[str]
    change_id: str


class EntitiesListed(ListView):
    type: Literal["entities_listed"] = "entities_listed"
    entities: list[EntityView]


class GraphNode(View):
    type: Literal["graph_node"] = "graph_node"
    id: str
    kind: str
    name: str
    has_cover: bool = False
    degree: int


class GraphEdge(View):
    optional = frozenset({"since", "until", "strength"})
    type: Literal["graph_edge"] = "graph_edge"
    id: str
    from_: str = Field(alias="from")
    to: str
    kind: str
    strength: float | None = None
    since: int | None = None
    until: int | None = None
    change_id: str


class GraphView(View):
    """Nodes and what connects them; `left_out` counts the nodes that were too many."""

    type: Literal["canon_graph"] = "canon_graph"
    world_id: str
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    left_out: int


class PathView(View):
    """The entities on the way, the first and the last included; empty where there is none within six steps."""

    type: Literal["canon_path"] = "canon_path"
    world_id: str
    entities: list[str]
    edges: list[GraphEdge]


@allowed("author")
async def list_entities(house: House, actor: Actor, command: InWorld) -> EntitiesListed:
    """Lists the entities of a world's canon."""
    rows, cursor = await _page(house, command, "entity")
    return EntitiesListed(entities=[entity_view(row) for row in rows], next_cursor=cursor)


@allowed("author")
async def get_entity(house: House, actor: Actor, command: NameEntity) -> EntityView:
    """Shows an entity of a world's canon."""
    asked = ChangeQuestion(world_id=command.world_id, status="committed", kind="entity", about=command.entity_id)
    async with house.store.reading() as unit:
        await WORLDS.get(unit, command.world_id)
        rows = [row for row in await unit.canon.find(asked) if row.is_true]
    if not rows:
        raise NotFound(f"Canon knows no '{command.entity_id}'.", id=command.entity_id)
    return entity_view(rows[-1])


@allowed("author")
async def list_facts(house: House, actor: Actor, command: FactsAsked) -> ChangesListed:
    """Lists facts of a world's canon: all, or those about an entity, or those that were true at a moment."""
    rows, cursor = await _page(house, command, "fact")
    return ChangesListed(changes=[change_view(row) for row in rows if _holds(row, command.at)], next_cursor=cursor)


@allowed("author")
async def list_relationships(house: House, actor: Actor, command: InWorld) -> ChangesListed:
    """Lists who stands how to whom."""
    rows, cursor = await _page(house, command, "relationship")
    return ChangesListed(changes=[change_view(row) for row in rows], next_cursor=cursor)


@allowed("author")
async def ask_graph(house: House, actor: Actor, command: AskGraph) -> GraphView:
    """Shows the part of the knowledge graph around an entity."""
    async with house.store.reading() as unit:
        await WORLDS.get(unit, command.world_id)
        centre = [command.centre] if command.centre is not None else await _first(unit, command.world_id)
        near = await _around(unit, command.world_id, centre, hops=command.hops)
        edges = [row for row in near if _holds(row, command.at)]
        order = list(dict.fromkeys([*centre, *(end for row in edges for end in ends(row))]))
        kept = order[: command.limit]
        known = await _entities(unit, command.world_id, kept)
    inside = [row for row in edges if set(ends(row)) <= set(kept)]
    degrees = Counter(end for row in inside for end in ends(row))
    nodes = [_node(id, known.get(id), degrees[id]) for id in kept]
    shown = [_edge(row) for row in inside if len(ends(row)) == 2]
    return GraphView(world_id=command.world_id, nodes=nodes, edges=shown, left_out=len(order) - len(kept))


@allowed("author")
async def ask_path(house: House, actor: Actor, command: AskPath) -> PathView:
    """Finds how two entities are connected."""
    async with house.store.reading() as unit:
        await WORLDS.get(unit, command.world_id)
        came: dict[str, ChangeRow | None] = {command.from_: None}
        border = [command.from_]
        for _ in range(FARTHEST):
            if command.to in came or not border:
                break
            border = await _step(unit, command.world_id, border, came)
    if command.to not in came:
        return PathView(world_id=command.world_id, entities=[], edges=[])
    entities, edges = [command.to], []
    while (row := came[entities[-1]]) is not None:
        edges.append(_edge(row))
        entities.append(next(end for end in ends(row) if end != entities[-1]))
    return PathView(world_id=command.world_id, entities=entities[::-1], edges=edges[::-1])


async def _step(unit: Unit, world_id: str, border: Sequence[str], came: dict[str, ChangeRow | None]) -> list[str]:
    """The entities one step further; `came` learns over which change each was reached."""
    reached = []
    for row in await unit.canon.touching(world_id, border, limit=MOST_EDGES):
        pair = ends(row)
        if len(pair) != 2:
            continue
        for here, there in (pair, pair[::-1]):
            if here in border and there not in came:
                came[there] = row
                reached.append(there)
    return reached


async def _around(unit: Unit, world_id: str, centre: Sequence[str], *, hops: int) -> list[ChangeRow]:
    found: dict[str, ChangeRow] = {}
    border, seen = list(centre), set(centre)
    for _ in range(hops):
        rows = await unit.canon.touching(world_id, border, limit=MOST_EDGES) if border else []
        found.update((row.change.change_id, row) for row in rows)
        border = [end for end in dict.fromkeys(end for row in rows for end in ends(row)) if end not in seen]
        border = border[:MOST_NODES]
        seen.update(border)
        if len(found) >= MOST_EDGES:
            break
    return list(found.values())


async def _first(unit: Unit, world_id: str) -> list[str]:
    rows = await unit.canon.true_now(world_id, kinds=("entity",), limit=MOST_NODES)
    return [row.change.content.entity_id for row in rows if isinstance(row.change.content, EntityContent)]


async def _entities(unit: Unit, world_id: str, ids: Sequence[str]) -> dict[str, EntityContent]:
    wanted = set(ids)
    rows = await unit.canon.true_now(world_id, kinds=("entity",))
    contents = (row.change.content for row in rows)
    return {one.entity_id: one for one in contents if isinstance(one, EntityContent) and one.entity_id in wanted}


async def _page(
    house: House, command: InWorld, kind: Literal["entity", "fact", "relationship"]
) -> tuple[list[ChangeRow], str | None]:
    limit = command.limit or PAGE
    asked = ChangeQuestion(world_id=command.world_id, status="committed", kind=kind, about=command.about)
    async with house.store.reading() as unit:
        await WORLDS.get(unit, command.world_id)
        found = await unit.canon.find(asked, after=place_of(kind, command.cursor), limit=limit + 1)
    cursor = cursor_after(kind, found[limit - 1].change.change_id) if len(found) > limit else None
    return [row for row in found[:limit] if row.is_true], cursor


def ends(row: ChangeRow) -> tuple[str, ...]:
    """The entities that a change connects."""
    content = row.change.content
    match content:
        case FactContent() | RelationshipContent():
            return (content.subject, content.object)
        case EventContent():
            return tuple(dict.fromkeys([*content.who[:1], *([content.where] if content.where else [])]))
        case _:
            return ()


def _holds(row: ChangeRow, at: int | None) -> bool:
    content = row.change.content
    if at is None or not isinstance(content, (FactContent, RelationshipContent)):
        return True
    return (content.since is None or content.since <= at) and (content.until is None or at < content.until)


def _node(id: str, known: EntityContent | None, degree: int) -> GraphNode:
    if known is None:
        return GraphNode(id=id, kind="value", name=id, degree=degree)
    return GraphNode(id=id, kind=known.entity_kind, name=known.name, degree=degree)


def _edge(row: ChangeRow) -> GraphEdge:
    content, (source, target) = row.change.content, ends(row)
    if isinstance(content, EventContent):
        kind, strength, since, until = content.what, None, content.at, None
    else:
        assert isinstance(content, (FactContent, RelationshipContent))
        strength = content.strength if isinstance(content, RelationshipContent) else None
        kind, since, until = content.predicate, content.since, content.until
    return GraphEdge.model_validate(
        {
            "id": row.change.change_id,
            "from": source,
            "to": target,
            "kind": kind,
            "strength": strength,
            "since": since,
            "until": until,
            "change_id": row.change.change_id,
        }
    )


def entity_view(row: ChangeRow) -> EntityView:
    content = row.change.content
    assert isinstance(content, EntityContent)
    return EntityView(
        entity_id=content.entity_id,
        kind=content.entity_kind,
        name=content.name,
        aliases=content.aliases,
        description=content.description,
        tags=content.tags,
        change_id=row.change.change_id,
    )
