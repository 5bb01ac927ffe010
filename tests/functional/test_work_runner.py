"""The runner: what was begun is done, whoever dies, leaves, cancels or comes too late."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from tests.conftest import Place

from fabula.actions.work.owners import is_dead, owner_name
from fabula.actions.work.work_kind import BadEnd, HeldWork, Sentences, WorkKind, doubling
from fabula.actions.work.work_runner import KEPT_MS, LEASE_S, MOST_TAKEN_UP, Chore, WorkRunner
from fabula.adapters.bus.local import LocalBus
from fabula.adapters.queues.local import LocalQueue
from fabula.adapters.stores.checkpoints import StoreCheckpoints
from fabula.adapters.stores.store import SqlStore
from fabula.adapters.stores.work import WORK, SqlWork
from fabula.adapters.world import SystemClock
from fabula.ports.bus import Frame
from fabula.ports.errors import Cancelled, Conflict, FabulaError, NotFound, StoreError
from fabula.ports.store import Store, Unit
from fabula.ports.work import Lease, NewWork, Work
from fabula.story.error_values import ErrorValue
from fabula.story.events import Completed, Progress, Told
from fabula.story.values import JsonObject
from fabula.testing.world import FixedClock

HOLDER = Path(__file__).with_name("work_holder.py")
Runners = Callable[..., Awaitable[WorkRunner]]


@pytest.fixture
async def runners(store: Store, clock: FixedClock) -> AsyncIterator[Runners]:
    """Opens runners that share the store; each stands for a process."""
    async with AsyncExitStack() as closing:
        assert isinstance(store, SqlStore)
        checkpoints = StoreCheckpoints(store)
        closing.push_async_callback(checkpoints.close)

        async def open_runner(
            owner: str, kind: WorkKind, *, takes_up: bool = False, chores: Sequence[Chore] = (), **more: Any
        ) -> WorkRunner:
            shared = {
                "store": store,
                "checkpoints": checkpoints,
                "bus": LocalBus(),
                "queue": LocalQueue(),
                "clock": clock,
            }
            runner = WorkRunner(**{**shared, "owner": owner, **more})
            await runner.open({"errand": kind}, takes_up=takes_up, chores=chores)
            closing.push_async_callback(runner.close)
            return runner

        yield open_runner


def errand(run: Callable[[HeldWork], Awaitable[JsonObject | None]], **more: Any) -> WorkKind:
    return WorkKind(**{"run": run, "deadline_s": 30.0, "most_attempts": 2, **more})


async def answer(held: HeldWork) -> JsonObject:
    return {"by": held.work.owner, "attempt": held.work.attempt}


async def hang(held: HeldWork) -> JsonObject:
    held.tell_progress(Progress(done=0, total=1, label="waiting for ever"))
    await asyncio.Event().wait()
    raise AssertionError


async def begun(store: Store, lease: Lease | None, **more: Any) -> Work:
    new = NewWork(**{"work_id": "w1", "kind": "errand", "held": lease, **more})
    return await store.write(lambda unit: unit.work.begin(new))


async def stored(store: Store, work_id: str = "w1") -> Work:
    work = await store.read(lambda unit: unit.work.get(work_id))
    assert work is not None
    return work


async def until(store: Store, is_so: Callable[[Work], bool], work_id: str = "w1") -> Work:
    while not is_so(work := await stored(store, work_id)):
        await asyncio.sleep(0.01)
    return work


async def test_work_runs_where_it_was_begun_and_its_result_is_kept(store: Store, runners: Runners) -> None:
    runner = await runners("ann", errand(answer))
    await runner.start(await begun(store, runner.lease()))
    assert await runner.result_of("w1") == {"by": "ann", "attempt": 1}
    work = await stored(store)
    assert (work.status, work.result) == ("done", {"by": "ann", "attempt": 1}) and runner.ids() == []


async def test_work_that_ended_long_ago_is_forgotten_while_the_process_runs(
    store: Store, runners: Runners, clock: FixedClock
) -> None:
    chores: list[int] = []

    async def chore() -> None:
        chores.append(clock.now_ms())

    runner = await runners("ann", errand(answer), takes_up=True, chores=[chore])
    while not chores:
        runner.wake()
        await asyncio.sleep(0.01)
    await runner.start(await begun(store, runner.lease()))
    await runner.result_of("w1")
    assert await runner.forget_old() == 0
    clock.advance(KEPT_MS + 1)
    assert await runner.forget_old() == 1
    assert await store.read(lambda unit: unit.work.get("w1")) is None
    while len(chores) < 2:
        runner.wake()
        await asyncio.sleep(0.01)
    runner.wake()
    await asyncio.sleep(0.05)
    assert len(chores) == 2, "what can wait is done from time to time, not whenever the runner looks around"


async def test_work_that_waits_is_taken_up_when_its_process_is_woken(store: Store, runners: Runners) -> None:
    runner = await runners("ann", errand(answer), takes_up=True)
    await begun(store, None)
    runner.wake()
    assert (await until(store, lambda work: not work.is_open)).result == {"by": "ann", "attempt": 1}


async def test_whoever_waits_gets_the_error_with_which_it_failed(store: Store, runners: Runners) -> None:
    async def refuse(held: HeldWork) -> JsonObject:
        raise Conflict("The shop is closed.", opens_at=9)

    runner = await runners("ann", errand(refuse))
    await runner.start(await begun(store, runner.lease()))
    with pytest.raises(Conflict, match="closed"):
        await runner.result_of("w1")
    with pytest.raises(FabulaError, match="closed") as later:
        await runner.result_of("w1")
    assert (later.value.name, later.value.data) == ("conflict", {"opens_at": 9})


async def test_what_nobody_expected_is_logged_once_and_fails_the_work(
    store: Store, runners: Runners, caplog: pytest.LogCaptureFixture
) -> None:
    async def stumble(held: HeldWork) -> JsonObject:
        raise KeyError("shoe")

    runner = await runners("ann", errand(stumble))
    await runner.start(await begun(store, runner.lease()))
    with pytest.raises(FabulaError, match="inside the server"):
        await runner.result_of("w1")
    assert (await stored(store)).status == "failed"
    assert [record.exc_info is not None for record in caplog.records] == [True]


async def test_work_that_takes_longer_than_its_deadline_fails(store: Store, runners: Runners) -> None:
    runner = await runners("ann", errand(hang, deadline_s=0.01))
    await runner.start(await begun(store, runner.lease()))
    with pytest.raises(FabulaError, match="too long"):
        await runner.result_of("w1")


async def test_work_with_a_backoff_is_put_off_and_in_the_end_buried_with_its_error(
    store: Store, clock: FixedClock, runners: Runners
) -> None:
    async def refuse(held: HeldWork) -> JsonObject:
        raise Conflict("The shop is closed.")

    kind = errand(refuse, most_attempts=3, backoff=doubling(first_s=1, longest_s=300))
    runner = await runners("ann", kind)
    await begun(store, None)
    waits = []
    for attempt in (1, 2):
        assert await runner.take_up() == 1
        work = await until(store, lambda work, attempt=attempt: work.attempt == attempt and work.status == "waiting")  # type: ignore[misc]
        waits.append(work.due_at_ms - clock.now_ms())
        assert await runner.take_up() == 0
        clock.advance(waits[-1])
    assert waits == [1000, 2000]
    assert await runner.take_up() == 1
    work = await until(store, lambda work: not work.is_open)
    assert work.status == "dead" and work.error is not None and work.error.message == "The shop is closed."


async def test_work_that_processes_died_with_too_often_is_not_taken_up_again(
    store: Store, clock: FixedClock, runners: Runners
) -> None:
    failed: list[str] = []

    async def on_failure(unit: Unit, work_id: str, how: BadEnd, error: ErrorValue) -> None:
        failed.append(f"{work_id} {how}: {error.message}")

    await begun(store, Lease(owner="elsewhere/1/1", until_ms=clock.now_ms()))
    lease = Lease(owner="elsewhere/2/2", until_ms=clock.now_ms())
    assert await store.write(lambda unit: unit.work.hold("w1", lease))
    runner = await runners("ann", errand(answer, on_failure=on_failure, sentences=Sentences(worn_out="Enough.")))
    assert await runner.take_up() == 1
    assert (await stored(store)).status == "failed" and (await stored(store)).input == {}
    assert failed == ["w1 failed: Enough."]


@pytest.mark.parametrize("how_it_ends", ["failed", "dead"])
async def test_work_that_cannot_be_read_is_ended_with_its_sentence_and_the_rest_is_done(
    store: Store, runners: Runners, how_it_ends: str
) -> None:
    failed: list[str] = []

    async def on_failure(unit: Unit, work_id: str, how: BadEnd, error: ErrorValue) -> None:
        failed.append(work_id)

    await begun(store, None)
    await begun(store, None, work_id="w2")
    await damage(store, "zz")
    tries = {"most_attempts": 5, "backoff": doubling(first_s=1, longest_s=300)} if how_it_ends == "dead" else {}
    runner = await runners("ann", errand(answer, on_failure=on_failure, **tries))
    assert await runner.take_up() == 2
    assert (await until(store, lambda work: not work.is_open, "w2")).result == {"by": "ann", "attempt": 1}
    ended = await until(store, lambda work: not work.is_open)
    assert ended.status == how_it_ends and failed == ["w1"]
    assert ended.error is not None and "'w1' (errand)" in ended.error.message and "is damaged" in ended.error.message


async def test_work_of_a_newer_version_is_left_to_its_processes(store: Store, runners: Runners) -> None:
    await begun(store, None)
    await damage(store, '{"v": 99}')
    runner = await runners("ann", errand(answer))
    assert await runner.take_up() == 1
    work = await until(store, lambda work: work.status == "waiting" and work.attempt == 1)
    assert await runner.take_up() == 0
    assert work.error is not None and "newer version" in work.error.message


async def test_work_of_a_newer_version_is_left_to_its_processes_however_often_it_was_looked_at(
    store: Store, runners: Runners, clock: FixedClock
) -> None:
    await begun(store, None)
    await damage(store, '{"v": 99}')
    runner = await runners("ann", errand(answer, most_attempts=1))
    waits = list[int]()
    for _ in range(9):
        assert await runner.take_up() == 1
        work = await until(store, lambda work: work.status != "running")
        assert (work.status, work.tries) == ("waiting", 0)
        waits.append(work.due_at_ms - clock.now_ms())
        clock.advance(waits[-1])
    assert work.error is not None and "newer version" in work.error.message
    # A newer process that is free takes it soon, and where there is none the older one asks ever more rarely.
    assert waits == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]


async def test_work_of_a_newer_version_that_was_tried_often_is_not_failed_by_an_older_one(
    store: Store, runners: Runners, clock: FixedClock
) -> None:
    await begun(store, None)
    for _ in range(3):
        await store.write(lambda unit: unit.work.hold("w1", Lease(owner="newer", until_ms=clock.now_ms())))
    await damage(store, '{"v": 99}')
    runner = await runners("ann", errand(answer, most_attempts=2))
    assert await runner.take_up() == 1
    assert (await until(store, lambda work: work.status != "running")).status == "waiting"


async def damage(store: Store, text: str) -> None:
    """Puts another text in place of the first work's input, as a hand or a bad disk would."""
    async with store.writing() as unit:
        assert isinstance(unit.work, SqlWork)
        await unit.work._connection.execute(update(WORK).where(WORK.c.work_id == "w1").values(input=text))


