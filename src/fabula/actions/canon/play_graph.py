"""The knowledge graph as a play sees it: that of its world, and on top of it what is true on the line of its head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from fabula.actions.canon.layers import layer_of
from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import known_state
from fabula.actions.repositories import WORLDS
from fabula.actions.setups.seen_canon import merged_in, rows_as_read
from fabula.ports.actors import Actor
from fabula.ports.canon import ChangeRow
from fabula.ports.canon_graph import Edge, Graph, NodeName, TimeSpan, TrueKind
from fabula.ports.errors import InvalidRequest
from fabula.ports.store import Unit
from fabula.story.canon import EntityContent, EventContent, FactContent, Moment, RelationshipContent
from fabula.story.checks import PLAYER

LayerName = Literal["world", "play"]


async def graph_seen(
    house: House, unit: Unit, actor: Actor, session_id: str | None, world_id: str, layer: LayerName | None
) -> tuple[str, Graph]:
    """The world that is asked about and its graph: the world's own, or with a session what its play sees."""
    if session_id is None:
        if layer == "play":
            raise InvalidRequest("The layer of a play needs that play: name its session.")
        await WORLDS.get(unit, world_id)
        return world_id, unit.graph
    seen = await layer_of(unit, actor, session_id)
    if layer == "world":
        return seen.world_id, unit.graph
    true = [row for row in await unit.canon_layers.at(seen.turn_id) if row.is_true]
    own = await rows_as_read(unit, seen.world_id, true, await merged_in(unit, seen.world_id))
    hidden = await unit.canon_layers.replaced(seen.turn_id)
    names = await _cast(house, unit, session_id, seen.turn_id)
    return seen.world_id, PlayGraph(unit.graph, own, frozenset(hidden), names)


async def _cast(house: House, unit: Unit, session_id: str, turn_id: str) -> dict[str, NodeName]:
    """Who and what a play has by itself, whether or not canon knows of it."""
    state = await known_state(house, unit, turn_id)
    player = {PLAYER: NodeName(kind="character", name=state.player_name)}
    setup = await kind_of_play(state).setup(house, unit, session_id, state)
    if setup is None:
        return player
    places = {id: NodeName(kind="place", name=node.title) for id, node in setup.nodes.items()}
    people = {id: one.name for id, one in setup.characters.items()}
    people |= {id: guest.display_name for id, guest in state.session_characters.items()}
    return {**places, **{id: NodeName(kind="character", name=name) for id, name in people.items()}, **player}


class PlayGraph:
    """Keeps the law of `Graph` for two layers: what the play replaces of its world is in no answer."""

    def __init__(
        self, world: Graph, own: Sequence[ChangeRow], hidden: frozenset[str], cast: Mapping[str, NodeName]
    ) -> None:
        self._world, self._own, self._hidden, self._cast = world, own, hidden, cast
        self._edges: dict[str, list[Edge]] = {}
        self._entities: dict[str, EntityContent] = {}
        for row in own:
            if isinstance(row.change.content, EntityContent):
                self._entities[row.change.content.entity_id] = row.change.content
            elif (edge := edge_of(row)) is not None:
                for end in edge.between:
                    self._edges.setdefault(end, []).append(edge)

    async def edges(self, world_id: str, ends: Sequence[str], *, at: Moment | None = None, limit: int) -> list[Edge]:
        of_world = await self._world.edges(world_id, ends, at=at, limit=limit + len(self._hidden))
        found = {edge.change_id: edge for edge in of_world if edge.change_id not in self._hidden}
        own = (edge for end in ends for edge in self._edges.get(end, ()))
        found |= {edge.change_id: edge for edge in own if _holds(edge.begins, edge.ends, at)}
        # Where there are too many, the play's own are shown first: they are fewer, and newer.
        return sorted(found.values(), key=lambda edge: edge.change_id)[-limit:]

    async def entities(self, world_id: str, ids: Sequence[str]) -> dict[str, EntityContent]:
        found = await self._world.entities(world_id, ids)
        cast = {id: self._cast[id] for id in ids if id in self._cast and id not in found}
        named = {id: EntityContent(entity_id=id, entity_kind=one.kind, name=one.name[:200]) for id, one in cast.items()}
        return {**named, **found, **{id: self._entities[id] for id in ids if id in self._entities}}

    async def names(self, world_id: str, ids: Sequence[str]) -> dict[str, NodeName]:
        cast = {id: self._cast[id] for id in ids if id in self._cast}
        own = {id: self._entities[id] for id in ids if id in self._entities}
        named = {id: NodeName(kind=one.entity_kind, name=one.name) for id, one in own.items()}
        return {**cast, **await self._world.names(world_id, ids), **named}

    async def about(
        self,
        world_id: str,
        kind: TrueKind,
        *,
        end: str | None = None,
        at: Moment | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> list[ChangeRow]:
        most = limit + len(self._hidden)
        of_world = await self._world.about(world_id, kind, end=end, at=at, after=after, limit=most)
        own = [
            row
            for row in self._own
            if row.change.kind == kind
            and (after is None or row.change.change_id > after)
            and (end is None or end in _ends(row))
            and _holds(*_span(row), at)
        ]
        seen = [row for row in of_world if row.change.change_id not in self._hidden]
        return sorted([*seen, *own], key=lambda row: row.change.change_id)[:limit]

    async def timeline(
        self, world_id: str, span: TimeSpan, *, after: tuple[Moment, str] | None = None, limit: int = 100
    ) -> list[ChangeRow]:
        of_world = await self._world.timeline(world_id, span, after=after, limit=limit + len(self._hidden))
        found = [(place, row) for row in self._own if (place := _place(row)) is not None]
        found = [(place, row) for place, row in found if after is None or place > after]
        own = [row for place, row in found if (span.begins is None or place[0] >= span.begins)
               and (span.ends is None or place[0] < span.ends)]  # fmt: skip
        seen = [row for row in of_world if row.change.change_id not in self._hidden]
        return sorted([*seen, *own], key=lambda row: _place(row) or (0, ""))[:limit]


def edge_of(row: ChangeRow) -> Edge | None:
    """A fact, a relationship or an event as an edge of the graph."""
    content = row.change.content
    begins, ends = _span(row)
    match content:
        case FactContent() | RelationshipContent():
            return Edge(
                change_id=row.change.change_id,
                kind=content.kind,
                subject=content.subject,
                predicate=content.predicate,
                object=content.object,
                strength=content.strength if isinstance(content, RelationshipContent) else None,
                begins=begins,
                ends=ends,
            )
        case EventContent():
            who, where = content.who[0] if content.who else "", content.where or ""
            return Edge(
                change_id=row.change.change_id, kind="event", subject=who, predicate=content.what, object=where,
                begins=begins,
            )  # fmt: skip
        case _:
            return None


def _ends(row: ChangeRow) -> tuple[str, ...]:
    content = row.change.content
    if isinstance(content, EntityContent):
        return (content.entity_id,)
    edge = edge_of(row)
    return () if edge is None else edge.between


def _span(row: ChangeRow) -> tuple[Moment | None, Moment | None]:
    content = row.change.content
    match content:
        case FactContent() | RelationshipContent():
            return content.since, content.until
        case EventContent():
            return content.at, None
        case _:
            return None, None


def _place(row: ChangeRow) -> tuple[Moment, str] | None:
    """Where it stands in a timeline, if it is in one."""
    begins, _ = _span(row)
    return None if begins is None else (begins, row.change.change_id)


def _holds(begins: Moment | None, ends: Moment | None, at: Moment | None) -> bool:
    return at is None or ((begins is None or begins <= at) and (ends is None or ends > at))
