"""The law of the knowledge graph."""

from __future__ import annotations

from fabula.ports.canon_graph import NodeName, TimeSpan
from fabula.ports.store import Store, Unit
from fabula.story.canon import (
    Change,
    Content,
    Decision,
    EntityContent,
    EventContent,
    FactContent,
    RelationshipContent,
    Step,
    Verdict,
)

DECISION = Decision(by="keeper", at_ms=1, reason="it is so")
VERDICT = Verdict(result="accept", weight=1.0, steps=[Step(rule="accept_at", found=1.0, sentence="1 is enough.")])


def _fact(subject: str, object: str, since: int | None = None, until: int | None = None) -> FactContent:
    return FactContent(subject=subject, predicate="near", object=object, since=since, until=until)


def _entity(id: str) -> EntityContent:
    return EntityContent(entity_id=id, entity_kind="character", name=id.title())


async def _say(unit: Unit, content: Content, name: str, world: str = "w", *retcons: str) -> None:
    """Makes a content true."""
    change = Change(change_id=name, world_id=world, content=content, authority="gm", proposer="author")
    await unit.canon.propose(change)
    await unit.canon.commit([(name, VERDICT.model_copy(update={"retcons": list(retcons)}))], DECISION)


async def _edges(unit: Unit, *ends: str, at: int | None = None, limit: int = 50) -> list[str]:
    return [edge.change_id for edge in await unit.graph.edges("w", ends, at=at, limit=limit)]


