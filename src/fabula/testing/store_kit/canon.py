"""The law of canon."""

from __future__ import annotations

import pytest

from fabula.ports.canon import ChangeQuestion
from fabula.ports.errors import Conflict, NotFound
from fabula.ports.store import Store, Unit
from fabula.story.canon import Change, Decision, EntityContent, FactContent, Step, Verdict

DECISION = Decision(by="keeper", at_ms=1, reason="it is so")


def _change(
    name: str, subject: str = "orr", object: str = "tower", world: str = "w", session: str | None = None
) -> Change:
    return Change(
        change_id=name,
        world_id=world,
        session_id=session,
        turn_id=None if session is None else "t1",
        content=FactContent(subject=subject, predicate="located_in", object=object),
        authority="gm",
        proposer="author",
    )


def _verdict(*retcons: str) -> Verdict:
    steps = [Step(rule="accept_at", found=1.0, sentence="1 is at least 0.7.")]
    return Verdict(result="accept", weight=1.0, steps=steps, retcons=list(retcons))


async def _commit(unit: Unit, name: str, *retcons: str) -> int:
    (row,) = await unit.canon.commit([(name, _verdict(*retcons))], DECISION)
    return row.version


async def _true(unit: Unit, world: str = "w", session: str | None = None) -> list[str]:
    return [row.change.change_id for row in await unit.canon.true_now(world, session_id=session)]


