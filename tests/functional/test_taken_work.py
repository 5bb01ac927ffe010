"""Work that is announced: taken by one, done once, and given back where nobody here knows what it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from fabula.actions.work.work_kind import HeldWork, WorkKind, doubling
from fabula.actions.work.work_runner import LEASE_S, WorkRunner
from fabula.adapters.bus.local import LocalBus
from fabula.adapters.queues.local import LocalQueue
from fabula.adapters.stores.checkpoints import StoreCheckpoints
from fabula.adapters.stores.store import SqlStore
from fabula.ports.errors import BackendError
from fabula.ports.queue import Announcement
from fabula.ports.store import Store, Unit
from fabula.ports.work import Lease, NewWork, QueueName, Work
from fabula.story.values import JsonObject
from fabula.testing.world import FixedClock


class Bench:
    """Where work is done; `done` lists it, once for each time."""

    def __init__(self, runner: WorkRunner, store: Store) -> None:
        self.runner, self.store = runner, store
        self.done: list[str] = []
        self.go = asyncio.Event()
        self.go.set()

    async def run(self, held: HeldWork) -> JsonObject:
        await self.go.wait()
        if held.work.work_id.startswith("poison"):
            raise BackendError("It did not work.")
        self.done.append(held.work.work_id)
        return {}

    async def split(self, held: HeldWork) -> None:
        """Begins two errands, as the dispatcher does."""
        lease = self.runner.lease_for("errand")
        new = [NewWork(work_id=f"part{number}", kind="errand", key=f"part{number}", held=lease) for number in range(2)]

        async def fan_out(unit: Unit) -> list[Work]:
            begun = [await unit.work.begin(one) for one in new]
            await unit.work.finish(held.work)
            return begun

        await self.runner.go_on(held.work, await self.store.write(fan_out))

    async def begin(self, work_id: str, kind: str = "errand") -> Work:
        return await self.store.write(lambda unit: unit.work.begin(NewWork(work_id=work_id, kind=kind)))

    async def take(self, work_id: str) -> None:
        await self.runner.take(Announcement(work_id=work_id, queue="background"))

    async def stored(self, work_id: str) -> Work:
        work = await self.store.read(lambda unit: unit.work.get(work_id))
        assert work is not None
        return work


@asynccontextmanager
async def opened(
    store: Store, clock: FixedClock, owner: str, queues: Sequence[QueueName] = ("background",)
) -> AsyncIterator[Bench]:
    assert isinstance(store, SqlStore)
    runner = WorkRunner(
        store=store,
        checkpoints=StoreCheckpoints(store),
        bus=LocalBus(),
        queue=LocalQueue(),
        clock=clock,
        owner=owner,
    )
    bench = Bench(runner, store)
    kind = WorkKind(
        run=bench.run,
        deadline_s=30.0,
        most_attempts=2,
        backoff=doubling(first_s=1, longest_s=1),
        unwatched=True,
        queue="background",
    )
    split = replace(kind, run=bench.split, queue="realtime")
    kinds = {"errand": kind, "split": split, "call": WorkKind(deadline_s=1.0)}
    await runner.open(kinds, takes_up=False, most=dict.fromkeys(queues, 8), eager=False, is_told=True)
    yield bench
    await runner.close()


@pytest.fixture
async def bench(store: Store, clock: FixedClock) -> AsyncIterator[Bench]:
    async with opened(store, clock, "ann") as bench:
        yield bench


async def test_announced_work_is_done_to_its_end_before_take_returns(bench: Bench) -> None:
    await bench.begin("w1")
    await bench.take("w1")
    assert bench.done == ["w1"] and (await bench.stored("w1")).status == "done"


async def test_what_is_announced_twice_at_once_or_later_is_done_once(bench: Bench) -> None:
    for number in range(10):
        await bench.begin(f"w{number}")
    await asyncio.gather(*(bench.take(f"w{number % 10}") for number in range(30)))
    for number in range(10):
        await bench.take(f"w{number}")
    assert sorted(bench.done) == [f"w{number}" for number in range(10)]


async def test_of_two_processes_that_are_told_of_the_same_work_one_does_it(
    bench: Bench, store: Store, clock: FixedClock
) -> None:
    async with opened(store, clock, "ben") as other:
        await bench.begin("w1")
        await asyncio.gather(bench.take("w1"), other.take("w1"))
        assert bench.done + other.done == ["w1"]


async def test_what_work_begins_is_done_at_once_by_a_process_of_its_queue_before_take_returns(bench: Bench) -> None:
    await bench.begin("w1", kind="split")
    await bench.take("w1")
    assert sorted(bench.done) == ["part0", "part1"]
    parts = [await bench.stored(f"part{number}") for number in range(2)]
    assert [(part.status, part.attempt, part.owner) for part in parts] == [("done", 1, "ann")] * 2


async def test_what_work_begins_of_another_queue_waits_for_who_works_there(store: Store, clock: FixedClock) -> None:
    async with opened(store, clock, "ann", queues=["realtime"]) as ann, opened(store, clock, "ben") as ben:
        await ann.begin("w1", kind="split")
        await ann.take("w1")
        assert ann.done == [] and (await ann.stored("part0")).status == "waiting"
        await asyncio.gather(ben.take("part0"), ben.take("part1"))
        assert sorted(ben.done) == ["part0", "part1"]


async def test_what_was_begun_before_is_left_to_who_has_it(bench: Bench, store: Store, clock: FixedClock) -> None:
    held = NewWork(work_id="other", kind="errand", key="part0", held=Lease(owner="zoe", until_ms=clock.now_ms() + 9999))
    await store.write(lambda unit: unit.work.begin(held))
    await bench.begin("w1", kind="split")
    await bench.take("w1")
    assert bench.done == ["part1"] and (await bench.stored("other")).owner == "zoe"


async def test_what_a_process_began_and_died_with_is_given_out_again(
    bench: Bench, store: Store, clock: FixedClock
) -> None:
    bench.go.clear()
    await bench.begin("w1", kind="split")
    taking = asyncio.create_task(bench.take("w1"))
    while len(bench.runner.ids()) < 2 or "w1" in bench.runner.ids():
        await asyncio.sleep(0.01)
    clock.advance(round(LEASE_S * 1000) + 1)
    async with opened(store, clock, "ben") as ben:
        assert await ben.runner.take_up() == 2
        await asyncio.gather(*(ben.runner.wait(f"part{number}") for number in range(2)))
    bench.go.set()
    await taking
    parts = [await bench.stored(f"part{number}") for number in range(2)]
    assert [(part.status, part.attempt, part.owner) for part in parts] == [("done", 2, "ben")] * 2


async def test_what_nobody_begun_or_this_version_does_not_know_harms_nobody(bench: Bench) -> None:
    await bench.begin("new", kind="of tomorrow")
    await bench.begin("called", kind="call")
    await bench.begin("w1")
    for work_id in ("nothing", "new", "called", "w1"):
        await bench.take(work_id)
    assert bench.done == ["w1"]
    for work_id in ("new", "called"):
        assert ((await bench.stored(work_id)).status, (await bench.stored(work_id)).tries) == ("waiting", 0)


async def test_a_poison_piece_is_buried_after_its_attempts_and_harms_no_other(bench: Bench, clock: FixedClock) -> None:
    await bench.begin("poison")
    for number in range(3):
        await bench.begin(f"w{number}")
        await asyncio.gather(bench.take("poison"), bench.take(f"w{number}"))
        clock.advance(2000)
    buried = await bench.stored("poison")
    assert (buried.status, buried.tries) == ("dead", 2) and buried.error is not None
    assert bench.done == ["w0", "w1", "w2"]
