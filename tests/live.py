"""A live server for tests: the real app on a real port, and a small client that speaks its protocol."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from tests.templates import fill_folder

from fabula.actions.house import House
from fabula.adapters.world import SystemClock
from fabula.cli.serve import take_port, uvicorn_config
from fabula.ports.world import Clock
from fabula.server.app import create_app
from fabula.settings import Settings
from fabula.wiring import open_house


class RpcFailed(AssertionError):
    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error)
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: dict[str, Any] = error.get("data", {})


class Client:
    """Speaks JSON-RPC, the turn stream and the file routes."""

    def __init__(self, http: httpx.AsyncClient, house: House) -> None:
        self.http, self.house = http, house

    async def call(self, method: str, session_id: str | None = None, /, **params: Any) -> dict[str, Any]:
        """The result of a call; an error answer raises RpcFailed."""
        answer = await self.raw(method, session_id, **params)
        if "error" in answer:
            raise RpcFailed(answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    async def raw(self, method: str, session_id: str | None = None, /, **params: Any) -> dict[str, Any]:
        body = self.request(method, session_id, **params)
        answer: dict[str, Any] = (await self.http.post("/rpc", json=body)).json()
        return answer

    def request(self, method: str, session_id: str | None = None, /, **params: Any) -> dict[str, Any]:
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
        return body if session_id is None else {**body, "session_id": session_id}

    async def turn(self, session_id: str, words: str, method: str = "session.run_turn") -> list[dict[str, Any]]:
        """Plays a turn and answers the frames of its stream."""
        params = {"player_input": words} if method == "session.run_turn" else {}
        response = await self.http.post("/rpc", json=self.request(method, session_id, **params))
        if response.headers["content-type"] == "application/json":
            raise RpcFailed(response.json()["error"])
        return [event["data"]["frame"] for event in sse(response.text) if event["event"] == "message"]


def sse(text: str) -> list[dict[str, Any]]:
    """The events of a stream, with their data decoded."""
    events = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "data" in fields:
            events.append({**fields, "data": json.loads(fields["data"])})
    return events


def bodies(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The event bodies of a turn's frames."""
    return [frame["body"] for frame in frames if frame["type"] == "event"]


class QuickServer(uvicorn.Server):
    """Ends when it is told to and its connections are closed; the original looks ten times a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ends = asyncio.Event()

    def end(self) -> None:
        self.should_exit = True
        self._ends.set()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._ends.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        while self.server_state.connections or self.server_state.tasks:
            await asyncio.sleep(0.002)
        await self.lifespan.shutdown()


class StandingClock(SystemClock):
    """Its seconds pass only by `advance`, so that paces fill no faster on a slow machine. The time of day goes on."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def monotonic(self) -> float:
        return self._seconds

    def advance(self, seconds: float) -> None:
        self._seconds += seconds


@asynccontextmanager
async def live_server(data_dir: Path, clock: Clock | None = None, /, **settings: Any) -> AsyncIterator[Client]:
    """A server on its own data folder; it ends with the block. Whoever counts what comes in a second brings a clock."""
    chosen = Settings(data_dir=data_dir, **{"samples": False, "summaries": "rule", **settings})
    if not chosen.database_url:
        fill_folder(data_dir)
    async with open_house(chosen, tends_turns=True, machine_clock=clock) as house:
        with take_port(chosen.model_copy(update={"host": "127.0.0.1", "port": 0})) as listener:
            server = QuickServer(uvicorn_config(house))
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            try:
                async with httpx.AsyncClient(base_url=address, timeout=120) as http:
                    yield Client(http, house)
            finally:
                server.end()
                await serving


@asynccontextmanager
async def app_client(house: House) -> AsyncIterator[Client]:
    """A client of the app in this very process, with no port."""
    transport = httpx.ASGITransport(create_app(house), client=("127.0.0.1", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=120) as http:
        yield Client(http, house)


GATE_GRAPH: dict[str, Any] = {
    "start_node": "gate",
    "nodes": [
        {
            "id": "gate",
            "title": "The Gate",
            "scene": "A tall iron gate in the rain. Mara leans on it.",
            "goal": "Persuade Mara to open the gate.",
            "characters": ["mara"],
            "transitions": [{"to": "garden", "condition": {"key": "gate_open", "op": "eq", "value": True}}],
        },
        {
            "id": "garden",
            "title": "The Garden",
            "scene": "A quiet garden behind the gate, full of roses.",
            "goal": "Rest a while.",
            "characters": ["mara"],
            "transitions": [],
        },
    ],
}


async def until_audited(
    client: Client, is_so: Callable[[list[dict[str, Any]]], bool] = bool, **asked: Any
) -> list[dict[str, Any]]:
    """What the audit has to say, as soon as it is so: it is written after a turn, and no turn waits for it."""
    async with asyncio.timeout(120):
        while True:
            noted: list[dict[str, Any]] = (await client.call("audit.list", **asked))["violations"]
            if is_so(noted):
                return noted
            await asyncio.sleep(0.01)


async def gate_story(client: Client) -> str:
    """A small story with one character, one condition and one ending; answers its id."""
    gate = {"gate_open": {"value_type": "bool", "default": False, "description": "Is the gate open?"}}
    await client.call("schema.create", schema_id="gate-world", display_name="World", fields=gate)
    await client.call("schema.create", schema_id="gate-player", display_name="Player", fields={})
    trust = {"trust": {"value_type": "int", "default": 0, "description": None}}
    await client.call("schema.create", schema_id="gate-keeper", display_name="Keeper", fields=trust)
    mara = {
        "id": "mara",
        "name": "Mara",
        "personality": "A wary gatekeeper who likes riddles.",
        "style": "dry and short",
        "schema_id": "gate-keeper",
        "system_prompt": "You are {{char}}; {{user}} stands before you.",
    }
    await client.call("character.create", content=mara)
    resource = await client.call(
        "story_resources.create", story_concept="A gate that must be opened.", character_ids=["mara"]
    )
    story = await client.call(
        "story.create",
        resource_id=resource["resource_id"],
        display_name="The Gate",
        graph=GATE_GRAPH,
        world_schema_id="gate-world",
        player_schema_id="gate-player",
        introduction="Rain falls on the old road.",
    )
    return str(story["story_id"])


async def gate_session(client: Client) -> str:
    """A session of the small story; answers its id."""
    answer = await client.raw("story.start_session", story_id=await gate_story(client))
    return str(answer["session_id"])
