"""The knowledge graph: questions to a world of 100,000 entities and 1,000,000 edges, with networkx in memory beside it.

Both answer with the same picture: what is two steps around an entity, at most 300 nodes, with names and degrees.
`--database-url` measures on Postgres; it wants an empty database, or one that this benchmark has filled before.
`--data-dir` keeps SQLite's database there for the next time. `--few` measures a hundredth of the size.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import networkx

from fabula.actions.canon.changes import Since, changes_since
from fabula.actions.canon.questions import (
    AskGraph,
    AskPath,
    AskTimeline,
    FactsAsked,
    NameEntity,
    NameFact,
    ask_graph,
    ask_path,
    ask_who_knows,
    get_entity,
    list_facts,
    list_timeline,
)
from fabula.actions.canon.worlds import CreateWorld, create_world
from fabula.actions.house import House
from fabula.adapters.stores.canon import ADD, ANALYSE, graph_columns
from fabula.adapters.stores.tables import pack
from fabula.adapters.stores.unit import SqlUnit
from fabula.ports.actors import OPERATOR
from fabula.settings import Settings
from fabula.story.canon import Change, Content, EntityContent, FactContent, RelationshipContent
from fabula.wiring import open_house

WORLD = "bench"
MEASURED = 101
AT_ONCE = 5_000


def contents(entities: int, edges: int) -> Iterator[Content]:
    """Entities, then edges: half of them lead to the few whom everybody knows."""
    dice = random.Random(19)
    for number in range(entities):
        yield EntityContent(entity_id=f"e{number}", entity_kind="character", name=f"Somebody {number}")
    for number in range(edges):
        one = dice.randrange(entities)
        other = dice.randrange(entities) if number % 2 else int(entities * dice.random() ** 3)
        if number % 4:
            yield RelationshipContent(subject=f"e{one}", predicate="knows_of", object=f"e{other}", strength=0.5)
        else:
            yield FactContent(subject=f"e{one}", predicate="owes", object=f"e{other}", since=number)


def row(number: int, content: Content) -> dict[str, Any]:
    change = Change(change_id=f"change_{number:08}", world_id=WORLD, content=content, authority="gm", proposer="author")
    ends = (content.entity_id, "") if isinstance(content, EntityContent) else (content.subject, content.object)
    return {
        "change_id": change.change_id,
        "world_id": WORLD,
        "session_id": None,
        "kind": content.kind,
        "subject": ends[0],
        "object": ends[1],
        "status": "committed",
        "version": number + 1,
        "replaced_by": None,
        "doc": pack("canon_change", change.as_json()),
        "verdict": None,
        "decision": None,
        "created_at_ms": 1,
        "updated_at_ms": 1,
        **graph_columns(content),
    }


async def fill(house: House, entities: int, edges: int) -> None:
    """Writes the world straight into its table, unless it is there already."""
    async with house.store.reading() as unit:
        stored = await unit.canon.version(WORLD)
    if stored == entities + edges:
        return
    await create_world(house, OPERATOR, CreateWorld(world_id=WORLD, display_name="Bench"))
    numbered = enumerate(contents(entities, edges))
    while some := list(islice(numbered, AT_ONCE)):
        async with house.store.writing() as unit:
            assert isinstance(unit, SqlUnit)
            await unit.canon._connection.execute(ADD, [row(number, content) for number, content in some])
    async with house.store.writing() as unit:
        # As a commit of many changes does.
        assert isinstance(unit, SqlUnit)
        await unit.canon._access.analyse(ANALYSE)


def graph_in_memory(entities: int, edges: int) -> networkx.MultiDiGraph:
    graph = networkx.MultiDiGraph()
    for content in contents(entities, edges):
        if isinstance(content, EntityContent):
            graph.add_node(content.entity_id, name=content.name, kind=content.entity_kind)
        elif isinstance(content, (FactContent, RelationshipContent)):
            graph.add_edge(content.subject, content.object, kind=content.predicate)
    return graph


def in_memory(graph: networkx.MultiDiGraph, centre: str, hops: int) -> tuple[list[Any], list[Any]]:
    near = networkx.single_source_shortest_path_length(graph.to_undirected(as_view=True), centre, cutoff=hops)
    part = graph.subgraph(list(near)[:300])
    nodes = [(id, values.get("kind"), values.get("name"), part.degree(id)) for id, values in part.nodes(data=True)]
    return nodes, list(part.edges(data=True))


Question = Callable[[str, str], Awaitable[object]]


def questions(house: House, entities: int) -> dict[str, Question]:
    def around(hops: int) -> Question:
        return lambda one, _: ask_graph(
            house, OPERATOR, None, AskGraph(world_id=WORLD, centre=one, hops=hops, limit=300)
        )

    def path(one: str, other: str) -> Awaitable[object]:
        return ask_path(house, OPERATOR, None, AskPath.model_validate({"world_id": WORLD, "from": one, "to": other}))

    return {
        "1 hop": around(1),
        "2 hops, 300": around(2),
        "3 hops, 300": around(3),
        "an entity": lambda one, _: get_entity(house, OPERATOR, NameEntity(world_id=WORLD, entity_id=one)),
        "facts about, then": lambda one, _: list_facts(
            house, OPERATOR, FactsAsked(world_id=WORLD, about=one, at=500_000)
        ),
        "a path": path,
        "who knows": lambda one, _: ask_who_knows(
            house, OPERATOR, None, NameFact(fact_id=f"change_{int(one[1:]) + entities:08}")
        ),
        "since, 100": lambda one, _: changes_since(house, OPERATOR, Since(world_id=WORLD, version=int(one[1:]))),
        "a timeline, 100": lambda one, _: list_timeline(
            house, OPERATOR, None, AskTimeline.model_validate({"world_id": WORLD, "from": int(one[1:])})
        ),
    }


async def measure(ask: Question, entities: int) -> tuple[list[float], list[float]]:
    """Waiting, and this process's own work (SQLite's is part of it), in milliseconds."""
    dice, waits, works = random.Random(7), [], []
    for _ in range(MEASURED):
        one, other = (f"e{dice.randrange(entities)}" for _ in range(2))
        started, began = time.perf_counter(), time.process_time()
        await ask(one, other)
        waits.append((time.perf_counter() - started) * 1000)
        works.append((time.process_time() - began) * 1000)
    return waits, works


async def main(address: str, data_dir: Path | None, entities: int, edges: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = data_dir or Path(folder)
        async with open_house(Settings(data_dir=place, samples=False, database_url=address)) as house:
            await fill(house, entities, edges)
            graph = graph_in_memory(entities, edges)

            async def beside(one: str, _: str) -> object:
                return in_memory(graph, one, 2)

            print(f"{entities:,} entities, {edges:,} edges; load {os.getloadavg()[0]:.1f}")
            print(f"{'ms':20} {'p50':>8} {'p95':>8} {'p50 of CPU':>11}")
            found = {name: await measure(ask, entities) for name, ask in questions(house, entities).items()}
            found["networkx, 2 hops"] = await measure(beside, entities)
            for name, (waits, works) in found.items():
                last = statistics.quantiles(waits, n=20)[-1]
                print(f"{name:20} {statistics.median(waits):8.2f} {last:8.2f} {statistics.median(works):11.2f}")
            ratio = statistics.median(found["2 hops, 300"][0]) / statistics.median(found["networkx, 2 hops"][0])
            print(f"2 hops take {ratio:.1f} times as long as in networkx, which has the whole world in memory.")


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--database-url", default="", help="a Postgres database; without it SQLite is measured")
    reader.add_argument("--data-dir", type=Path, help="where SQLite's database is kept for the next time")
    reader.add_argument("--few", action="store_true", help="a hundredth of the size")
    given = reader.parse_args()
    size = (1_000, 10_000) if given.few else (100_000, 1_000_000)
    asyncio.run(main(given.database_url, given.data_dir, *size))
