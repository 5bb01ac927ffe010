"""The conformance kit of work: each sentence of the law in `fabula.ports.work` is a test with the same words.

An adapter's test module says `class TestMyWork(WorkKit)` and gives the fixtures `place`, where stores can be opened,
`store`, one that is open there, and `clock`, the FixedClock that this store reads.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from typing import Any

import pytest

from fabula.ports.store import Store
from fabula.ports.work import Lease, NewWork, Work
from fabula.story.error_values import ErrorValue
from fabula.testing.store_kit.places import StorePlace
from fabula.testing.world import FixedClock

LEASE_MS = 15_000
NEVER = ErrorValue(name="backend", message="It did not work.", data={"why": "bad luck"})


def lease(clock: FixedClock, owner: str = "me") -> Lease:
    return Lease(owner=owner, until_ms=clock.now_ms() + LEASE_MS)


async def begun(store: Store, work_id: str, **more: Any) -> Work:
    async with store.writing() as unit:
        return await unit.work.begin(NewWork(**{"work_id": work_id, "kind": "errand", **more}))


async def held(store: Store, clock: FixedClock, work_id: str, owner: str = "me", **more: Any) -> Work:
    """Work that is begun and held at once."""
    return await begun(store, work_id, held=lease(clock, owner), **more)


async def taken(store: Store, clock: FixedClock, work_id: str, owner: str, *, gone: list[str] | None = None) -> bool:
    async with store.writing() as unit:
        return await unit.work.hold(work_id, lease(clock, owner), gone=gone or []) is not None


async def stored(store: Store, work_id: str) -> Work:
    async with store.reading() as unit:
        work = await unit.work.get(work_id)
    assert work is not None
    return work


async def end(store: Store, work: Work, how: str) -> bool:
    """Ends work in one of its ways."""
    async with store.writing() as unit:
        match how:
            case "done":
                return await unit.work.finish(work, {"made": "a chair"})
            case "failed":
                return await unit.work.fail(work, NEVER)
            case "dead":
                return await unit.work.bury(work, NEVER)
            case _:
                return await unit.work.cancel(work.work_id, NEVER)


class WorkKit:
    """The whole law."""

    async def test_begin_stands_in_the_transaction_that_causes_it(self, store: Store) -> None:
        with pytest.raises(KeyError):
            async with store.writing() as unit:
                await unit.work.begin(NewWork(work_id="w1", kind="errand"))
                raise KeyError
        async with store.reading() as unit:
            assert await unit.work.get("w1") is None

    async def test_what_was_begun_reads_the_same_afterwards(self, store: Store, clock: FixedClock) -> None:
        given = {"key": "k", "subject": "s", "input": {"n": 1, "text": "ä\0"}, "trace_id": "t", "due_at_ms": 7}
        work = await begun(store, "w1", **given)
        assert (work.status, work.attempt, work.owner, work.due_at_ms) == ("waiting", 0, "", 7)
        assert await stored(store, "w1") == work
        running = await held(store, clock, "w2")
        assert (running.status, running.attempt, running.tries, running.owner) == ("running", 1, 1, "me")
        assert await stored(store, "w2") == running

    @pytest.mark.parametrize("how", ["waiting", "running", "done"])
    async def test_a_repeat_while_it_waits_or_runs_or_after_it_is_done_answers_the_work_that_is_there(
        self, store: Store, clock: FixedClock, how: str
    ) -> None:
        first = await begun(store, "w1", key="k", held=None if how == "waiting" else lease(clock))
        if how == "done":
            await end(store, first, how)
        again = await begun(store, "w2", key="k", input={"other": True})
        assert again == await stored(store, "w1") and again.status == how
        other_kind = await begun(store, "w3", key="k", kind="other")
        assert other_kind.work_id == "w3"

    @pytest.mark.parametrize("how", ["failed", "dead", "cancelled"])
    async def test_after_it_failed_died_or_was_cancelled_a_repeat_is_begun_anew(
        self, store: Store, clock: FixedClock, how: str
    ) -> None:
        assert await end(store, await held(store, clock, "w1", key="k"), how)
        clock.advance(1)
        again = await begun(store, "w2", key="k")
        assert (again.work_id, again.status) == ("w2", "waiting")
        assert (await stored(store, "w1")).error == NEVER
        async with store.reading() as unit:
            assert await unit.work.by_key("errand", "k") == again

    async def test_without_a_key_nothing_is_a_repeat(self, store: Store) -> None:
        assert {(await begun(store, id)).work_id for id in ("w1", "w2")} == {"w1", "w2"}
        async with store.reading() as unit:
            assert await unit.work.by_key("errand", "") is None

    async def test_hold_gives_work_to_one_owner_and_counts_the_attempt(self, store: Store, clock: FixedClock) -> None:
        await begun(store, "w1")
        assert await taken(store, clock, "w1", "first")
        assert not await taken(store, clock, "w1", "second") and not await taken(store, clock, "w1", "first")
        work = await stored(store, "w1")
        assert (work.owner, work.attempt, work.lease_until_ms) == ("first", 1, clock.now_ms() + LEASE_MS)

    async def test_hold_gives_out_work_that_waits_and_is_due(self, store: Store, clock: FixedClock) -> None:
        await begun(store, "w1", due_at_ms=clock.now_ms() + 10)
        assert not await taken(store, clock, "w1", "me")
        clock.advance(10)
        assert await taken(store, clock, "w1", "me")

    async def test_hold_gives_out_work_that_runs_under_a_lease_that_has_passed(
        self, store: Store, clock: FixedClock
    ) -> None:
        await held(store, clock, "w1", "first")
        clock.advance(LEASE_MS - 1)
        assert not await taken(store, clock, "w1", "second")
        clock.advance(1)
        assert await taken(store, clock, "w1", "second")
        assert (await stored(store, "w1")).attempt == 2

    async def test_hold_gives_out_work_whose_owner_is_gone(self, store: Store, clock: FixedClock) -> None:
        await held(store, clock, "w1", "first")
        assert not await taken(store, clock, "w1", "second", gone=["third"])
        assert await taken(store, clock, "w1", "second", gone=["third", "first"])

    @pytest.mark.parametrize("how", ["done", "failed", "dead", "cancelled"])
    async def test_what_has_ended_stays_as_it_ended(self, store: Store, clock: FixedClock, how: str) -> None:
        work = await held(store, clock, "w1")
        assert await end(store, work, how)
        ended = await stored(store, "w1")
        assert ended.status == how
        clock.advance(LEASE_MS)
        assert not await taken(store, clock, "w1", "me", gone=["me"])
        for other in ("done", "failed", "dead", "cancelled"):
            assert not await end(store, work, other)
        assert await stored(store, "w1") == ended

    async def test_of_any_number_of_holders_at_once_one_gets_it(
        self, place: StorePlace, store: Store, clock: FixedClock
    ) -> None:
        for number in range(8):
            await begun(store, f"w{number}")
        async with AsyncExitStack() as closing:
            stores = [place.store(clock) for _ in range(4)]
            for one in stores:
                await one.open()
                closing.push_async_callback(one.close)
            wins = await asyncio.gather(*(self._grab(stores[n % 4], clock, f"owner{n}") for n in range(16)))
        assert Counter(id for won in wins for id in won) == Counter({f"w{number}": 1 for number in range(8)})
        assert {(await stored(store, f"w{number}")).attempt for number in range(8)} == {1}

    async def _grab(self, store: Store, clock: FixedClock, owner: str) -> list[str]:
        """Takes work by name and as it is due, until there is none left."""
        won = [f"w{number}" for number in range(0, 8, 3) if await taken(store, clock, f"w{number}", owner)]
        while True:
            async with store.writing() as unit:
                found = await unit.work.hold_due(["errand"], lease(clock, owner), limit=2)
            if not found:
                return won
            won += [work.work_id for work in found]

    async def test_of_any_number_that_begin_the_same_at_once_one_begins_it(
        self, place: StorePlace, store: Store, clock: FixedClock
    ) -> None:
        async with AsyncExitStack() as closing:
            stores = [place.store(clock) for _ in range(4)]
            for one in stores:
                await one.open()
                closing.push_async_callback(one.close)
            found = await asyncio.gather(*(begun(stores[n % 4], f"w{n}", key="k") for n in range(16)))
        assert len({work.work_id for work in found}) == 1

    async def test_hold_these_does_the_same_for_work_by_its_ids_and_answers_what_was_given_out(
        self, store: Store, clock: FixedClock
    ) -> None:
        await begun(store, "w1")
        await begun(store, "later", due_at_ms=clock.now_ms() + 1)
        await held(store, clock, "taken", "other")
        async with store.writing() as unit:
            given = await unit.work.hold_these(["w1", "later", "taken", "nobody"], lease(clock))
            assert [(work.work_id, work.owner, work.attempt) for work in given] == [("w1", "me", 1)]
            assert await unit.work.hold_these([], lease(clock)) == []

    async def test_hold_due_holds_work_of_these_kinds_in_the_order_in_which_it_was_due(
        self, store: Store, clock: FixedClock
    ) -> None:
        for number, id in enumerate(("c", "a", "b", "d")):
            await begun(store, id, due_at_ms=clock.now_ms() - 10 + number)
        await begun(store, "stranger", kind="other", due_at_ms=1)
        await begun(store, "later", due_at_ms=clock.now_ms() + 1)
        async with store.writing() as unit:
            assert [work.work_id for work in await unit.work.due(["errand"], limit=3)] == ["c", "a", "b"]
            found = await unit.work.hold_due(["errand"], lease(clock), limit=3)
            assert [(work.work_id, work.status) for work in found] == [(id, "running") for id in ("c", "a", "b")]
            assert [work.work_id for work in await unit.work.due(["errand", "other"])] == ["stranger", "d"]
            assert [work.work_id for work in await unit.work.due(["errand"], gone=["me"])] == ["c", "a", "b", "d"]
            assert await unit.work.due([]) == []
            first = await unit.work.first_due([["errand"], [], ["other", "errand"]], gone=["me"])
            assert [None if work is None else work.work_id for work in first] == ["c", None, "stranger"]

    async def test_extend_renews_the_leases_of_all_work_that_an_owner_still_holds(
        self, store: Store, clock: FixedClock
    ) -> None:
        for id in ("w1", "w2", "w3"):
            await held(store, clock, id)
        await held(store, clock, "strange", "other")
        await end(store, await stored(store, "w2"), "cancelled")
        clock.advance(5000)
        async with store.writing() as unit:
            still = await unit.work.extend(["w1", "w2", "w3", "strange", "nobody"], lease(clock))
            assert await unit.work.extend([], lease(clock)) == set()
            assert await unit.work.held_by("me") == still == {"w1", "w3"}
            assert await unit.work.owners() == {"me", "other"}
        clock.advance(LEASE_MS - 1)
        assert not await taken(store, clock, "w1", "thief") and await taken(store, clock, "strange", "thief")

    @pytest.mark.parametrize("how", ["done", "failed", "dead", "put off", "let go"])
    async def test_from_anyone_who_no_longer_holds_the_work_they_change_nothing_and_answer_false(
        self, store: Store, clock: FixedClock, how: str
    ) -> None:
        old = await held(store, clock, "w1")
        clock.advance(LEASE_MS)
        assert await taken(store, clock, "w1", "me"), "the same owner, another attempt"
        now = await stored(store, "w1")
        async with store.writing() as unit:
            if how == "put off":
                assert not await unit.work.put_off(old, due_at_ms=0, error=NEVER)
            elif how == "let go":
                assert not await unit.work.let_go(old)
        if how not in ("put off", "let go"):
            assert not await end(store, old, how)
        assert await stored(store, "w1") == now
        assert await end(store, now, "done")
        assert (await stored(store, "w1")).result == {"made": "a chair"}

    async def test_what_was_put_off_waits_until_it_is_due(self, store: Store, clock: FixedClock) -> None:
        work = await held(store, clock, "w1")
        async with store.writing() as unit:
            assert await unit.work.put_off(work, due_at_ms=clock.now_ms() + 1000, error=NEVER)
        waits = await stored(store, "w1")
        assert (waits.status, waits.owner, waits.error, waits.tries) == ("waiting", "", NEVER, 1)
        assert not await taken(store, clock, "w1", "me")
        clock.advance(1000)
        assert await taken(store, clock, "w1", "me") and (await stored(store, "w1")).tries == 2

    async def test_what_was_let_go_is_due_at_once_and_that_attempt_does_not_count_as_a_try(
        self, store: Store, clock: FixedClock
    ) -> None:
        work = await held(store, clock, "w1")
        async with store.writing() as unit:
            assert await unit.work.let_go(work)
        assert await taken(store, clock, "w1", "other")
        again = await stored(store, "w1")
        assert (again.attempt, again.tries) == (2, 1)

    async def test_what_was_let_go_until_a_time_is_due_then(self, store: Store, clock: FixedClock) -> None:
        work = await held(store, clock, "w1")
        async with store.writing() as unit:
            assert await unit.work.let_go(work, due_at_ms=clock.now_ms() + 1000)
        assert not await taken(store, clock, "w1", "other") and (await stored(store, "w1")).tries == 0
        clock.advance(1000)
        assert await taken(store, clock, "w1", "other")

    async def test_cancel_ends_work_that_waits_or_runs_whoever_holds_it(self, store: Store, clock: FixedClock) -> None:
        await begun(store, "w1")
        work = await held(store, clock, "w2")
        async with store.writing() as unit:
            assert await unit.work.cancel("w1") and await unit.work.cancel("w2", NEVER)
            assert not await unit.work.cancel("w1") and not await unit.work.cancel("nobody")
            assert not await unit.work.finish(work)
        assert (await stored(store, "w2")).error == NEVER

    async def test_ask_cut_marks_work_that_waits_or_runs_and_leaves_it_to_its_holder(
        self, store: Store, clock: FixedClock
    ) -> None:
        await begun(store, "w1")
        work = await held(store, clock, "w2")
        await held(store, clock, "w3")
        async with store.writing() as unit:
            assert await unit.work.ask_cut("w1") and await unit.work.ask_cut("w2")
            assert not await unit.work.ask_cut("nobody")
            assert await unit.work.cuts_asked(work.owner) == {"w2"}
        assert (await stored(store, "w1")).cut_asked and not (await stored(store, "w3")).cut_asked
        marked = await stored(store, "w2")
        assert marked.cut_asked and (marked.status, marked.attempt) == ("running", work.attempt)
        async with store.writing() as unit:
            assert await unit.work.finish(work)
            assert not await unit.work.ask_cut("w2")
            assert await unit.work.cuts_asked(work.owner) == set()

    async def test_forget_removes_work_that_ended_before_a_time_some_at_a_time(
        self, store: Store, clock: FixedClock
    ) -> None:
        for number in range(3):
            await end(store, await held(store, clock, f"old{number}"), "done")
        await held(store, clock, "runs")
        clock.advance(10)
        await end(store, await held(store, clock, "new"), "failed")
        async with store.writing() as unit:
            assert await unit.work.forget(ended_before_ms=clock.now_ms(), limit=2) == 2
            assert await unit.work.forget(ended_before_ms=clock.now_ms(), limit=2) == 1
            assert await unit.work.forget(ended_before_ms=clock.now_ms()) == 0
            left = [id for id in ("old0", "old1", "old2", "runs", "new") if await unit.work.get(id)]
        assert left == ["runs", "new"]

    async def test_abandon_cancels_work_of_these_kinds_that_nobody_has_held_since_a_time(
        self, store: Store, clock: FixedClock
    ) -> None:
        for kind in ("errand", "other"):
            await held(store, clock, f"{kind}1", kind=kind)
            await begun(store, f"{kind}2", kind=kind)
        clock.advance(LEASE_MS + 1)
        await begun(store, "new")
        async with store.writing() as unit:
            assert await unit.work.abandon(["errand"], left_before_ms=clock.now_ms()) == 2
        statuses = [(await stored(store, id)).status for id in ("errand1", "errand2", "other1", "other2", "new")]
        assert statuses == ["cancelled", "cancelled", "running", "waiting", "waiting"]

    async def test_of_subject_lists_newest_first(self, store: Store, clock: FixedClock) -> None:
        for id in ("b", "a", "c"):
            await begun(store, id, subject="s")
            clock.advance(1)
        await begun(store, "other", subject="t")
        async with store.reading() as unit:
            assert [work.work_id for work in await unit.work.of_subject("s")] == ["c", "a", "b"]
            assert [work.work_id for work in await unit.work.of_subject("s", limit=1)] == ["c"]

    async def test_what_was_buried_can_be_revived_due_at_once_with_no_try_counted(
        self, store: Store, clock: FixedClock
    ) -> None:
        assert await end(store, await held(store, clock, "w1"), "dead")
        async with store.writing() as unit:
            assert await unit.work.revive("w1")
            assert not await unit.work.revive("w1") and not await unit.work.revive("nothing")
        work = await stored(store, "w1")
        assert (work.status, work.owner, work.tries, work.due_at_ms) == ("waiting", "", 0, clock.now_ms())
        assert await taken(store, clock, "w1", "another")

    @pytest.mark.parametrize("how", ["done", "failed", "cancelled"])
    async def test_of_any_other_work_revive_answers_false(self, store: Store, clock: FixedClock, how: str) -> None:
        assert await end(store, await held(store, clock, "w1"), how)
        async with store.writing() as unit:
            assert not await unit.work.revive("w1")
        assert (await stored(store, "w1")).status == how

    async def test_where_a_repeat_was_begun_meanwhile_nothing_is_revived(self, store: Store, clock: FixedClock) -> None:
        assert await end(store, await held(store, clock, "w1", key="k"), "dead")
        await begun(store, "w2", key="k")
        async with store.writing() as unit:
            assert not await unit.work.revive("w1")

    async def test_unfinished_lists_what_waits_runs_or_was_buried_oldest_first_after_the_work_that_is_named(
        self, store: Store, clock: FixedClock
    ) -> None:
        for number, how in enumerate(["waiting", "running", "dead", "done", "cancelled", "waiting"]):
            work = await begun(store, f"w{number}", held=None if how == "waiting" else lease(clock))
            if how not in ("waiting", "running"):
                await end(store, work, how)
            clock.advance(1)
        await begun(store, "other", kind="other")
        async with store.reading() as unit:
            every = [work.work_id for work in await unit.work.unfinished(["errand"])]
            waiting = [work.work_id for work in await unit.work.unfinished(["errand"], status="waiting")]
            rest = [work.work_id for work in await unit.work.unfinished(["errand"], after="w1", limit=1)]
        assert (every, waiting, rest) == (["w0", "w1", "w2", "w5"], ["w0", "w5"], ["w2"])

    async def test_counts_tells_how_much_of_each_kind_is_in_each_status_and_when_the_oldest_was_due(
        self, store: Store, clock: FixedClock
    ) -> None:
        first = clock.now_ms()
        await begun(store, "w0")
        clock.advance(1)
        await begun(store, "w1")
        await end(store, await held(store, clock, "w2"), "dead")
        await end(store, await held(store, clock, "w3"), "done")
        async with store.reading() as unit:
            counted = [(one.kind, one.status, one.count) for one in await unit.work.counts(["errand", "other"])]
            [waiting] = [one for one in await unit.work.counts(["errand"]) if one.status == "waiting"]
        assert sorted(counted) == [("errand", "dead", 1), ("errand", "waiting", 2)]
        assert waiting.oldest_due_at_ms == first