async def test_a_runner_that_stops_lets_go_and_another_takes_up_at_once(store: Store, runners: Runners) -> None:
    first = await runners("ann", errand(hang))
    await first.start(await begun(store, first.lease()))
    waiting = asyncio.create_task(first.result_of("w1"))
    await asyncio.sleep(0)
    await first.close()
    with pytest.raises(FabulaError, match="Send the same again"):
        await waiting
    second = await runners("bob", errand(answer))
    assert await second.take_up() == 1
    work = await until(store, lambda work: not work.is_open)
    assert (work.result, work.tries) == ({"by": "bob", "attempt": 2}, 1)


async def test_work_cancelled_elsewhere_is_stopped_here(store: Store, runners: Runners) -> None:
    here, there = await runners("ann", errand(hang)), await runners("bob", errand(hang))
    await here.start(await begun(store, here.lease()))
    assert await there.cancel("w1", Cancelled("Enough.").value())
    here.wake()
    await here.wait("w1")
    assert (await stored(store)).status == "cancelled" and here.ids() == []
    assert not await here.cancel("w1")


async def test_who_comes_back_too_late_changes_nothing(store: Store, clock: FixedClock, runners: Runners) -> None:
    go_on = asyncio.Event()

    async def sleepy(held: HeldWork) -> JsonObject:
        await go_on.wait()
        return await answer(held)

    slow, quick = await runners("ann", errand(sleepy)), await runners("bob", errand(answer))
    await slow.start(await begun(store, slow.lease()))
    clock.advance(round(LEASE_S * 1000))
    assert await quick.take_up() == 1
    await quick.wait("w1")
    go_on.set()
    await slow.wait("w1")
    assert (await stored(store)).result == {"by": "bob", "attempt": 2}


