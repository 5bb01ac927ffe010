"""Workers: what follows turns is done beside the servers, whatever is killed, away or wrong about the time."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil
import pytest
from tests.conftest import Place
from tests.fork_server import Child, ForkServer
from tests.functional.test_followers import buried, ladder_at, played
from tests.live import Client, gate_session, gate_story, live_server

from fabula.actions.followers.dispatch import FOLLOWER_WORK, follower_of
from fabula.actions.house import House
from fabula.actions.plays.play_states import known_state
from fabula.adapters.queues import broker_queue
from fabula.adapters.queues.celery_queue import ANSWERS_S
from fabula.adapters.world import SystemClock
from fabula.cli.check_up import check_up
from fabula.loops.scene.play_setup import PlaySetup
from fabula.ports.work import NewWork, Work
from fabula.settings import Settings
from fabula.story.followers import SUMMARY_EVERY
from fabula.story.lore import has_book
from fabula.testing.redis import RedisServer
from fabula.testing.server_process import clean_environment
from fabula.wiring import open_house

PATIENCE_S = 120.0


@dataclass(kw_only=True)
class Yard:
    """A server with a broker, and workers that are started and killed."""

    client: Client
    fork_server: ForkServer
    settings: Settings
    folder: Path
    workers: list[Child] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return clean_environment(
            {
                "FABULA_DATABASE_URL": self.settings.database_url,
                "FABULA_BROKER_URL": self.settings.broker_url,
                "FABULA_DATA_DIR": str(self.settings.data_folder),
            }
        )

    async def worker(self, *options: str) -> Child:
        log = self.folder / f"worker-{len(self.workers)}.log"
        worker = await asyncio.to_thread(self.fork_server.start, ["worker", *options], self.environment, log=log)
        self.workers.append(worker)
        await until(lambda: is_written(log, "Fabula works for"))
        return worker


async def is_written(log: Path, words: str) -> bool:
    return words in (await asyncio.to_thread(log.read_text, "utf-8"))


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await is_so():
            await asyncio.sleep(0.05)


async def nothing_follows(house: House) -> bool:
    async with house.store.reading() as unit:
        return not await unit.work.unfinished(FOLLOWER_WORK)


@pytest.fixture
async def yard(
    postgres_place: Place, redis_server: RedisServer, fork_server: ForkServer, tmp_path: Path
) -> AsyncIterator[Yard]:
    settings = postgres_place.settings.model_copy(update={"broker_url": redis_server.url})
    async with live_server(
        settings.data_folder, database_url=settings.database_url, broker_url=settings.broker_url
    ) as client:
        yard = Yard(client=client, fork_server=fork_server, settings=settings, folder=tmp_path)
        yield yard
        for worker in yard.workers:
            await asyncio.to_thread(worker.kill)


@pytest.mark.all
async def test_what_follows_turns_is_done_by_a_worker_and_not_by_the_server(yard: Yard) -> None:
    session_id = await gate_session(yard.client)
    await played(yard.client, session_id, SUMMARY_EVERY)
    await asyncio.sleep(3)
    assert not await nothing_follows(yard.client.house), "the server leaves it to workers"
    await yard.worker("--concurrency", "2")
    await until(lambda: nothing_follows(yard.client.house))
    ladder = await ladder_at(yard.client, session_id)
    assert ladder is not None and ladder.last_turn == SUMMARY_EVERY
    async with yard.client.house.store.reading() as unit:
        [done] = [work for work in await unit.work.of_subject(session_id) if work.kind == "summary.update"]
    assert (done.status, done.attempt, done.trace_id) == ("done", 1, done.key) and done.owner != yard.client.house.owner


@pytest.mark.all
async def test_while_the_broker_is_away_work_waits_in_the_table_and_is_swept_up(
    yard: Yard, redis_server: RedisServer
) -> None:
    await yard.worker()
    await asyncio.to_thread(redis_server.kill)
    session_id = await gate_session(yard.client)
    await played(yard.client, session_id, SUMMARY_EVERY)
    await until(lambda: nothing_follows(yard.client.house))
    assert await ladder_at(yard.client, session_id) is not None


@pytest.mark.all
async def test_lore_that_a_worker_prepared_is_used_by_a_server_that_did_not_see_it_made(yard: Yard) -> None:
    entries = [{"entry_id": f"e{n}", "title": f"t{n}", "content": "x", "keywords": [f"word{n}"]} for n in range(40)]
    await yard.client.call("lorebook.create", lorebook_id="lore", display_name="Lore")
    for entry in entries:
        await yard.client.call("lorebook_entry.create", lorebook_id="lore", **entry)
    story_id = await gate_story(yard.client)
    story = await yard.client.call("story.get", story_id=story_id)
    await yard.client.call("story_resources.update", resource_id=story["resource_id"], lorebook_ids=["lore"])
    session_id = str((await yard.client.raw("story.start_session", story_id=story_id))["session_id"])
    assert (await setup_at(yard.client, session_id)).wants_bundle
    house, head = yard.client.house, (await yard.client.call("session.get", session_id))["head_turn_id"]
    begun = await begin(house, follower_of(house, "lore", session_id, {"turn_id": head}))
    await yard.worker("--queues", "background")
    house.work.announce(begun)
    await until(lambda: nothing_follows(house))
    async with live_server(yard.folder / "other", database_url=yard.settings.database_url) as other:
        setup = await setup_at(other, session_id)
        assert setup.lore_bundle is not None and not setup.wants_bundle
        await played(other, session_id, 1)
        assert has_book(setup.lore)
        await other.call("lorebook_entry.update", lorebook_id="lore", entry_id="e1", keywords=["another"])
        assert (await setup_at(other, session_id)).lore_bundle is None, "it does not fit any more"


async def setup_at(client: Client, session_id: str) -> PlaySetup:
    """What a session plays, as the server of a client gathers it."""
    async with client.house.store.reading() as unit:
        play = await unit.plays.get(session_id)
        assert play is not None
        state = await known_state(client.house, unit, play.head_turn_id)
        return await client.house.play_setups.played_by(unit, session_id, state.graph)


@pytest.mark.all
async def test_a_worker_that_is_asked_to_stop_ends_in_good_order(yard: Yard) -> None:
    worker = await yard.worker("--queues", "background,heavy")
    await asyncio.to_thread(worker.kill, signal.SIGTERM)
    log = await asyncio.to_thread((yard.folder / "worker-0.log").read_text, "utf-8")
    assert "Stopping" in log and "Traceback" not in log


@pytest.mark.all
async def test_of_several_processes_one_that_dies_is_followed_by_another(yard: Yard) -> None:
    parent = await yard.worker("--processes", "2")
    queue = broker_queue(yard.settings.broker_url)

    async def listeners() -> set[str]:
        return set((await queue.status()).listeners)

    async def both_listen() -> bool:
        return len(await listeners() - dead) == 2

    dead: set[str] = set()
    await until(both_listen)
    first = psutil.Process(parent.pid).children()[0]
    dead = {name for name in await listeners() if name.endswith(f".{first.pid}")}
    first.kill()
    await until(both_listen)
    await asyncio.to_thread(parent.kill, signal.SIGTERM)
    await queue.close()
    assert psutil.pid_exists(parent.pid) is False


@pytest.mark.all
async def test_several_worker_processes_tell_their_figures_at_one_port(yard: Yard) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    await yard.worker("--processes", "2", "--ops-port", str(port))
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as http:

        async def both_tell() -> bool:
            return "\nfabula_processes 2.0\n" in (await http.get("/metrics")).text

        await until(both_tell)
        assert (await http.get("/readyz")).json()["status"] == "ready"
        figures = (await http.get("/metrics")).text
    assert 'fabula_ready{process="0"} 1.0' in figures and 'fabula_ready{process="1"} 1.0' in figures


@pytest.mark.all
async def test_the_doctor_tries_the_broker_and_shows_workers_and_what_was_buried(
    yard: Yard, redis_server: RedisServer
) -> None:
    await buried(yard.client)
    await yard.worker("--queues", "realtime,background")
    # A worker says that it works a moment before it listens.
    await until(lambda: is_heard(yard))
    found = {one.part: one for one in await check_up(yard.settings)}
    assert found["broker"].state == "ok" and "realtime" in found["workers"].sentence
    assert (found["workers"].state, found["workers"].next_step) == ("missing", "fabula worker --queues heavy")
    assert "1 were buried" in found["followers"].sentence and "outbox" in found["followers"].next_step
    await asyncio.to_thread(redis_server.kill)
    away = {one.part: one for one in await check_up(yard.settings)}
    assert away["broker"].state == "broken" and "broker_url" in away["broker"].next_step


@pytest.mark.all
async def test_a_worker_that_is_slow_to_answer_is_asked_again(yard: Yard) -> None:
    worker = await yard.worker()
    await until(lambda: is_heard(yard))
    await asyncio.to_thread(worker.send, signal.SIGSTOP)
    asked = asyncio.create_task(is_heard(yard))
    await asyncio.sleep(ANSWERS_S[0] + 0.5)
    await asyncio.to_thread(worker.send, signal.SIGCONT)
    assert await asked


async def is_heard(yard: Yard) -> bool:
    queue = broker_queue(yard.settings.broker_url)
    status = await queue.status()
    await queue.close()
    return bool(status.listeners)


@pytest.mark.all
async def test_two_schedulers_begin_each_job_once_and_a_worker_does_it(yard: Yard) -> None:
    for number in range(2):
        log = yard.folder / f"beat-{number}.log"
        child = await asyncio.to_thread(yard.fork_server.start, ["beat"], yard.environment, log=log)
        yard.workers.append(child)
    await yard.worker()

    async def is_done() -> bool:
        async with yard.client.house.store.reading() as unit:
            done = await unit.work.by_key("prune.work", str(yard.client.house.clock.now_ms() // 600_000))
            return done is not None and done.status == "done"

    await until(is_done)


class WrongClock(SystemClock):
    """The clock of a machine that is wrong."""

    def __init__(self, by_ms: int) -> None:
        self._by_ms = by_ms

    def now_ms(self) -> int:
        return super().now_ms() + self._by_ms


@pytest.mark.parametrize("apart_ms", [60_000, -60_000])
async def test_a_clock_that_is_a_minute_off_takes_no_work_from_others_and_loses_none(
    postgres_place: Place, apart_ms: int
) -> None:
    async with AsyncExitStack() as closing:
        right = await closing.enter_async_context(open_house(postgres_place.settings))
        wrong = await closing.enter_async_context(
            open_house(postgres_place.settings, machine_clock=WrongClock(apart_ms))
        )
        for holder, other in ((right, wrong), (wrong, right)):
            work_id = f"held-by-{'right' if holder is right else 'wrong'}"
            await begin(holder, NewWork(work_id=work_id, kind="errand", held=holder.work.lease()))
            assert await taken(other, work_id) is None, "its lease has not passed"
            waits = f"begun-by-{'right' if holder is right else 'wrong'}"
            await begin(holder, NewWork(work_id=waits, kind="errand"))
            await asyncio.sleep(0.02)  # by as much two processes may differ that asked the same clock
            assert await taken(other, waits) is not None, "it is due"


async def begin(house: House, new: NewWork) -> Work:
    return await house.store.write(lambda unit: unit.work.begin(new))


async def taken(house: House, work_id: str) -> Work | None:
    return await house.store.write(lambda unit: unit.work.hold(work_id, house.work.lease()))
