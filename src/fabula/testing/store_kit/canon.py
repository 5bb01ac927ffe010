"""The law of canon."""

from __future__ import annotations

import pytest

from fabula.ports.canon import ChangeQuestion
from fabula.ports.errors import Conflict, NotFound
from fabula.ports.store import Store, Unit
from fabula.story.canon import Change, Decision, FactContent, Step, Verdict

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
            assert len(await unit.canon.touching("w", ["orr", "cave"], limit=2)) == 2

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