async def test_leases_of_all_that_runs_are_renewed(store: Store, clock: FixedClock, runners: Runners) -> None:
    here, there = await runners("ann", errand(hang)), await runners("bob", errand(answer))
    for id in ("w1", "w2"):
        await here.start(await begun(store, here.lease(), work_id=id))
    for _ in range(3):
        clock.advance(round(LEASE_S * 1000) - 1)
        here.wake()
        for id in ("w1", "w2"):
            await until(store, lambda work: work.lease_until_ms == clock.now_ms() + round(LEASE_S * 1000), id)
        assert await there.take_up() == 0


class MoodyStore:
    """A store that cannot be written for a while, without the wait for the disk that leases are renewed with."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_moody, self.refused = False, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, work: Callable[[Unit], Awaitable[Any]], *, durable: bool = True) -> Any:
        if self.is_moody and not durable:
            self.refused += 1
            raise StoreError("The database is away.")
        return await self._store.write(work, durable=durable)


async def test_a_process_that_could_not_renew_its_leases_does_not_take_its_own_work_from_itself(
    store: Store, runners: Runners, clock: FixedClock
) -> None:
    moody = MoodyStore(store)
    runner = await runners("ann", errand(hang), store=moody, takes_up=True)
    await runner.start(await begun(store, runner.lease()))
    moody.is_moody = True
    clock.advance(round(LEASE_S * 1000) + 1)
    while moody.refused < 3:
        runner.wake()
        clock.advance(300)
        await asyncio.sleep(0.01)
    moody.is_moody = False
    while (work := await stored(store)).lease_until_ms < clock.now_ms():
        runner.wake()
        clock.advance(300)
        await asyncio.sleep(0.01)
    assert (work.status, work.owner, work.attempt) == ("running", "ann", 1)


class ForgetfulStore:
    """A store that is away for some reads, from the moment when somebody says so."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.refuses = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def read(self, work: Callable[[Unit], Awaitable[Any]]) -> Any:
        if self.refuses:
            self.refuses -= 1
            raise StoreError("The database is away.")
        return await self._store.read(work)


