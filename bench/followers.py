"""What follows turns, done by workers: how many a minute, how late after a burst, and what Celery alone could do.

    python -m bench followers [--turns 3000] [--burst 1000] [--played 600] [--workers 2]

On a Postgres and a Redis of its own, with one worker process for each core:
1. The way of the work. Rows are written as turns write them, each with one follower, which finds its turn gone and is
   done: announce, hold, dispatch, hand out, hold, do, end.
2. The work itself. Turns of a town of twelve people with schedules and conflicts are played; then the workers are given
   everything that follows those turns, at once.
3. The same workers' Celery, with tasks that do nothing: its ceiling on this machine, in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.processes import ROOT

from fabula.actions.followers.dispatch import WORK_NAMES
from fabula.actions.house import House
from fabula.actions.library.samples import install_samples
from fabula.actions.plays import start_session as beginnings
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.loops.turns import follow as turns_follow
from fabula.loops.turns.follow import FOLLOWERS, follow_with
from fabula.ports.actors import OPERATOR
from fabula.ports.store import Unit
from fabula.ports.work import NewWork, Work
from fabula.settings import Settings
from fabula.testing.own_postgres import OwnPostgres
from fabula.testing.redis import RedisServer
from fabula.wiring import open_house

AT_ONCE = 100
GOAL_A_MINUTE = 10_000
TOWN = "kettle-a-season-on-the-hill"
TURNS_EACH = 4
LINES = (
    "Good morning. What is the talk of the hill today?",
    "I ask who was at the kettle last night.",
    "I give them the coin and thank them for their trouble.",
    "I say that I do not believe a word of it.",
    "I walk up the hill and look around.",
    "I promise to keep it to myself.",
    "I wait until noon.",
)
PATIENCE_S = 300.0
PROGRAM = (sys.executable, "-c", "from fabula.cli.main import main; main()")
NOOP = """
import sys
from fabula.adapters.queues.celery_app import celery_app
app = celery_app(sys.argv[1], "bench.")
@app.task(name="bench.noop")
def noop():
    pass
app.Worker(pool="threads", concurrency=8, queues=["bench.background"], loglevel="ERROR", without_gossip=True,
           without_mingle=True, without_heartbeat=True).start()
"""


@contextmanager
def running(*command: str, settings: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(settings or {})}
    )
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        if process.poll() is None:
            process.kill()
            process.wait()


@contextmanager
def servers(folder: Path) -> Iterator[tuple[OwnPostgres, RedisServer]]:
    program = shutil.which("redis-server")
    if program is None:
        raise SystemExit("This benchmark needs redis-server.")
    postgres, redis = OwnPostgres(), RedisServer(program, folder)
    redis.start()
    try:
        yield postgres, redis
    finally:
        redis.kill()
        postgres.close()


async def follow(house: House, first: int, turns: int) -> None:
    """Writes the rows that so many turns leave behind, and announces them, as fast as servers could."""
    for start in range(first, first + turns, AT_ONCE):
        rows = [
            NewWork(
                work_id=f"work_{number:08}",
                kind=FOLLOWERS,
                key=f"turn_{number:08}",
                subject=f"session_{number % 50}",
                input={"turn_id": f"turn_{number:08}", "kinds": ["summary"]},
                trace_id=f"turn_{number:08}",
            )
            for number in range(start, min(first + turns, start + AT_ONCE))
        ]
        begun = await house.store.write(partial(_begin, rows=rows), durable=False)
        house.work.announce(*begun)


async def _begin(unit: Unit, rows: list[NewWork]) -> list[Work]:
    return [await unit.work.begin(row) for row in rows]


async def all_done(house: House, *, upto: int) -> float:
    """Waits until every follower of all turns up to now is done; when that was."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        counts = await house.store.read(lambda unit: unit.work.counts([FOLLOWERS, *WORK_NAMES.values()]))
        if not any(count.status in ("waiting", "running") for count in counts):
            return time.monotonic()
        await asyncio.sleep(0.1)
    raise SystemExit(f"The followers of {upto} turns were not done in {PATIENCE_S:.0f} s.")


async def measure(settings: Settings, turns: int, burst: int, warm: Callable[[], None]) -> tuple[float, float]:
    """Followers a minute under a steady load, and how late the last one is after a burst."""
    async with open_house(settings) as house:
        await follow(house, 0, 200)
        await all_done(house, upto=200)
        warm()
        began = time.monotonic()
        await follow(house, 1000, turns)
        rate = turns / (await all_done(house, upto=turns) - began) * 60
        began = time.monotonic()
        await follow(house, 1_000_000, burst)
        lag = await all_done(house, upto=burst) - began
        return rate, lag


