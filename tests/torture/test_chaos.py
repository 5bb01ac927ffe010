"""Whatever is killed, in whatever order: what was acknowledged is there once, and what follows it was done."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from pathlib import Path

import httpx
import orjson
import pytest
from tests.fork_server import ForkServer
from tests.live import Client
from tests.torture.chaos import Player, SocketPlayer, SsePlayer, Town, all_followers_done, ask, town

from fabula.testing.redis import RedisServer

SETTLES_S = 180.0
EVENTS = int(os.environ.get("EVENTS", "500"))


@pytest.mark.parametrize(
    ("players", "events"),
    [
        pytest.param(8, 12, marks=pytest.mark.all, id="short"),
        pytest.param(20, EVENTS, marks=pytest.mark.torture, id="long"),
    ],
)
async def test_nothing_acknowledged_is_lost_or_doubled_whatever_is_killed(
    fork_server: ForkServer, redis_server: RedisServer, tmp_path: Path, players: int, events: int
) -> None:
    async with town(fork_server, redis_server, tmp_path, seed=17) as it:
        everyone: list[Player] = [
            (SsePlayer if number % 4 else SocketPlayer)(town=it, number=number) for number in range(players)
        ]
        stop = asyncio.Event()
        playing = [asyncio.create_task(player.play(stop)) for player in everyone]
        await asyncio.sleep(2)
        for _ in range(events):
            await it.strike()
            await asyncio.sleep(it.chance.uniform(0.2, 1.5))
        await it.mend()
        await asyncio.sleep(1)
        stop.set()
        await asyncio.gather(*playing)
        assert await all_followers_done(it.postgres.url, patience_s=SETTLES_S) == []
        print(report(it, everyone))  # noqa: T201
        assert [problem for player in everyone for problem in player.problems] == []
        assert "'status': 'committed'" in await everyone[0].standing("last")
        assert sum(len(player.acknowledged) for player in everyone) >= players
        for player in everyone:
            await check_session(it, player)
        await check_followers(it)


def report(it: Town, everyone: list[Player]) -> str:
    turns, failed = sum(len(one.acknowledged) for one in everyone), sum(one.failed for one in everyone)
    resumed, longest = sum(one.resumed for one in everyone), max(one.longest_s for one in everyone)
    return f"{turns} turns, {failed} failed, {resumed} streams read on, longest {longest:.1f} s; {dict(it.events)}"


async def check_session(it: Town, player: Player) -> None:
    """Every acknowledged turn is on the line once, in order."""
    query = (
        "SELECT player_input FROM fabula.turns "
        "WHERE session_id = $1 AND status = 'committed' AND parent_id IS NOT NULL ORDER BY turn_index"
    )
    committed = [row["player_input"] for row in await ask(it.postgres.url, query, player.session_id)]
    assert [words for words in committed if words in set(player.acknowledged)] == player.acknowledged
    assert max(Counter(committed).values(), default=1) == 1
    indexes = await ask(
        it.postgres.url,
        "SELECT turn_index FROM fabula.turns WHERE session_id = $1 AND status = 'committed' ORDER BY turn_index",
        player.session_id,
    )
    assert [row["turn_index"] for row in indexes] == list(range(len(indexes))), "turns have no gap"
    records = await ask(
        it.postgres.url,
        "SELECT record FROM fabula.world_records JOIN fabula.turns USING (turn_id) WHERE session_id = $1 "
        "ORDER BY turn_index",
        player.session_id,
    )
    versions = [orjson.loads(row["record"])["version"] for row in records]
    assert versions == list(range(versions[0], versions[0] + len(versions))), "world versions have no gap"
    async with httpx.AsyncClient(base_url=await it.server(), timeout=60) as http:
        listed = await Client(http, None).call("journal.list", player.session_id)  # type: ignore[arg-type]
    assert listed["applied_version"] == listed["world_version"] == versions[-1]


async def check_followers(it: Town) -> None:
    """What follows a committed turn was done, and done once."""
    rows = await ask(
        it.postgres.url,
        "SELECT kind, key, count(*) FILTER (WHERE status = 'done') AS done, count(*) AS all FROM fabula.work "
        "WHERE key <> '' AND kind NOT LIKE 'prune.%' GROUP BY kind, key",
    )
    assert rows, "turns were followed"
    assert [dict(row) for row in rows if row["done"] != 1 or row["all"] != 1] == []
