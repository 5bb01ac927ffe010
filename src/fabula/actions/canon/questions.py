"""Ask the knowledge graph: who and what there is, what is true of them, and how they connect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.canon.changes import PAGE, ChangesListed, change_view
from fabula.actions.canon.layers import layer_of
from fabula.actions.canon.play_graph import LayerName, graph_seen
from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import WORLDS
from fabula.actions.views import UNKNOWN_CURSOR, Command, ListView, Paging, View, cursor_after, place_of
from fabula.canon.contradictions import said
from fabula.canon.knowledge import How, knowers, may_be_known, who_is_in
from fabula.canon.staging import AGENDAS
from fabula.ports.actors import Actor
from fabula.ports.canon import ChangeRow
from fabula.ports.canon_graph import Edge, Graph, NodeName, TimeSpan
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.ports.store import Unit
from fabula.story.canon import (
    ChangeKind,
    Content,
    EntityContent,
    EntityKind,
    EventContent,
    FactContent,
    RelationshipContent,
)
from fabula.story.plot_threads import standing
from fabula.story.values import JsonObject

MOST_NODES = 300
MOST_EDGES = 2000
FEWEST_EDGES = 100
MOST_LOOKED_UP = 1000
MOST_BORDER = 1000
FARTHEST = 6


class InWorld(Paging):
    """A session in the envelope stands for what its play sees: its world, and on top of that its own layer."""

    world_id: str = ""
    about: str | None = None


class FactsAsked(InWorld):
    """`at` is a moment of story time, in minutes: only what was true then is listed."""

    at: int | None = None


class NameEntity(Command):
    world_id: str = ""
    entity_id: str


Lane = Literal["canon", "agendas", "scenes", "threads"]
LANES: tuple[Lane, ...] = ("canon", "agendas", "scenes", "threads")
MOST_PLAYED_SCENES = 500


class Layered(Command):
    """A session in the envelope stands for its world as its play sees it at its head. `layer` says which: `play` (so
    without it), or `world` without what the play adds and replaces."""

    world_id: str = ""
    layer: LayerName | None = None


class AskGraph(Layered):
    """What is around an entity, so many steps far; without a `centre` the first entities of the world.

    `kinds` keeps entities of these kinds alone; `at` keeps what held at that moment of story time. With a session it is
    the graph that its play sees at its head: its world's, and on top of it its own; `layer` "world" leaves that out.
    """

    centre: str | None = None
    hops: int = Field(default=1, ge=1, le=3)
    kinds: list[EntityKind] = Field(default=[], max_length=5)
    at: int | None = None
    limit: int = Field(default=MOST_NODES, ge=1, le=MOST_NODES)


class AskPath(Layered):
    """The shortest way from one entity to another, over facts and relationships; `from` and `to` are ids. A session
    and `layer` are as for the graph."""

    from_: str = Field(alias="from")
    to: str


class AskTimeline(Paging):
    """What began `from` a moment, before `to`; both are minutes of story time. A session and `layer` are as for the
    graph. `lanes` keeps some of it alone: what was written or said (`canon`), what came to pass off-screen (`agendas`),
    and of a play its scenes and plot threads."""

    lanes: list[Lane] = Field(default=[], max_length=4)

    world_id: str = ""
    layer: LayerName | None = None
    from_: int | None = Field(default=None, alias="from")
    to: int | None = None


class NameFact(Command):
    """`fact_id` is the id of the change that made the fact true; with a session also one of its play."""

    fact_id: str


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


class MomentView(View):
    """What began or happened `at` a moment, and `who` and what it is about. `change_id` is empty for scenes and plot
    threads, of which `ref` is the id."""

    optional = frozenset({"until", "ref"})
    type: Literal["timeline_moment"] = "timeline_moment"
    lane: Lane
    at: int
    until: int | None = None
    change_id: str
    ref: str | None = None
    kind: ChangeKind
    sentence: str
    who: list[str]


class TimelineListed(ListView):
    """Moments in their order; `lanes` are the entities that they are about."""

    type: Literal["timeline_listed"] = "timeline_listed"
    moments: list[MomentView]
    lanes: list[GraphNode]


class KnowerView(View):
    """Somebody who knows: because it is about them (`took_part`), or because canon says that they know (`told`)."""

    optional = frozenset({"since"})
    type: Literal["knower"] = "knower"
    entity_id: str
    name: str
    how: How
    since: int | None = None


class KnowersListed(View):
    """Who is known to know it; with `everybody` anybody else may know it, too."""

    type: Literal["knowers_listed"] = "knowers_listed"
    fact_id: str
    world_id: str
    everybody: bool
    knowers: list[KnowerView]


@allowed("author")
async def list_entities(house: House, actor: Actor, command: InWorld) -> EntitiesListed:
    """Lists the entities of a world's canon."""
    rows, cursor = await _page(house, command, "entity")
    return EntitiesListed(entities=[entity_view(row) for row in rows], next_cursor=cursor)