class CanonLaw:
    async def test_a_change_is_pending_until_it_is_decided_and_its_id_is_taken(self, store: Store) -> None:
        async with store.writing() as unit:
            row = await unit.canon.propose(_change("c1"))
            assert (row.status, row.version) == ("pending", 0)
            with pytest.raises(Conflict):
                await unit.canon.propose(_change("c1"))
            assert await _true(unit) == []
            assert (await unit.canon.get("c1")) == row and await unit.canon.get("c2") is None

    async def test_commit_gives_versions_without_a_gap_and_all_or_none_become_true(self, store: Store) -> None:
        async with store.writing() as unit:
            for name in ("c1", "c2", "c3"):
                await unit.canon.propose(_change(name, subject=name))
            rows = await unit.canon.commit([("c1", _verdict()), ("c2", _verdict())], DECISION)
            assert [row.version for row in rows] == [1, 2]
        with pytest.raises(Conflict):
            async with store.writing() as unit:
                await unit.canon.commit([("c3", _verdict()), ("c1", _verdict())], DECISION)
        with pytest.raises(NotFound):
            async with store.writing() as unit:
                await _commit(unit, "nobody")
        async with store.reading() as unit:
            assert await _true(unit) == ["c1", "c2"] and await unit.canon.version("w") == 2

    async def test_changes_that_are_true_from_the_first_moment_are_kept_together_or_not(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.canon.propose(_change("c0", subject="c0"))
            await _commit(unit, "c0")
            many = [(_change(f"n{n:04}", subject=f"n{n}"), _verdict()) for n in range(300)]
            await unit.canon.commit_new(many, DECISION)
            assert len(await _true(unit)) == 301 and await unit.canon.version("w") == 301
            row = await unit.canon.get("n0299")
            assert row is not None and (row.status, row.version, row.decision) == ("committed", 301, DECISION)
        with pytest.raises(Conflict):
            async with store.writing() as unit:
                await unit.canon.commit_new([(_change("x1"), _verdict()), (_change("c0"), _verdict())], DECISION)
        async with store.reading() as unit:
            assert await unit.canon.get("x1") is None

    async def test_what_is_replaced_is_kept_and_is_true_again_when_that_is_undone(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.canon.propose(_change("c1"))
            await unit.canon.propose(_change("c2", object="cave"))
            await _commit(unit, "c1")
            assert await _commit(unit, "c2", "c1") == 2
            assert await _true(unit) == ["c2"]
            old = await unit.canon.get("c1")
            assert old is not None and (old.status, old.replaced_by) == ("committed", "c2")
            assert await unit.canon.undo("c2", DECISION) is True
            assert await unit.canon.undo("c2", DECISION) is False
            assert await _true(unit) == ["c1"]
            assert [row.change.change_id for row in await unit.canon.since("w", 1)] == ["c2"]

    async def test_a_pending_change_is_reworded_and_found_by_its_new_ends(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.canon.propose(_change("c1"))
            content = FactContent(subject="mara", predicate="keeps", object="boat", since=4)
            await unit.canon.reword("c1", content)
            await _commit(unit, "c1")
            (row,) = await unit.canon.touching("w", ["mara"], limit=5)
            assert row.change.content == content
            (edge,) = await unit.graph.edges("w", ["boat"], limit=5)
            assert (edge.subject, edge.predicate, edge.begins) == ("mara", "keeps", 4)
            with pytest.raises(Conflict):
                await unit.canon.reword("c1", content)

    async def test_those_whose_place_another_took_are_named_until_that_is_undone(self, store: Store) -> None:
        def who(name: str, id: str) -> Change:
            content = EntityContent(entity_id=id, entity_kind="character", name=id)
            return _change(name).model_copy(update={"content": content})

        async with store.writing() as unit:
            for name, id in (("c1", "orr"), ("c2", "man"), ("c3", "orr"), ("c4", "orr"), ("c5", "king")):
                await unit.canon.propose(who(name, id))
            await _commit(unit, "c1")
            await _commit(unit, "c2")
            await _commit(unit, "c3", "c1", "c2")
            await _commit(unit, "c4", "c3")
            assert await unit.canon.mergers("w", limit=5) == {"man": "orr"}
            await _commit(unit, "c5", "c4")
            assert await unit.canon.mergers("w", limit=5) == {"man": "orr", "orr": "king"}
            assert await unit.canon.mergers("w", limit=1) == {"orr": "king"}
            assert await unit.canon.mergers("other", limit=5) == {}
            for name in ("c5", "c4", "c3"):
                await unit.canon.undo(name, DECISION)
            assert await unit.canon.mergers("w", limit=5) == {}

    async def test_a_rejected_change_and_its_verdict_are_kept_and_a_note_leaves_it_pending(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.canon.propose(_change("c1"))
            await unit.canon.note("c1", _verdict())
            noted = await unit.canon.get("c1")
            assert noted is not None and (noted.status, noted.verdict) == ("pending", _verdict())
            row = await unit.canon.reject("c1", _verdict(), DECISION)
            assert (row.status, row.decision) == ("rejected", DECISION)
            with pytest.raises(Conflict):
                await unit.canon.reject("c1", None, DECISION)

    async def test_changes_are_found_by_status_kind_and_either_end_in_order(self, store: Store) -> None:
        async with store.writing() as unit:
            for number, (subject, object) in enumerate([("orr", "tower"), ("mara", "orr"), ("tam", "cave")], 1):
                await unit.canon.propose(_change(f"c{number}", subject, object))
            await _commit(unit, "c3")

            async def found(**asked: str) -> list[str]:
                question = ChangeQuestion(world_id="w", **asked)  # type: ignore[arg-type]
                return [row.change.change_id for row in await unit.canon.find(question)]

            assert await found() == ["c1", "c2", "c3"]
            assert await found(status="pending") == ["c1", "c2"]
            assert await found(about="orr") == ["c1", "c2"]
            assert await found(kind="event") == []
            after = await unit.canon.find(ChangeQuestion(world_id="w"), after="c1", limit=1)
            assert [row.change.change_id for row in after] == ["c2"]

    async def test_touching_finds_what_names_an_entity_from_either_side(self, store: Store) -> None:
        async with store.writing() as unit:
            for number, (subject, object) in enumerate([("orr", "tower"), ("mara", "orr"), ("tam", "cave")], 1):
                await unit.canon.propose(_change(f"c{number}", subject, object))
                await _commit(unit, f"c{number}")
            near = await unit.canon.touching("w", ["orr"], limit=10)
            assert [row.change.change_id for row in near] == ["c1", "c2"]
            newest = await unit.canon.touching("w", ["orr", "cave"], limit=2)
            assert [row.change.change_id for row in newest] == ["c2", "c3"]
            entity = EntityContent(entity_id="orr", entity_kind="character", name="Orr")
            await unit.canon.propose(_change("c4").model_copy(update={"content": entity}))
            await _commit(unit, "c4")
            who = await unit.canon.touching("w", ["orr"], limit=10, entities=True)
            assert [row.change.change_id for row in who] == ["c1", "c2", "c4"]
            await unit.canon.propose(_change("c5", "orr", "well"))
            await _commit(unit, "c5")
            who = await unit.canon.touching("w", ["orr"], limit=2, entities=True)
            assert [row.change.change_id for row in who] == ["c4", "c5"]
            assert len(await unit.canon.touching("w", ["orr"], limit=10)) == 3
            assert len(await unit.canon.saying("w", ["located_in"], limit=10)) == 4
            assert await unit.canon.saying("w", ["owns"], limit=10) == await unit.canon.saying("w", [], limit=10) == []

    async def test_worlds_and_layers_of_plays_do_not_see_each_other(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.canon.propose(_change("c1"))
            await unit.canon.propose(_change("c2", world="other"))
            await unit.canon.propose(_change("c3", session="s1"))
            for name in ("c1", "c2", "c3"):
                await _commit(unit, name)
            assert await _true(unit) == ["c1"] and await _true(unit, "other") == ["c2"]
            assert await _true(unit, "w", "s1") == ["c1", "c3"] and await _true(unit, "w", "s2") == ["c1"]
            assert await unit.canon.touching("other", ["orr"], limit=9) != []