async def play_town(settings: Settings, turns: int) -> list[NewWork]:
    """Turns of the sample town in many plays, with the understudy; answers what follows them, which is left waiting."""
    rows: list[NewWork] = []
    with nothing_followed(rows):
        async with open_house(settings) as house:
            await install_samples(house)
            begun = [
                await start_session(house, OPERATOR, StartSession(story_id=TOWN)) for _ in range(turns // TURNS_EACH)
            ]

            async def play(session_id: str) -> None:
                for number in range(TURNS_EACH):
                    line = RunTurn(player_input=LINES[number % len(LINES)])
                    turn = await run_turn(house, OPERATOR, session_id, line, request_id="bench")
                    await house.work.wait(turn.turn_id)

            await asyncio.gather(*(play(one.session_id) for one in begun))
    return rows


@contextmanager
def nothing_followed(rows: list[NewWork]) -> Iterator[None]:
    """Turns write down nothing that follows them; it is noted here."""
    as_always = follow_with

    def noted(*told: Any, **how: Any) -> None:
        new = as_always(*told, **how)
        rows.extend([] if new is None else [new])

    with patch.object(turns_follow, "follow_with", noted), patch.object(beginnings, "follow_with", noted):
        yield


async def follow_town(settings: Settings, rows: list[NewWork]) -> float:
    """How long it takes until everything that follows these turns is done."""
    async with open_house(settings) as house:
        began = time.monotonic()
        for start in range(0, len(rows), AT_ONCE):
            house.work.announce(*await house.store.write(partial(_begin, rows=rows[start : start + AT_ONCE])))
        return await all_done(house, upto=len(rows)) - began


def ceiling(redis: RedisServer, folder: Path, tasks: int, workers: int) -> float:
    """No-op tasks a minute with as many of Celery's own workers, which differ in nothing else."""
    from redis import Redis

    from fabula.adapters.queues.celery_app import celery_app

    address = redis.url.replace("/0", "/2")
    app = celery_app(address, "bench.")
    script = folder / "noop.py"
    script.write_text(NOOP)
    with ExitStack() as stack, Redis.from_url(address) as client:
        for _ in range(workers):
            stack.enter_context(running(sys.executable, str(script), address))
        producer = app.amqp.Producer(app.connection_for_write(), auto_declare=False)

        def send_all(count: int) -> float:
            began = time.monotonic()
            for _ in range(count):
                app.send_task("bench.noop", queue="bench.background", producer=producer, retry=False)
            while client.llen("bench.background") or client.hlen("unacked"):
                time.sleep(0.05)
            return time.monotonic() - began

        send_all(200)
        return tasks / send_all(tasks) * 60


def cpu_of(process: subprocess.Popen[bytes]) -> float:
    import psutil

    times = psutil.Process(process.pid).cpu_times()
    return float(times.user + times.system)


def measured(folder: Path, *, turns: int, burst: int, played: int, workers: int) -> dict[str, float]:
    """All figures of one run."""
    with servers(folder) as (postgres, redis):
        address = {"FABULA_DATABASE_URL": postgres.url, "FABULA_BROKER_URL": redis.url.replace("/0", "/1")}
        environment = {**address, "FABULA_DATA_DIR": str(folder / "data"), "FABULA_LOG_LEVEL": "error"}
        settings = Settings(
            database_url=postgres.url, broker_url=address["FABULA_BROKER_URL"], data_dir=folder / "data"
        )
        asyncio.run(opened_once(settings))
        with ExitStack() as stack:
            processes = [
                stack.enter_context(running(*PROGRAM, "worker", "--concurrency", "32", settings=environment))
                for _ in range(workers)
            ]
            spent: list[float] = []

            def note() -> None:
                spent.append(sum(cpu_of(process) for process in processes))

            rate, lag = asyncio.run(measure(settings, turns, burst, note))
            note()
            rows = asyncio.run(play_town(settings, played))
            note()
            town_s = asyncio.run(follow_town(settings, rows))
            note()
        noop = ceiling(redis, folder, 2 * turns, workers)
    return {
        "rate": rate,
        "lag_s": lag,
        "noop": noop,
        "cpu_ms": (spent[1] - spent[0]) / (turns + burst) * 1000,
        "town_rate": played / town_s * 60,
        "town_s": town_s,
        "town_cpu_ms": (spent[3] - spent[2]) / played * 1000,
    }


async def opened_once(settings: Settings) -> None:
    """The schema is made by one process, not by all at once."""
    async with open_house(settings):
        pass


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3000)
    parser.add_argument("--burst", type=int, default=1000)
    parser.add_argument("--played", type=int, default=600)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(
            Path(folder), turns=options.turns, burst=options.burst, played=options.played, workers=options.workers
        )
    print(f"{options.workers} workers, {os.cpu_count()} cores, Postgres and Redis on the same machine")
    print(f"  turns' followers a minute   {found['rate']:8.0f}   (aim {GOAL_A_MINUTE}; each is two pieces of work)")
    print(f"  a burst of {options.burst} is done after {found['lag_s']:5.1f} s")
    print(f"  workers' CPU a turn         {found['cpu_ms']:8.1f} ms")
    print(f"  of a town's turns a minute  {found['town_rate']:8.0f}   (world, memories, lore, summaries)")
    plays = options.played // TURNS_EACH
    print(f"  {options.played} of them at once, of {plays} plays, are done after {found['town_s']:.1f} s")
    print(f"  workers' CPU for one        {found['town_cpu_ms']:8.1f} ms")
    ratio = 2 * found["rate"] / found["noop"]
    print(f"  Celery's no-op tasks a min. {found['noop']:8.0f}   our pieces are {ratio:.2f} of it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