@allowed("author")
async def get_entity(house: House, actor: Actor, command: NameEntity) -> EntityView:
    """Shows an entity of a world's canon."""
    async with house.store.reading() as unit:
        await WORLDS.get(unit, command.world_id)
        return entity_view(await find_entity(unit, command.world_id, command.entity_id))


async def find_entity(unit: Unit, world_id: str, entity_id: str) -> ChangeRow:
    """The change by which canon knows an entity; raises NotFound for any other id."""
    rows = await unit.graph.about(world_id, "entity", end=entity_id, limit=2)
    if not rows:
        raise NotFound(f"Canon knows no '{entity_id}'.", id=entity_id)
    return rows[-1]


@allowed("author")
async def list_facts(house: House, actor: Actor, command: FactsAsked) -> ChangesListed:
    """Lists facts of a world's canon: all, or those about an entity, or those that were true at a moment."""
    rows, cursor = await _page(house, command, "fact", at=command.at)
    return ChangesListed(changes=[change_view(row) for row in rows], next_cursor=cursor)


@allowed("author")
async def list_relationships(house: House, actor: Actor, command: InWorld) -> ChangesListed:
    """Lists who stands how to whom."""
    rows, cursor = await _page(house, command, "relationship")
    return ChangesListed(changes=[change_view(row) for row in rows], next_cursor=cursor)


@allowed("author")
async def list_timeline(house: House, actor: Actor, session_id: str | None, command: AskTimeline) -> TimelineListed:
    """Lists what began or happened in a world, or in what a play sees of it, by its moment of story time."""
    limit, span = command.limit or PAGE, TimeSpan(begins=command.from_, ends=command.to)
    async with house.store.reading() as unit:
        world, graph = await graph_seen(house, unit, actor, session_id, command.world_id, command.layer)
        after = _moment_of(command.cursor)
        rows = await graph.timeline(world, span, after=after, limit=limit + 1)
        of_play = (
            [] if session_id is None or command.layer == "world" else await _played(house, unit, actor, session_id)
        )
        later = [one for one in of_play if _is_in(one, span) and (after is None or _place_of(one) > after)]
        found = sorted([*map(_moment, rows), *later], key=_place_of)
        moments = found[:limit]
        known = await graph.names(world, list(dict.fromkeys(end for one in moments for end in one.who)))
    lanes = [GraphNode.model_validate(_node(id, known[id], sum(id in one.who for one in moments))) for id in known]
    last = moments[-1] if len(found) > limit else None
    cursor = None if last is None else cursor_after("timeline", "~".join(map(str, _place_of(last))))
    wanted = command.lanes or LANES
    return TimelineListed(moments=[one for one in moments if one.lane in wanted], lanes=lanes, next_cursor=cursor)


@allowed("author")
async def ask_graph(house: House, actor: Actor, session_id: str | None, command: AskGraph) -> GraphView:
    """Shows the part of the knowledge graph around an entity, of a world or of what a play sees of it."""
    kinds = frozenset(command.kinds)
    async with house.store.reading() as unit:
        world, graph = await graph_seen(house, unit, actor, session_id, command.world_id, command.layer)
        centre = [command.centre] if command.centre is not None else await _first(graph, world, command.limit)
        found = await _around(graph, world, command, centre)
        # A few more than are shown: those of other kinds may fall out.
        known = await graph.names(world, found.order[:MOST_LOOKED_UP] if kinds else found.order[: command.limit])
    order = [id for id in found.order if not kinds or id in centre or (id in known and known[id].kind in kinds)]
    kept = set(order[: command.limit])
    inside = [(edge, pair) for edge in found.edges.values() if kept.issuperset(pair := edge.between)]
    degrees = Counter(chain.from_iterable(pair for _, pair in inside))
    nodes = [_node(id, known.get(id), degrees[id]) for id in order[: command.limit]]
    shown = [_edge(edge) for edge, pair in inside if len(pair) == 2]
    # Checked as a whole: hundreds of small views that are made one by one take most of the time.
    view = {"world_id": world, "nodes": nodes, "edges": shown, "left_out": len(order) - len(nodes)}
    return GraphView.model_validate(view)