class GraphLaw:
    async def test_edges_are_found_from_either_end_each_once_and_at_most_so_many(self, store: Store) -> None:
        async with store.writing() as unit:
            await _say(unit, _fact("orr", "tower"), "c1")
            await _say(unit, RelationshipContent(subject="mara", predicate="loves", object="orr", strength=0.25), "c2")
            await _say(unit, EventContent(what="The tower fell", who=["mara"], where="tower", at=7), "c3")
            assert await _edges(unit, "orr", "tower") == ["c1", "c2", "c3"]
            assert await _edges(unit, "mara") == ["c2", "c3"] and await _edges(unit, "ilse") == []
            assert len(await _edges(unit, "orr", "tower", limit=2)) == 2
            (loves, fell) = await unit.graph.edges("w", ["mara"], limit=9)
            assert (loves.predicate, loves.strength, loves.between) == ("loves", 0.25, ("mara", "orr"))
            assert (fell.predicate, fell.begins, fell.ends) == ("The tower fell", 7, None)

    async def test_at_a_moment_only_what_holds_then_is_an_edge(self, store: Store) -> None:
        async with store.writing() as unit:
            for name, span in {"c1": (None, None), "c2": (10, 20), "c3": (20, None), "c4": (None, 15)}.items():
                await _say(unit, _fact("orr", name, *span), name)
            assert await _edges(unit, "orr", at=15) == ["c1", "c2"]
            assert await _edges(unit, "orr", at=20) == ["c1", "c3"]
            assert await _edges(unit, "orr", at=5) == ["c1", "c4"]
            rows = await unit.graph.about("w", "fact", end="orr", at=5)
            assert [row.change.change_id for row in rows] == ["c1", "c4"]

    async def test_what_is_not_true_in_the_worlds_own_layer_is_in_no_answer(self, store: Store) -> None:
        async with store.writing() as unit:
            await _say(unit, _fact("orr", "tower", 1), "c1")
            await _say(unit, _fact("orr", "cave", 1), "c2", "w", "c1")
            await _say(unit, _fact("orr", "sea", 1), "c3", "other")
            await unit.canon.propose(
                Change(change_id="c4", world_id="w", content=_fact("orr", "hill", 1), authority="gm", proposer="author")
            )
            layer = Change(
                change_id="c5",
                world_id="w",
                session_id="s1",
                turn_id="t1",
                content=_fact("orr", "moor", 1),
                authority="gm",
                proposer="author",
            )
            await unit.canon.propose(layer)
            await unit.canon.commit([("c5", VERDICT)], DECISION)
            assert await _edges(unit, "orr") == ["c2"]
            assert [row.change.change_id for row in await unit.graph.about("w", "fact")] == ["c2"]
            assert [row.change.change_id for row in await unit.graph.timeline("w", TimeSpan())] == ["c2"]
            await unit.canon.undo("c2", DECISION)
            assert await _edges(unit, "orr") == ["c1"]

    async def test_entities_are_found_by_their_ids(self, store: Store) -> None:
        async with store.writing() as unit:
            for name in ("orr", "mara", "ilse"):
                await _say(unit, _entity(name), f"c-{name}")
            found = await unit.graph.entities("w", ["mara", "nobody", "orr"])
            assert {id: one.name for id, one in found.items()} == {"mara": "Mara", "orr": "Orr"}
            names = await unit.graph.names("w", ["mara", "nobody"])
            assert names == {"mara": NodeName(kind="character", name="Mara")}
            assert await unit.graph.entities("w", []) == {} == await unit.graph.entities("other", ["orr"])

    async def test_an_entity_that_was_reworded_is_called_by_its_new_name(self, store: Store) -> None:
        async with store.writing() as unit:
            change = Change(change_id="c1", world_id="w", content=_entity("orr"), authority="gm", proposer="author")
            await unit.canon.propose(change)
            await unit.canon.reword("c1", EntityContent(entity_id="orr", entity_kind="place", name="Orr's Rock"))
            await unit.canon.commit([("c1", VERDICT)], DECISION)
            assert await unit.graph.names("w", ["orr"]) == {"orr": NodeName(kind="place", name="Orr's Rock")}

    async def test_the_longest_names_that_a_world_may_have_are_kept_and_found(self, store: Store) -> None:
        # Letters that no engine packs: all different, four bytes each.
        id, name, what = "i" * 128, *("".join(chr(0x20000 + 7 * n + k) for n in range(200)) for k in (0, 3))
        async with store.writing() as unit:
            await _say(unit, EntityContent(entity_id=id, entity_kind="place", name=name), "a" * 128, "w" * 128)
            await _say(unit, EventContent(what=what, who=[id], where=id[:-1], at=1), "b" * 128, "w" * 128)
            await _say(unit, FactContent(subject=id, predicate="p" * 60, object=name), "c" * 128, "w" * 128)
            edges = await unit.graph.edges("w" * 128, [id], limit=9)
            assert {(edge.predicate, edge.object) for edge in edges} == {(what, id[:-1]), ("p" * 60, name)}
            assert [one.name for one in (await unit.graph.names("w" * 128, [id])).values()] == [name]

    async def test_what_is_about_somebody_is_read_in_parts_in_the_order_of_proposal(self, store: Store) -> None:
        async with store.writing() as unit:
            for number in range(6):
                ends = ("orr", f"x{number}") if number % 2 else (f"x{number}", "orr")
                await _say(unit, _fact(*ends), f"c{number}")
            await _say(unit, _entity("orr"), "c7")
            first = [row.change.change_id for row in await unit.graph.about("w", "fact", end="orr", limit=4)]
            rest = [row.change.change_id for row in await unit.graph.about("w", "fact", end="orr", after=first[-1])]
            assert (first, rest) == (["c0", "c1", "c2", "c3"], ["c4", "c5"])
            assert [row.change.change_id for row in await unit.graph.about("w", "entity")] == ["c7"]

    async def test_a_timeline_is_in_the_order_of_moments_and_read_in_parts(self, store: Store) -> None:
        async with store.writing() as unit:
            for name, moment in {"c1": 30, "c2": 10, "c3": 30, "c4": None, "c5": 20}.items():
                await _say(unit, EventContent(what=name, who=["orr"], at=moment), name)
            rows = await unit.graph.timeline("w", TimeSpan())
            assert [row.change.change_id for row in rows] == ["c2", "c5", "c1", "c3"]
            later = await unit.graph.timeline("w", TimeSpan(begins=20), after=(30, "c1"))
            assert [row.change.change_id for row in later] == ["c3"]
            span = await unit.graph.timeline("w", TimeSpan(begins=10, ends=30), limit=1)
            assert [row.change.change_id for row in span] == ["c2"]
