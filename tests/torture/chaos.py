"""Two servers and two workers on Postgres and Redis, with clients that play while everything is killed at random.

1. Clients play over server-sent events and over Socket.IO, each in a session of its own, at one server or the other.
   One that loses its stream reads on at any server, and sends the same words with the same key until it hears the end.
2. Meanwhile servers, workers, Redis and Postgres are killed, or asked to stop, and started again a moment later.
3. In the end everything is up, what follows is waited for, and the database is asked what is there.
"""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import httpx
import socketio
from tests.fork_server import Child, ForkServer
from tests.functional.test_world_follower import WORLD
from tests.live import Client, RpcFailed, gate_story, sse
from tests.scripted import bind_troupe

from fabula.testing.model_server import ModelServer
from fabula.testing.own_postgres import OwnPostgres
from fabula.testing.redis import RedisServer
from fabula.testing.server_process import clean_environment
from fabula.testing.troupe import Troupe

LONGEST_TURN_S = 120.0
"""A turn whose process died is taken up within its lease, and may lose a second process."""
AWAY_S = (0.1, 1.5)
ENDED = ("completed", "failed")


@dataclass(kw_only=True)
class Process:
    """A server or a worker that is killed and started again."""

    fork_server: ForkServer
    arguments: list[str]
    environment: Mapping[str, str]
    log: Path
    child: Child | None = None
    address: str = ""
    is_up: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_server(self) -> bool:
        return self.arguments[0] == "serve"

    async def start(self) -> None:
        self.child = await asyncio.to_thread(self.fork_server.start, self.arguments, self.environment, log=self.log)
        if self.is_server:
            self.address = await asyncio.to_thread(self.child.address)
        self.is_up.set()

    async def end(self, how: signal.Signals) -> None:
        self.is_up.clear()
        assert self.child is not None
        await asyncio.to_thread(self.child.kill, how)


@dataclass(kw_only=True)
class Town:
    """Everything that runs."""

    servers: list[Process]
    workers: list[Process]
    redis: RedisServer
    postgres: OwnPostgres
    story_id: str
    chance: random.Random
    events: Counter[str] = field(default_factory=Counter)

    async def server(self) -> str:
        """The address of a server that is up, or was a moment ago."""
        while True:
            up = [one for one in self.servers if one.is_up.is_set()]
            if up:
                return self.chance.choice(up).address
            await asyncio.sleep(0.05)

    async def strike(self) -> None:
        """Something dies, and comes back a moment later."""
        what = self.chance.choice(["server", "server", "worker", "worker", "redis", "postgres"])
        how = self.chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
        self.events[f"{what} {how.name}"] += 1
        away = self.chance.uniform(*AWAY_S)
        if what in ("server", "worker"):
            process = self.chance.choice(self.servers if what == "server" else self.workers)
            await process.end(how)
            await asyncio.sleep(away)
            await process.start()
        elif what == "redis":
            await asyncio.to_thread(self.redis.kill)
            await asyncio.sleep(away)
            await asyncio.to_thread(self.redis.start)
        else:
            await asyncio.to_thread(self.postgres.kill, signal.SIGKILL if how == signal.SIGKILL else signal.SIGQUIT)
            await asyncio.sleep(away)
            await asyncio.to_thread(self.postgres.start)

    async def mend(self) -> None:
        """Everything that died of what it stood on is started again."""
        for process in (*self.servers, *self.workers):
            assert process.child is not None
            if not process.child.lives():
                await process.start()


@asynccontextmanager
async def town(fork_server: ForkServer, redis: RedisServer, folder: Path, seed: int) -> AsyncIterator[Town]:
    postgres = await asyncio.to_thread(OwnPostgres)
    processes: list[Process] = []
    try:
        async with ModelServer(Troupe()) as models:
            environment = clean_environment(
                {
                    "FABULA_DATABASE_URL": postgres.url,
                    "FABULA_REDIS_URL": redis.url,
                    "FABULA_BROKER_URL": redis.url.replace("/0", "/1"),
                    "FABULA_SAMPLES": "false",
                    "FABULA_DATA_DIR": str(folder / "data"),
                    "FABULA_LOG_LEVEL": "warning",
                }
            )
            for name in ("server-1", "server-2", "worker-1", "worker-2"):
                arguments = ["serve", "--port", "0"] if name.startswith("server") else ["worker", "--concurrency", "4"]
                log = folder / f"{name}.log"
                processes.append(
                    Process(fork_server=fork_server, arguments=arguments, environment=environment, log=log)
                )
                await processes[-1].start()
            async with httpx.AsyncClient(base_url=processes[0].address, timeout=60) as http:
                client = Client(http, None)  # type: ignore[arg-type]
                await bind_troupe(client, models.base_url)
                story_id = await gate_story(client)
                await client.call("story.update", story_id=story_id, world=WORLD)
            yield Town(
                servers=processes[:2],
                workers=processes[2:],
                redis=redis,
                postgres=postgres,
                story_id=story_id,
                chance=random.Random(seed),
            )
    finally:
        for process in processes:
            if process.child is not None:
                await asyncio.to_thread(process.child.kill)
        await asyncio.to_thread(postgres.close)


