"""Write a world's canon down for other programs and for people: what is true now, not how it came to be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, Literal

from fabula.actions.authority import allowed
from fabula.actions.canon.play_graph import LayerName, edge_of, graph_seen
from fabula.actions.house import House
from fabula.actions.repositories import WORLDS
from fabula.actions.views import Command, View
from fabula.formats.world_texts.document import WorldDocument, WrittenEdge, WrittenEntity
from fabula.formats.world_texts.writers import WORLD_WRITERS, WorldFormat
from fabula.ports.actors import Actor
from fabula.ports.canon import ChangeRow
from fabula.ports.canon_graph import Graph, TrueKind
from fabula.ports.errors import InvalidRequest
from fabula.ports.threads import run_in_thread
from fabula.story.canon import AxiomContent, EntityContent
from fabula.story.worlds import World

KINDS: Final[tuple[TrueKind, ...]] = ("entity", "fact", "relationship", "event", "axiom")
PAGE: Final = 1_000
MOST_CHANGES: Final = 20_000
"""So much of a world is written over the network; `every` writes it whole, for whoever sits at the machine."""


class ExportWorld(Command):
    """A session in the envelope stands for its world as its play sees it at its head; `layer` "world" leaves out what
    the play adds and replaces."""

    world_id: str = ""
    layer: LayerName | None = None
    format: WorldFormat = "json"


class WorldExported(View):
    """A world as a text of some format; `file_name` is what a file of it might be called."""

    may_be_large = True
    type: Literal["world_exported"] = "world_exported"
    world_id: str
    format: WorldFormat
    file_name: str
    media_type: str
    version: int
    entities: int
    edges: int
    text: str


@allowed("author")
async def export_world(house: House, actor: Actor, session_id: str | None, command: ExportWorld) -> WorldExported:
    """Writes what is true in a world, or in what a play sees of it, as JSON, GraphML, Cypher or Markdown."""
    return await write_world(house, actor, session_id, command, most=MOST_CHANGES)


async def write_world(
    house: House, actor: Actor, session_id: str | None, command: ExportWorld, *, most: int | None
) -> WorldExported:
    """A world as a text; one of more than so many changes is refused."""
    async with house.store.reading() as unit:
        world_id, graph = await graph_seen(house, unit, actor, session_id, command.world_id, command.layer)
        # The private world of a story that nothing was written into is none yet; its plays see what they add.
        world = await WORLDS.find(unit, world_id) or World(world_id=world_id, display_name=world_id)
        version = await unit.canon.version(world_id)
        rows = await _rows(graph, world_id, most)
    writer = WORLD_WRITERS[command.format]
    document = WorldDocument(
        world_id=world.world_id,
        name=world.display_name,
        description=world.description,
        version=version,
        entities=[_entity(one) for row in rows if isinstance(one := row.change.content, EntityContent)],
        edges=[edge for row in rows if (edge := _edge(row)) is not None],
        axioms=[one.text for row in rows if isinstance(one := row.change.content, AxiomContent)],
    )
    text = await run_in_thread(lambda: writer.write(document))
    return WorldExported(
        world_id=world.world_id,
        format=command.format,
        file_name=f"{world.world_id}{writer.suffix}",
        media_type=writer.media_type,
        version=version,
        entities=len(document.entities),
        edges=len(document.edges),
        text=text,
    )


async def _rows(graph: Graph, world_id: str, most: int | None) -> list[ChangeRow]:
    rows: list[ChangeRow] = []
    for kind in KINDS:
        async for row in _every(graph, world_id, kind):
            rows.append(row)
            if most is not None and len(rows) > most:
                raise InvalidRequest(
                    f"The world '{world_id}' has more than {most} true changes: have it written on the server itself, "
                    "or ask for parts of it."
                )
    return rows


async def _every(graph: Graph, world_id: str, kind: TrueKind) -> AsyncIterator[ChangeRow]:
    after: str | None = None
    while True:
        rows = await graph.about(world_id, kind, after=after, limit=PAGE)
        for row in rows:
            yield row
        if len(rows) < PAGE:
            return
        after = rows[-1].change.change_id


def _entity(content: EntityContent) -> WrittenEntity:
    return WrittenEntity(
        id=content.entity_id,
        kind=content.entity_kind,
        name=content.name,
        aliases=content.aliases,
        description=content.description,
        tags=content.tags,
    )


def _edge(row: ChangeRow) -> WrittenEdge | None:
    edge = edge_of(row)
    if edge is None:
        return None
    return WrittenEdge(
        id=edge.change_id,
        kind=edge.kind,
        subject=edge.subject,
        predicate=edge.predicate,
        object=edge.object,
        strength=edge.strength,
        since=edge.begins,
        until=edge.ends,
    )
