"""The law of the canon of plays."""

from __future__ import annotations

from dataclasses import replace

from fabula.ports.canon_layers import CanonCommit, Ruling
from fabula.ports.store import Store, Unit
from fabula.story.canon import Change, ChangeStatus, Decision, FactContent, Step, Verdict
from fabula.testing.plays_kit import finished, new_turn, opened, played

DECISION = Decision(by="keeper", at_ms=1, reason="it is so")


def _change(name: str, turn: str, subject: str = "orr", object: str = "tower") -> Change:
    return Change(
        change_id=name,
        world_id="w",
        session_id="s",
        turn_id=turn,
        content=FactContent(subject=subject, predicate="owns", object=object),
        authority="source",
        proposer="rules",
    )


def _ruling(name: str, status: ChangeStatus, *retcons: str) -> Ruling:
    steps = [Step(rule="accept_at", found=1.0, sentence="1 is at least 0.7.")]
    verdict = Verdict(result="accept", weight=1.0, steps=steps, retcons=list(retcons))
    return Ruling(change_id=name, status=status, verdict=verdict, decision=DECISION)


def _record(turn: str) -> CanonCommit:
    return CanonCommit(turn_id=turn, world_id="w", why="scene", accepted=1)


async def _seen(unit: Unit, turn: str) -> list[tuple[str, str]]:
    return [(row.change.change_id, row.status) for row in await unit.canon_layers.at(turn)]


async def _two_branches(store: Store) -> None:
    """t0 - t1 - t2, and beside t2 another turn o2."""
    await opened(store)
    await played(store, "t1", "t0")
    await played(store, "t2", "t1")
    async with store.writing() as unit:
        await unit.canon_layers.stage([_change("c1", "t1"), _change("c2", "t1", object="boat")])
        await unit.canon_layers.stage([_change("c3", "t2", subject="ilse")])
        await unit.plays.move_head("s", "t1")
    await played(store, "o2", "t1")