@dataclass(kw_only=True)
class Player:
    """A client that plays, and keeps what it was promised."""

    town: Town
    number: int
    session_id: str = ""
    acknowledged: list[str] = field(default_factory=list)
    failed: int = 0
    resumed: int = 0
    longest_s: float = 0.0
    problems: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    began: float = 0.0

    async def play(self, stop: asyncio.Event) -> None:
        await self._again(self._begin)
        turn = 0
        while not stop.is_set():
            turn += 1
            words = f"I knock {self.number} {turn} times."
            began = asyncio.get_running_loop().time()
            try:
                async with asyncio.timeout(LONGEST_TURN_S):
                    ended = await self._again(lambda words=words, turn=turn: self._turn(words, f"k{turn}"))  # type: ignore[misc]
            except TimeoutError:
                self.problems.append(f"turn {turn} hangs ({type(self).__name__}): {await self.standing(f'k{turn}')}")
                return
            self.longest_s = max(self.longest_s, asyncio.get_running_loop().time() - began)
            if ended == "completed":
                self.acknowledged.append(words)
            else:
                self.failed += 1

    async def standing(self, key: str) -> str:
        """What is known of the turn of a key: for whoever reads why a test failed."""
        query = (
            "SELECT turn_id, turns.status, work.status AS work, work.owner, work.attempt, work.let_go, "
            "work.lease_until_ms - $2 AS leased, work.due_at_ms - $2 AS due, work.error FROM fabula.turns "
            "LEFT JOIN fabula.work ON work_id = turn_id WHERE turns.session_id = $1 ORDER BY turn_index DESC LIMIT 2"
        )
        now = int(time.time() * 1000)
        rows = [dict(row) for row in await ask(self.town.postgres.url, query, self.session_id, now)]
        return f"key {key}, store {rows}, heard {self.heard[-40:]}"

    def _hear(self, what: str) -> None:
        self.heard.append(f"{time.time() - self.began:.0f} s: {what}"[:200])

    @contextmanager
    def _hearing_errors(self) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            self._hear(repr(error))

    async def _again(self, attempt: Callable[[], Awaitable[Any]]) -> Any:
        """Tries until it is answered: what a client does whose network comes and goes."""
        self.heard, self.began = [], time.time()
        while True:
            try:
                answer = await attempt()
                if answer is not None:
                    return answer
                self._hear("nothing")
            except (httpx.HTTPError, OSError, socketio.exceptions.SocketIOError, TimeoutError, ValueError) as error:
                self._hear(repr(error))
            except RpcFailed as error:
                self._hear(repr(error))
                # A turn that is still in flight, or a part that is away: the same again, in a moment.
                if error.code not in (40909, 50001, 50002, 50003, 50300, 50301) and not str(error.code).startswith(
                    "50"
                ):
                    self.problems.append(f"refused: {error}")
                    raise
            await asyncio.sleep(0.2)

    async def _begin(self) -> str:
        async with self._client() as client:
            params = {"story_id": self.town.story_id, "api_group_id": "troupe", "preset_id": "swift"}
            answer = await client.raw("story.start_session", **params)
            if "error" in answer:
                raise RpcFailed(answer["error"])
            self.session_id = str(answer["session_id"])
            return self.session_id

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        async with httpx.AsyncClient(base_url=await self.town.server(), timeout=40) as http:
            yield Client(http, None)  # type: ignore[arg-type]

    async def _turn(self, words: str, key: str) -> str | None:
        raise NotImplementedError


