"""Socket.IO over two servers of one store: whoever changes the server misses nothing and hears nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.fork_server import ForkServer
from tests.functional.test_realtime import Listener, listener, rows
from tests.functional.test_turns_on_two_servers import NEVER, second
from tests.live import Client, gate_story, live_server
from tests.turn_kills import victim

from fabula.testing.model_script import Pace
from fabula.testing.redis import RedisServer


@pytest.fixture(params=["postgres", "redis"])
def settings(request: pytest.FixtureRequest, postgres_place: Place) -> dict[str, Any]:
    """What two servers have in common, with Redis and without."""
    shared = {"database_url": postgres_place.settings.database_url, "secret_key": "one for both"}
    if request.param == "postgres":
        return shared
    redis: RedisServer = request.getfixturevalue("redis_server")
    return {**shared, "redis_url": redis.url}


@asynccontextmanager
async def servers(folder: Path, settings: dict[str, Any]) -> AsyncIterator[tuple[Client, Client, str]]:
    async with live_server(folder / "one", **settings) as one, live_server(folder / "two", **settings) as two:
        story_id = await gate_story(one)
        yield one, two, str((await one.raw("story.start_session", story_id=story_id))["session_id"])


def turn_rows(it: Listener) -> list[tuple[str, str, str]]:
    return [row for row in rows(it) if row[0] == "turn"]


async def watching(it: Listener, session_id: str, after: str = "") -> None:
    assert (await it.ask("watch", session_id=session_id, after=after))["ok"]


@pytest.mark.all
async def test_who_watches_on_at_another_server_hears_what_was_missed_and_nothing_twice(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    async with servers(tmp_path, settings) as (one, two, session_id):
        async with listener(one) as it, listener(one) as whole:
            await watching(it, session_id)
            await watching(whole, session_id)
            await it.until("feed")
            start = it.heard[-1][1]["id"]
            await one.turn(session_id, "I knock.")
            await it.until("feed", times=4)
            heard = turn_rows(it)
            place = next(data["id"] for event, data in it.heard if event == "turn" and data["sequence"] == 2)
            await one.turn(session_id, "I wait.")
            await two.turn(session_id, "I knock again.")
            await whole.until("feed", times=10)
        for after, seen in ((place, 3), (start, 0)):
            async with listener(two) as back:
                await watching(back, session_id, after)
                async with asyncio.timeout(120):
                    while len({row[1] for row in turn_rows(back) if row[2].endswith("completed")}) < 3:
                        await asyncio.sleep(0.02)
                assert turn_rows(back) == turn_rows(whole)[seen:]
        assert heard == turn_rows(whole)[: len(heard)]


@pytest.mark.all
async def test_a_request_that_is_sent_again_to_another_server_gets_the_same_turn(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    async with servers(tmp_path, settings) as (one, two, session_id):
        beat = {"request_id": "r1", "session_id": session_id, "input": "I knock.", "key": "k1"}
        if "redis_url" in settings:
            del beat["key"]
        async with listener(one) as first, listener(two) as second:
            begun = await asyncio.gather(first.ask("storybeat", **beat), second.ask("storybeat", **beat))
            assert begun[0] == begun[1] and begun[0]["ok"], begun
            assert (await first.until("done"))["full_text"] == (await second.until("done"))["full_text"]
            assert await second.ask("storybeat", **beat) == begun[0]
        assert (await two.call("session.get", session_id))["turn_index"] == 1


@pytest.mark.all
async def test_a_storybeat_whose_server_dies_is_told_to_its_end_by_another_when_it_is_sent_again(
    fork_server: ForkServer, postgres_place: Place, tmp_path: Path, redis_server: RedisServer
) -> None:
    environment = {**postgres_place.environment, "FABULA_REDIS_URL": redis_server.url}
    async with victim(fork_server, tmp_path, environment=environment) as one, second(one, tmp_path / "two") as two:
        session_id = await one.session("ensemble")
        one.troupe.misbehave("narrator", NEVER)
        beat = {"request_id": "r1", "session_id": session_id, "input": "I knock."}
        async with listener(one.client) as it:
            begun = await it.ask("storybeat", **beat)
            while "narrator" not in one.troupe.calls:
                await asyncio.sleep(0.01)
            # Slow enough that the turn, which the other server takes up by itself, is not over when it is sent again.
            one.troupe.pace = Pace(tokens_per_second=8)
            one.kill()
            await it.sio.wait()
        async with listener(two.client) as it:
            assert await it.ask("storybeat", **beat) == begun
            done = await it.until("done")
            assert done["metadata"]["turn_id"] == begun["turn_id"] and done["full_text"] == it.tokens()
        assert (await two.client.call("session.get", session_id))["turn_index"] == 1