@allowed("author")
async def ask_path(house: House, actor: Actor, session_id: str | None, command: AskPath) -> PathView:
    """Finds how two entities are connected, in a world or in what a play sees of it."""
    async with house.store.reading() as unit:
        world, graph = await graph_seen(house, unit, actor, session_id, command.world_id, command.layer)
        met = await _meet(graph, world, command)
    if met is None:
        return PathView(world_id=world, entities=[], edges=[])
    return PathView.model_validate({"world_id": world, "entities": met[0], "edges": [_edge(edge) for edge in met[1]]})


@allowed("author")
async def ask_who_knows(house: House, actor: Actor, session_id: str | None, command: NameFact) -> KnowersListed:
    """Tells who knows of a fact, a relationship or an event, and how; with a session, as its play sees it."""
    async with house.store.reading() as unit:
        row = await _fact(unit, actor, session_id, command.fact_id)
        if row is None or not ends(row.change.content):
            raise NotFound(f"There is no fact named '{command.fact_id}'.", id=command.fact_id)
        world, graph = await graph_seen(house, unit, actor, session_id, row.change.world_id, None)
        told = await graph.edges(world, [command.fact_id], limit=MOST_NODES)
        content = row.change.content
        named = [*who_is_in(content), *getattr(content, "known_to", ()), *(edge.subject for edge in told)]
        known = await graph.entities(world, list(dict.fromkeys(named)))
    found = knowers(row.change.content, told, known)
    return KnowersListed(
        fact_id=command.fact_id,
        world_id=world,
        everybody=may_be_known(row.change.content),
        knowers=[
            KnowerView(entity_id=one.entity_id, name=known[one.entity_id].name, how=one.how, since=one.since)
            for one in found
        ],
    )


async def _fact(unit: Unit, actor: Actor, session_id: str | None, fact_id: str) -> ChangeRow | None:
    """A change of a world; with a session one that its play sees."""
    if session_id is None:
        return await unit.canon.get(fact_id)
    seen = await layer_of(unit, actor, session_id)
    own = await unit.canon_layers.find(seen.turn_id, fact_id)
    if own is not None:
        return own if own.is_true else None
    row = await unit.canon.get(fact_id)
    hidden = fact_id in await unit.canon_layers.replaced(seen.turn_id)
    return None if row is None or hidden or not row.is_true or row.change.world_id != seen.world_id else row


@dataclass(kw_only=True)
class _Found:
    """What is around some entities: their ids in the order in which they were reached, and the edges."""

    order: list[str]
    edges: dict[str, Edge]


async def _around(graph: Graph, world_id: str, command: AskGraph, centre: Sequence[str]) -> _Found:
    found, border, seen = _Found(order=list(centre), edges={}), list(centre), set(centre)
    # Twice as many as can be shown are enough: whoever knows everybody would have thousands read for nothing.
    most = min(MOST_EDGES, max(2 * command.limit, FEWEST_EDGES))
    for _ in range(command.hops):
        if not border or len(found.edges) >= MOST_EDGES:
            break
        edges = await graph.edges(world_id, border, at=command.at, limit=most)
        found.edges.update((edge.change_id, edge) for edge in edges)
        ends = dict.fromkeys(chain.from_iterable(edge.between for edge in edges))
        reached = [end for end in ends if end not in seen]
        found.order += reached
        seen.update(reached)
        border = reached[:MOST_NODES]
    return found


async def _meet(graph: Graph, world_id: str, command: AskPath) -> tuple[list[str], list[Edge]] | None:
    """The way between two entities, looked for from both ends at once: so each side goes half as far."""
    came: tuple[dict[str, Edge | None], dict[str, Edge | None]] = ({command.from_: None}, {command.to: None})
    borders = [[command.from_], [command.to]]
    for _ in range(FARTHEST):
        if command.from_ == command.to or not (borders[0] and borders[1]):
            break
        side = 0 if len(borders[0]) <= len(borders[1]) else 1
        borders[side] = await _step(graph, world_id, borders[side], came[side])
        if any(id in came[1 - side] for id in borders[side]):
            break
    middle = next((id for id in came[0] if id in came[1]), None)
    if middle is None:
        return None
    here, first = _way_back(middle, came[0])
    there, second = _way_back(middle, came[1])
    return [*here[::-1], *there[1:]], [*first[::-1], *second]


async def _step(graph: Graph, world_id: str, border: Sequence[str], came: dict[str, Edge | None]) -> list[str]:
    """The entities one step further; `came` learns over which edge each was reached."""
    reached = []
    for edge in await graph.edges(world_id, border, limit=MOST_EDGES):
        pair = edge.between
        if len(pair) != 2:
            continue
        for here, there in (pair, pair[::-1]):
            if here in came and there not in came:
                came[there] = edge
                reached.append(there)
    return reached[:MOST_BORDER]