@pytest.mark.parametrize("ends", ["well", "badly"])
async def test_nobody_waits_for_ever_when_the_store_goes_away_before_the_end_is_told(
    store: Store, runners: Runners, ends: str
) -> None:
    away, may_end = ForgetfulStore(store), asyncio.Event()

    async def end_with_the_store(held: HeldWork) -> JsonObject:
        await may_end.wait()
        away.refuses = 2
        if ends == "badly":
            raise Conflict("The shop is closed.")
        return {"sold": 1}

    runner = await runners("ann", errand(end_with_the_store), store=away)
    await runner.start(await begun(store, runner.lease()))
    watched = (await runner.watch("w1")).frames
    may_end.set()
    async with asyncio.timeout(60):
        assert [frame async for frame in watched] == [], "the stream ends, and whoever watched asks the store"
    away.refuses = 0
    assert [frame.last async for frame in (await runner.watch("w1")).frames] == [True]
    assert (await stored(store)).status == ("done" if ends == "well" else "failed")


async def test_a_process_that_waited_long_for_the_store_does_not_take_its_own_work_from_itself(
    store: Store, runners: Runners, clock: FixedClock
) -> None:
    runner = await runners("ann", errand(hang))
    await runner.open({"errand": errand(hang)}, takes_up=False)
    await runner.start(await begun(store, runner.lease()))
    await begun(store, None, work_id="w2")
    clock.advance(round(LEASE_S * 1000) + 1)
    assert await runner.take_up() == 1
    assert sorted(runner.ids()) == ["w1", "w2"]
    work = await stored(store)
    assert (work.status, work.attempt) == ("running", 1) and work.lease_until_ms > clock.now_ms()


