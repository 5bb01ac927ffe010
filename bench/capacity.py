"""What machines carry: from what a turn costs, measured here and now, to one machine, ten and a thousand.

    python -m bench capacity [--turns 400] [--sessions 20]

1. A server, a worker, Postgres and Redis run on this machine, and sessions play in a town of twelve people with a
   scripted model. What each part spends for a turn is read from the system: CPU of its processes, rows and syncs and
   log of Postgres, commands of Redis.
2. From that follows what carries how much, and what is full first (`capacity_model.py`).
3. The first two steps are checked by simulation: at which rate turns begin to wait.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg  # type: ignore[import-untyped]
import psutil
from bench.capacity_model import Machines, TurnCosts, bearable, capacity
from bench.followers import LINES, PROGRAM, TOWN, all_done, opened_once, running, servers
from bench.processes import fabula_server, model_server
from bench.turns import Bench, prepare, start

from fabula.adapters.queues import broker_queue
from fabula.settings import Settings
from fabula.testing.own_postgres import OwnPostgres
from fabula.testing.redis import RedisServer
from fabula.wiring import open_house

CORES = 8
SECONDS_A_TURN = 30
"""Between two turns of one player."""
SYNCS_PER_S = 5_000
"""How often a second a disk with a protected cache can be told to keep what was written."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """All meters at one moment."""

    server_s: float
    worker_s: float
    database_s: float
    redis_s: float
    rows: float
    syncs: float
    log_bytes: float
    stored_bytes: float
    commands: float
    messages: float


def cpu_s(pid: int, *, with_children: bool = False) -> float:
    process = psutil.Process(pid)
    processes = [process, *(process.children(recursive=True) if with_children else [])]
    total = 0.0
    for one in processes:
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + getattr(times, "children_user", 0) + getattr(times, "children_system", 0)
    return total


async def read(pids: dict[str, int], postgres: OwnPostgres, redis: RedisServer) -> Reading:
    from redis.asyncio import Redis

    connection = await asyncpg.connect(postgres.url)
    try:
        await connection.execute("SELECT pg_stat_force_next_flush()")
        rows = await connection.fetchval(
            "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables WHERE schemaname = 'fabula'"
        )
        done = await connection.fetchval("SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'")
        log = await connection.fetchval("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
        size = await connection.fetchval("SELECT pg_database_size(current_database())")
    finally:
        await connection.close()
    async with Redis.from_url(redis.url) as client:
        stats: dict[str, Any] = await client.info("commandstats")
        commands = sum(one["calls"] for one in stats.values())
        messages = stats.get("cmdstat_lpush", {}).get("calls", 0)
    return Reading(
        server_s=cpu_s(pids["server"]),
        worker_s=cpu_s(pids["worker"]),
        database_s=cpu_s(pids["postgres"], with_children=True),
        redis_s=cpu_s(pids["redis"]),
        rows=float(rows or 0),
        syncs=float(done),
        log_bytes=float(log),
        stored_bytes=float(size),
        commands=float(commands),
        messages=float(messages),
    )


def costs_between(before: Reading, after: Reading, turns: int) -> TurnCosts:
    spent = {name: (value - getattr(before, name)) / turns for name, value in asdict(after).items()}
    return TurnCosts(
        server_ms=spent["server_s"] * 1000,
        worker_ms=spent["worker_s"] * 1000,
        database_ms=spent["database_s"] * 1000,
        redis_ms=spent["redis_s"] * 1000,
        rows=spent["rows"],
        syncs=spent["syncs"],
        log_bytes=spent["log_bytes"],
        stored_bytes=spent["stored_bytes"],
        bus_commands=spent["commands"],
        broker_messages=spent["messages"],
    )


async def play(
    address: str, model: str, pid: int, *, sessions: int, turns: int, meters: Any, followed: Any
) -> tuple[Reading, Reading]:
    """All meters before and after the turns. `followed` waits until nothing follows turns any more."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as http:
        bench = Bench(http=http, address=address, model=model, pid=pid)
        await prepare(bench)
        begun = [await start(bench, TOWN, "swift") for _ in range(sessions)]

        async def rounds(session_id: str, count: int) -> None:
            for number in range(count):
                heard = await bench.turn(session_id, LINES[number % len(LINES)])
                if heard.failed:
                    raise SystemExit(heard.failed)

        await asyncio.gather(*(rounds(one, 2) for one in begun))
        await followed()
        before = await meters()
        await asyncio.gather(*(rounds(one, turns // sessions) for one in begun))
        await followed()
        return before, await meters()


def measure(folder: Path, *, sessions: int, turns: int) -> TurnCosts:
    with servers(folder) as (postgres, redis), ExitStack() as stack:
        environment = {
            "FABULA_DATABASE_URL": postgres.url,
            "FABULA_REDIS_URL": redis.url,
            "FABULA_BROKER_URL": redis.url.replace("/0", "/1"),
            "FABULA_DATA_DIR": str(folder / "data"),
            "FABULA_LOG_LEVEL": "error",
        }
        settings = Settings(
            database_url=postgres.url, broker_url=environment["FABULA_BROKER_URL"], data_dir=folder / "data"
        )
        asyncio.run(opened_once(settings))
        model = stack.enter_context(model_server(first_token_ms=50, tokens_per_second=200))
        address, pid = stack.enter_context(fabula_server(folder / "data", settings=environment))
        worker = stack.enter_context(running(*PROGRAM, "worker", "--concurrency", "16", settings=environment))
        asyncio.run(until_listening(environment["FABULA_BROKER_URL"]))
        pids = {"server": pid, "worker": worker.pid, "postgres": postgres.pid, "redis": redis.pid}

        async def meters() -> Reading:
            return await read(pids, postgres, redis)

        async def followed() -> None:
            async with open_house(settings) as house:
                await all_done(house, upto=turns)

        before, after = asyncio.run(
            play(address, model, pid, sessions=sessions, turns=turns, meters=meters, followed=followed)
        )
    return costs_between(before, after, turns // sessions * sessions)


async def until_listening(address: str) -> None:
    """Waits until the worker listens: what its start costs is no part of a turn."""
    queue = broker_queue(address)
    while not (await queue.status()).listeners:  # noqa: ASYNC110
        await asyncio.sleep(0.2)
    await queue.close()


def steps(costs: TurnCosts) -> list[Machines]:
    """One machine, ten, a thousand: on one database, and on as many as it then takes."""
    one = Machines(
        name="one machine for everything",
        server_cores=CORES,
        worker_cores=CORES,
        database_cores=CORES,
        redis_cores=1,
        syncs_per_s=SYNCS_PER_S,
        shares_cores=True,
    )
    ten = Machines(
        name="ten machines: 7 servers, 1 worker, Postgres, Redis",
        server_cores=7 * CORES,
        worker_cores=CORES,
        database_cores=CORES,
        redis_cores=1,
        syncs_per_s=SYNCS_PER_S,
    )
    thousand = Machines(
        name="a thousand machines on one database and one Redis",
        server_cores=850 * CORES,
        worker_cores=148 * CORES,
        database_cores=4 * CORES,
        redis_cores=1,
        syncs_per_s=2 * SYNCS_PER_S,
    )
    share = costs.server_ms + costs.worker_ms + costs.database_ms
    cells = round(1000 * costs.database_ms / share) or 1
    rest = 1000 - 2 * cells
    parted = Machines(
        name=f"a thousand machines, plays parted over {cells} databases, a Redis beside each",
        server_cores=rest * CORES * costs.server_ms / (costs.server_ms + costs.worker_ms),
        worker_cores=rest * CORES * costs.worker_ms / (costs.server_ms + costs.worker_ms),
        database_cores=CORES,
        redis_cores=1,
        syncs_per_s=SYNCS_PER_S,
        databases=cells,
    )
    return [one, ten, thousand, parted]


def show(costs: TurnCosts) -> None:
    print("a turn and all that follows it costs")
    print(
        f"  CPU: server {costs.server_ms:.1f} ms, worker {costs.worker_ms:.1f}, Postgres {costs.database_ms:.1f}, ",
        end="",
    )
    print(f"Redis {costs.redis_ms:.1f}")
    print(f"  Postgres: {costs.syncs:.1f} waits for the disk, {costs.rows:.1f} rows, ", end="")
    print(f"{costs.log_bytes / 1024:.1f} KiB of log, {costs.stored_bytes / 1024:.1f} KiB kept")
    print(f"  Redis: {costs.bus_commands:.1f} commands, of them {costs.broker_messages:.2f} messages of the broker")
    print(f"assumed: {CORES} cores a machine, busy to 70 %, a turn of each player every {SECONDS_A_TURN} s,")
    print(f"  {SYNCS_PER_S} waits for a disk a second, models elsewhere and never full")
    for number, machines in enumerate(steps(costs)):
        found = capacity(costs, machines)
        players = found.turns_per_s * SECONDS_A_TURN
        print(f"{machines.name}")
        print(f"  {found.turns_per_s:8.0f} turns a second, {players:10.0f} players; full first: {found.breaks_first}")
        daily = found.turns_per_s * 86_400 * costs.stored_bytes / 2**30 / machines.databases
        print(f"  each database grows by {daily:.0f} GiB a day when it is full all day")
        if number < 2:
            print(f"  simulated: turns wait less than a second (p95) up to {bearable(costs, machines):.0f} a second")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--sessions", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        costs = measure(Path(folder), sessions=options.sessions, turns=options.turns)
    print(f"measured on {os.cpu_count()} cores")
    show(costs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