def _way_back(from_: str, came: Mapping[str, Edge | None]) -> tuple[list[str], list[Edge]]:
    ids, edges = [from_], []
    while (edge := came[ids[-1]]) is not None:
        edges.append(edge)
        ids.append(next(end for end in edge.between if end != ids[-1]))
    return ids, edges


async def _first(graph: Graph, world_id: str, limit: int) -> list[str]:
    rows = await graph.about(world_id, "entity", limit=limit)
    return [row.change.content.entity_id for row in rows if isinstance(row.change.content, EntityContent)]


async def _page(
    house: House, command: InWorld, kind: Literal["entity", "fact", "relationship"], *, at: int | None = None
) -> tuple[list[ChangeRow], str | None]:
    limit, after = command.limit or PAGE, place_of(kind, command.cursor)
    async with house.store.reading() as unit:
        await WORLDS.get(unit, command.world_id)
        found = await unit.graph.about(command.world_id, kind, end=command.about, at=at, after=after, limit=limit + 1)
    cursor = cursor_after(kind, found[limit - 1].change.change_id) if len(found) > limit else None
    return found[:limit], cursor


def ends(content: Content) -> tuple[str, ...]:
    """The entities, or words, that a change connects."""
    match content:
        case FactContent() | RelationshipContent():
            return (content.subject, content.object)
        case EventContent():
            return tuple(dict.fromkeys([*content.who, *([content.where] if content.where else [])]))
        case _:
            return ()


async def _played(house: House, unit: Unit, actor: Actor, session_id: str) -> list[MomentView]:
    """The scenes of a play that ended on its line, and the moves of its plot threads."""
    play, state = await head_state(unit, actor, session_id)
    scenes = [
        MomentView(
            lane="scenes",
            at=one.record.began_minute,
            until=one.record.ended_minute,
            change_id="",
            ref=one.record.scene_id,
            kind="event",
            sentence=one.record.title,
            who=[*one.record.participants, one.record.place],
        )
        for one in await unit.scenes.at(play.head_turn_id, limit=MOST_PLAYED_SCENES)
    ]
    setup = None if state.off_screen is None else await kind_of_play(state).setup(house, unit, session_id, state)
    if state.off_screen is None or setup is None:
        return scenes
    threads = [
        MomentView(
            lane="threads",
            at=move.minute,
            change_id="",
            ref=f"{thread.thread_id}.{number}",
            kind="event",
            sentence=f"{thread.title} ({move.status})",
            who=thread.about,
        )
        for thread in state.off_screen.all_threads(setup.threads)
        for number, move in enumerate(standing(thread, state.off_screen.threads).moves)
    ]
    return [*scenes, *threads]


def _place_of(one: MomentView) -> tuple[int, str]:
    """Where a moment stands among the others."""
    return one.at, one.change_id or one.ref or ""


def _is_in(one: MomentView, span: TimeSpan) -> bool:
    return (span.begins is None or one.at >= span.begins) and (span.ends is None or one.at < span.ends)


def _moment(row: ChangeRow) -> MomentView:
    content = row.change.content
    at = content.at if isinstance(content, EventContent) else getattr(content, "since", None)
    until = getattr(content, "until", None)
    return MomentView(
        lane="agendas" if row.change.proposer == AGENDAS else "canon",
        at=at or 0,
        until=until,
        change_id=row.change.change_id,
        kind=row.change.kind,
        sentence=said(content),
        who=list(ends(content)),
    )


def _moment_of(cursor: str | None) -> tuple[int, str] | None:
    place = place_of("timeline", cursor)
    if place is None:
        return None
    moment, _, id = place.partition("~")
    try:
        return int(moment[:20]), id
    except ValueError:
        raise InvalidRequest(UNKNOWN_CURSOR) from None


def _node(id: str, known: NodeName | None, degree: int) -> JsonObject:
    """The values of a GraphNode."""
    kind, name = ("value", id) if known is None else (known.kind, known.name)
    return {"id": id, "kind": kind, "name": name, "degree": degree}


def _edge(edge: Edge) -> JsonObject:
    """The values of a GraphEdge."""
    change_id, _, subject, predicate, other, strength, begins, ends = edge
    return {
        "id": change_id, "from": subject, "to": other, "kind": predicate, "strength": strength, "since": begins,
        "until": ends, "change_id": change_id,
    }  # fmt: skip


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