async def test_who_listens_to_an_attempt_that_is_begun_anew_here_is_not_left_waiting(
    store: Store, runners: Runners, clock: FixedClock
) -> None:
    runner = await runners("ann", errand(hang))
    await runner.start(await begun(store, runner.lease()))
    watched = await runner.watch("w1")
    clock.advance(round(LEASE_S * 1000) + 1)
    again = await store.write(lambda unit: unit.work.hold_these(["w1"], runner.lease()))
    await runner._begin_again(again[0])
    async with asyncio.timeout(60):
        frames = [frame async for frame in watched.frames]
    assert all(not frame.last for frame in frames)
    assert (await runner.watch("w1")).stream != watched.stream, "whoever asks again follows the new attempt"


async def test_a_process_takes_up_only_as_much_as_it_has_room_for(store: Store, runners: Runners) -> None:
    runner = await runners("ann", errand(hang))
    for number in range(MOST_TAKEN_UP["realtime"] + 3):
        await begun(store, None, work_id=f"w{number}")
    assert [await runner.take_up(), await runner.take_up()] == [MOST_TAKEN_UP["realtime"], 0]


async def test_work_that_only_its_call_can_run_is_not_taken_up_unasked(
    store: Store, clock: FixedClock, runners: Runners
) -> None:
    runner = await runners("ann", WorkKind(deadline_s=None))
    await begun(store, Lease(owner="elsewhere/1/1", until_ms=clock.now_ms()))
    assert await runner.take_up() == 0


async def test_events_are_read_on_after_the_last_one_seen_and_in_the_end_from_the_store(
    store: Store, runners: Runners
) -> None:
    async def count(held: HeldWork) -> JsonObject:
        for done in range(3):
            held.tell_progress(Progress(done=done, total=3, label="counting"))
        return {}

    runner = await runners("ann", errand(count))
    await runner.start(await begun(store, runner.lease()))
    await runner.result_of("w1")
    watched = await runner.watch("w1", stream="w1", after=1)
    assert [(frame.sequence, frame.event) async for frame in watched.frames] == [
        (2, Progress(done=2, total=3, label="counting")),
        (3, Completed(result={})),
    ]
    other = await runners("bob", errand(count))
    forgotten = await other.watch("w1", after=1)
    assert [(frame.sequence, frame.last) async for frame in forgotten.frames] == [(2, True)]
    with pytest.raises(NotFound):
        await other.watch("nobody")


class SlowBus(LocalBus[Told]):
    """Another process's end of a bus: events reach it only after it asked in vain so often."""

    def __init__(self, behind: LocalBus[Told], *, in_vain: int) -> None:
        super().__init__()
        self._behind, self._in_vain = behind, in_vain

    async def subscribe(self, stream: str, *, after: int = -1) -> AsyncGenerator[Frame[Told], None] | None:
        self._in_vain -= 1
        return None if self._in_vain >= 0 else await self._behind.subscribe(stream, after=after)