class CanonLayersLaw:
    async def test_a_line_has_the_changes_that_were_staged_on_it_and_no_others(self, store: Store) -> None:
        await _two_branches(store)
        async with store.writing() as unit:
            await unit.canon_layers.stage([_change("c1", "t1", object="something else")])
            assert await _seen(unit, "t0") == []
            assert await _seen(unit, "t1") == await _seen(unit, "o2") == [("c1", "pending"), ("c2", "pending")]
            assert [name for name, _ in await _seen(unit, "t2")] == ["c1", "c2", "c3"]
            kept = await unit.canon_layers.get("c1")
            assert kept == _change("c1", "t1") and await unit.canon_layers.get("c9") is None
            about = await unit.canon_layers.at("t2", about=["ilse", "boat"])
            assert [row.change.change_id for row in about] == ["c2", "c3"]
            assert [row.change.change_id for row in await unit.canon_layers.at("t2", limit=1)] == ["c3"]
            assert len(await unit.canon_layers.at("t2", kind="fact")) == 3
            assert await unit.canon_layers.at("t2", kind="entity") == []

    async def test_what_was_decided_on_one_branch_is_open_on_another_and_before_it(self, store: Store) -> None:
        await _two_branches(store)
        async with store.writing() as unit:
            rulings = [_ruling("c1", "committed"), _ruling("c2", "rejected")]
            assert await unit.canon_layers.commit(_record("t2"), rulings)
            assert await _seen(unit, "t2") == [("c1", "committed"), ("c2", "rejected"), ("c3", "pending")]
            assert await _seen(unit, "t1") == await _seen(unit, "o2") == [("c1", "pending"), ("c2", "pending")]
            assert await unit.canon_layers.commit(_record("o2"), [_ruling("c1", "rejected")])
            assert (await _seen(unit, "o2"))[0] == ("c1", "rejected")
            assert (await _seen(unit, "t2"))[0] == ("c1", "committed")
            open = await unit.canon_layers.at("o2", only_open=True)
            assert [row.change.change_id for row in open] == ["c2"]

    async def test_none_is_missing_of_very_many_and_beside_the_many_of_another_branch(self, store: Store) -> None:
        await _two_branches(store)
        async with store.writing() as unit:
            await unit.canon_layers.stage([_change(f"o{number:04}", "o2", object="coin") for number in range(2500)])
            await unit.canon_layers.stage([_change(f"m{number:04}", "t2", subject="mara") for number in range(2100)])
            await unit.canon_layers.commit(_record("t2"), [_ruling(f"m{n:04}", "rejected") for n in range(2100)])
            assert [name for name, _ in await _seen(unit, "t1")] == ["c1", "c2"]
            seen = [name for name, _ in await _seen(unit, "t2")]
            assert seen == ["c1", "c2", "c3", *(f"m{number:04}" for number in range(2100))]
            open = await unit.canon_layers.at("t2", only_open=True, limit=2)
            assert [row.change.change_id for row in open] == ["c2", "c3"]
            assert len(await unit.canon_layers.at("o2", about=["coin", "boat"])) == 2501

    async def test_the_last_ruling_on_a_line_counts(self, store: Store) -> None:
        await _two_branches(store)
        async with store.writing() as unit:
            await unit.canon_layers.commit(_record("t1"), [_ruling("c1", "committed")])
            await unit.canon_layers.commit(_record("t2"), [_ruling("c1", "undone")])
            assert (await _seen(unit, "t1"))[0] == ("c1", "committed")
            assert (await _seen(unit, "t2"))[0] == ("c1", "undone")

    async def test_a_turn_has_one_record_and_a_repeat_changes_nothing(self, store: Store) -> None:
        await _two_branches(store)
        async with store.writing() as unit:
            assert await unit.canon_layers.commit_of("t2") is None
            assert await unit.canon_layers.commit(_record("t2"), [_ruling("c1", "committed")])
            assert not await unit.canon_layers.commit(_record("t2"), [_ruling("c2", "committed")])
            assert await _seen(unit, "t2") == [("c1", "committed"), ("c2", "pending"), ("c3", "pending")]
            record = await unit.canon_layers.commit_of("t2")
            assert record is not None and (record.why, record.accepted, record.pending) == ("scene", 1, 0)

    async def test_what_a_change_replaces_is_replaced_on_its_line_alone(self, store: Store) -> None:
        await _two_branches(store)
        async with store.writing() as unit:
            await unit.canon_layers.commit(_record("t1"), [_ruling("c1", "committed")])
            await unit.canon_layers.commit(_record("t2"), [_ruling("c3", "committed", "c1", "of-the-world")])
            (old, *_), (other, *_) = await unit.canon_layers.at("t2"), await unit.canon_layers.at("o2")
            assert (old.replaced_by, old.is_true) == ("c3", False)
            assert (other.replaced_by, other.is_true) == (None, True)
            assert await unit.canon_layers.replaced("t2") == {"c1": "c3", "of-the-world": "c3"}
            assert await unit.canon_layers.replaced("o2") == {}
            (alone,) = await unit.canon_layers.at("t2", about=["tower"], limit=1)
            assert alone.change.change_id == "c3"
            found, elsewhere = await unit.canon_layers.find("t2", "c1"), await unit.canon_layers.find("o2", "c3")
            assert found == old and elsewhere is None and await unit.canon_layers.find("t2", "c9") is None

    async def test_a_turn_stages_its_changes_when_it_is_committed(self, store: Store) -> None:
        await opened(store)
        async with store.writing() as unit:
            await unit.plays.begin(new_turn("t1", "t0"))
            done = replace(finished("t1"), staged=[_change("c1", "t1")])
            assert await unit.plays.commit(done) and not await unit.plays.commit(done)
            assert await _seen(unit, "t1") == [("c1", "pending")]

    async def test_a_layer_goes_with_the_last_play_of_its_tree(self, store: Store) -> None:
        await _two_branches(store)
        async with store.writing() as unit:
            await unit.canon_layers.commit(_record("t2"), [_ruling("c1", "committed")])
            await unit.plays.remove("s")
            assert await unit.canon_layers.get("c1") is None and await unit.canon_layers.commit_of("t2") is None
