"""Periodic work: begun once in each period, however many processes look at the clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import text
from tests.conftest import Place
from tests.functional.test_followers import all_done, ladder_at, played
from tests.live import Client, gate_session, live_server

from fabula.actions.followers.catch_up import LEFT_BEHIND, catch_up_summaries
from fabula.actions.work.periodic import PeriodicJob, Scheduler, periodic_kind
from fabula.actions.work.work_kind import HeldWork
from fabula.actions.work.work_runner import WorkRunner
from fabula.adapters.bus.local import LocalBus
from fabula.adapters.queues.local import LocalQueue
from fabula.adapters.stores.checkpoints import StoreCheckpoints
from fabula.adapters.stores.store import SqlStore
from fabula.ports.store import Store
from fabula.story.values import JsonObject
from fabula.testing.world import CountingIds, FixedClock


async def sweep(held: HeldWork) -> JsonObject:
    return {}


JOBS = [
    PeriodicJob(kind="sweep", every_s=60, does="sweeps", run=sweep),
    PeriodicJob(kind="count", every_s=3600, does="counts", run=sweep),
]


@asynccontextmanager
async def scheduler(store: Store, clock: FixedClock, ids: CountingIds) -> AsyncIterator[Scheduler]:
    assert isinstance(store, SqlStore)
    runner = WorkRunner(
        store=store,
        checkpoints=StoreCheckpoints(store),
        bus=LocalBus(),
        queue=LocalQueue(),
        clock=clock,
        owner="me",
    )
    await runner.open({job.kind: periodic_kind(job) for job in JOBS}, takes_up=False)
    yield Scheduler(JOBS, store=store, clock=clock, ids=ids, runner=runner)
    await runner.close()


async def test_each_job_is_begun_once_in_each_of_its_periods_by_two_schedulers(store: Store, clock: FixedClock) -> None:
    ids = CountingIds()
    async with scheduler(store, clock, ids) as one, scheduler(store, clock, ids) as two:
        for _ in range(3):
            begun = [work for works in await asyncio.gather(one.tick(), two.tick()) for work in works]
            assert sorted(work.kind for work in begun) in (["count", "sweep"], ["sweep"])
            assert await one.tick() == await two.tick() == []
            clock.advance(60_000)
        async with store.reading() as unit:
            kinds = [work.kind for work in await unit.work.unfinished(["sweep", "count"])]
        assert kinds.count("sweep") == 3 and kinds.count("count") in (1, 2)


async def test_what_was_buried_is_not_begun_again_before_its_next_period(store: Store, clock: FixedClock) -> None:
    ids = CountingIds()
    async with scheduler(store, clock, ids) as one, scheduler(store, clock, ids) as two:
        await one.tick()
        async with store.writing() as unit:
            for work in await unit.work.unfinished(["sweep"]):
                await unit.work.cancel(work.work_id)
        assert await two.tick() == []
        clock.advance(60_000)
        assert [work.kind for work in await two.tick()][:1] == ["sweep"]


@pytest.fixture
async def client(sqlite_place: Place) -> AsyncIterator[Client]:
    async with live_server(sqlite_place.settings.data_folder) as client:
        yield client


async def test_a_server_by_itself_does_its_periodic_work(client: Client) -> None:
    kinds = ["prune.work", "prune.checkpoints", "prune.traces", "summary.catch_up"]
    async with asyncio.timeout(120):
        while True:
            async with client.house.store.reading() as unit:
                period = str(client.house.clock.now_ms() // 600_000)
                done = await unit.work.by_key("prune.work", period)
                if done is not None and done.status == "done" and not await unit.work.unfinished(kinds):
                    break
            await asyncio.sleep(0.1)


async def test_a_play_whose_summaries_were_left_behind_is_summed_up(client: Client) -> None:
    session_id = await gate_session(client)
    await played(client, session_id, LEFT_BEHIND)
    await all_done(client)
    head = (await client.call("session.get", session_id, history="none"))["head_turn_id"]
    assert await catch_up_summaries(client.house) == 0, "nothing was left behind"
    assert isinstance(client.house.store, SqlStore)
    async with client.house.store.lone_transaction() as connection:
        for statement in ("DELETE FROM turn_summaries", "DELETE FROM work WHERE kind = 'summary.update'"):
            await connection.execute(text(statement))
    assert await catch_up_summaries(client.house) == 1
    await all_done(client)
    assert head and await ladder_at(client, session_id) is not None