class SsePlayer(Player):
    """Plays over server-sent events, and reads on after the last one that it saw."""

    async def _turn(self, words: str, key: str) -> str | None:
        seen: list[dict[str, Any]] = []
        with self._hearing_errors():
            async with self._client() as client:
                body = client.request("session.run_turn", self.session_id, player_input=words, key=key)
                await self._read(client.http.stream("POST", "/rpc", json=body), seen)
        while seen and self._end_of(seen) is None:
            self.resumed += 1
            self._hear(f"reads on after {seen[-1]['id']}")
            await asyncio.sleep(0.1)
            with self._hearing_errors():
                async with self._client() as client:
                    headers = {"last-event-id": seen[-1]["id"]}
                    path = f"/sessions/{self.session_id}/events"
                    if not await self._read(client.http.stream("GET", path, headers=headers), seen):
                        break
        self._check(seen)
        ended = self._end_of(seen)
        # A server that stops says so as the end of its stream, and the turn goes on elsewhere: the key finds it.
        return None if ended == "failed" and await self._goes_on(seen) else ended

    async def _read(self, response: Any, seen: list[dict[str, Any]]) -> bool:
        """Adds the events of a stream, as far as they came; False when there is none."""
        text = ""
        async with response as answer:
            if answer.headers.get("content-type", "").startswith("application/json"):
                error = (await answer.aread()) and answer.json()
                raise RpcFailed(error.get("error", error))
            if answer.status_code != 200:
                return False
            try:
                async for chunk in answer.aiter_text():
                    text += chunk
            finally:
                whole = text[: text.rfind("\n\n") + 2]
                seen += [event for event in sse(whole) if event["event"] == "message"]
        return True

    def _end_of(self, seen: list[dict[str, Any]]) -> str | None:
        kind = seen[-1]["data"]["frame"]["type"] if seen else None
        return kind if kind in ENDED else None

    async def _goes_on(self, seen: list[dict[str, Any]]) -> bool:
        return "goes on with it" in str(seen[-1]["data"]["frame"].get("error", {}).get("message", ""))

    def _check(self, seen: list[dict[str, Any]]) -> None:
        """What was read of one telling has no gap and no repeat."""
        tellings: dict[str, list[int]] = {}
        for event in seen:
            if not str(event.get("id", "")).endswith(":last") or self._end_of([event]) is None:
                telling = str(event["id"]).split(":")[0]
                tellings.setdefault(telling, []).append(int(event["data"]["sequence"]))
        for telling, numbers in tellings.items():
            if numbers != list(range(numbers[0], numbers[0] + len(numbers))) or numbers[0] != 0:
                self.problems.append(f"{telling} was told as {numbers}")


class SocketPlayer(Player):
    """Plays over Socket.IO with the official client; a beat with the same request id is the same beat."""

    async def _turn(self, words: str, key: str) -> str | None:
        heard: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        sio = socketio.AsyncClient(reconnection=False)

        async def hear(event: str, data: dict[str, Any]) -> None:
            heard.put_nowait((event, data))

        async def leave() -> None:
            heard.put_nowait(("gone", {}))

        sio.on("*", hear)
        sio.on("disconnect", leave)
        try:
            await self._connect(sio)
            beat = {"request_id": f"{self.session_id}-{key}", "session_id": self.session_id, "input": words, "key": key}
            answer = await sio.call("storybeat", beat, timeout=20)
            if not answer.get("ok"):
                raise RpcFailed(answer.get("error", answer))
            return await self._outcome(heard)
        finally:
            with suppress(Exception):
                await sio.disconnect()

    async def _connect(self, sio: socketio.AsyncClient) -> None:
        try:
            await sio.connect(await self.town.server(), transports=["websocket"], wait_timeout=5)
        except TypeError as error:
            # The client takes the number of a close, sent by a server that stops at that moment, for a packet.
            raise socketio.exceptions.ConnectionError("closed while it was opened") from error

    async def _outcome(self, heard: asyncio.Queue[tuple[str, dict[str, Any]]]) -> str | None:
        while True:
            event, data = await asyncio.wait_for(heard.get(), 40)
            if event == "done":
                return "completed" if data.get("success", True) else "failed"
            if event == "error":
                return None if "goes on with it" in str(data.get("message", "")) else "failed"
            if event == "gone":
                return None


async def all_followers_done(url: str, *, patience_s: float) -> list[tuple[str, str, int]]:
    """Waits until nothing that follows a turn waits or runs; what was left then."""
    query = "SELECT kind, status, count(*) FROM fabula.work WHERE status IN ('waiting','running') GROUP BY 1, 2"
    until = asyncio.get_running_loop().time() + patience_s
    while True:
        left = [tuple(row) for row in await ask(url, query)]
        if not left or asyncio.get_running_loop().time() > until:
            return left
        await asyncio.sleep(0.5)


async def ask(url: str, query: str, *values: object) -> list[Any]:
    connection = await asyncpg.connect(url)
    try:
        rows: list[Any] = await connection.fetch(query, *values)
        return rows
    finally:
        await connection.close()