@pytest.mark.parametrize("after", [-1, 1])
async def test_who_comes_to_another_process_before_the_last_events_have_crossed_hears_all_of_them(
    store: Store, runners: Runners, after: int
) -> None:
    async def count(held: HeldWork) -> JsonObject:
        for done in range(3):
            held.tell_progress(Progress(done=done, total=3, label="counting"))
        return {}

    bus: LocalBus[Told] = LocalBus()
    ann = await runners("ann", errand(count), bus=bus)
    bob = await runners("bob", errand(count), bus=SlowBus(bus, in_vain=5))
    await ann.start(await begun(store, ann.lease()))
    await ann.result_of("w1")
    watched = await bob.watch("w1", after=after)
    heard = [(frame.sequence, frame.last) async for frame in watched.frames]
    assert heard == [(number, number == 3) for number in range(after + 1, 4)]


async def test_of_work_whose_events_never_come_the_end_is_told_after_a_moment(
    store: Store, runners: Runners, clock: FixedClock
) -> None:
    ann = await runners("ann", errand(answer))
    bob = await runners("bob", errand(answer), bus=SlowBus(LocalBus(), in_vain=0))
    await ann.start(await begun(store, ann.lease()))
    await ann.result_of("w1")
    ended = clock.now_ms()
    watched = await bob.watch("w1")
    assert [(frame.sequence, frame.last) async for frame in watched.frames] == [(0, True)]
    assert 2000 <= clock.now_ms() - ended <= 2100


async def test_nobody_waits_for_events_of_a_process_that_is_dead(
    store: Store, runners: Runners, clock: FixedClock
) -> None:
    dead = f"{socket.gethostname()}/{os.getpid()}/another/1"
    ann = await runners(dead, errand(answer))
    bob = await runners("bob", errand(answer))
    await ann.start(await begun(store, ann.lease()))
    await ann.result_of("w1")
    ended = clock.now_ms()
    watched = await bob.watch("w1")
    assert [frame.last async for frame in watched.frames] == [True]
    assert clock.now_ms() == ended


def test_two_houses_of_one_process_do_not_take_each_other_for_dead() -> None:
    mine, other = owner_name("1"), owner_name("2")
    assert not is_dead(other, seen_by=mine) and not is_dead(mine, seen_by=mine)
    before = f"{socket.gethostname()}/{os.getpid()}/1700000000000"
    assert is_dead(before, seen_by=mine), "an earlier process had the same number"


async def test_work_of_a_killed_process_is_given_out_again_at_once(place: Place, runners: Runners) -> None:
    process = await holder(place, f"{socket.gethostname()}/PID/1", lease_ms=600_000)
    store = place.store(SystemClock())
    await store.open()
    try:
        runner = await runners("ann", errand(answer), store=store, clock=SystemClock())
        assert await runner.take_up() == 0
        process.kill()
        await process.wait()
        assert await runner.take_up() == 1
        assert (await until(store, lambda work: not work.is_open)).result == {"by": "ann", "attempt": 2}
    finally:
        await runner.close()
        await store.close()


async def test_work_of_a_process_killed_under_another_host_name_is_given_out_after_its_lease(
    place: Place, runners: Runners
) -> None:
    process = await holder(place, "another-machine/PID/1", lease_ms=1500)
    process.kill()
    await process.wait()
    store = place.store(SystemClock())
    await store.open()
    try:
        runner = await runners("ann", errand(answer), store=store, clock=SystemClock(), takes_up=True)
        work = await until(store, lambda work: not work.is_open)
        assert work.result == {"by": "ann", "attempt": 2}
    finally:
        await runner.close()
        await store.close()


async def holder(place: Place, owner: str, *, lease_ms: int) -> asyncio.subprocess.Process:
    """A process that holds `w1` now."""
    command = (sys.executable, str(HOLDER), place.settings.model_dump_json(), owner, str(lease_ms))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"held\n"
    return process
