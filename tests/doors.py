"""A server in this process that asks for tokens, and the people who stand before it, for tests of who may do what."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from tests.live import Client, RpcFailed, gate_story

from fabula.actions.care.tokens import create_token, revoke_token
from fabula.actions.house import House
from fabula.adapters.world import SystemClock
from fabula.ports.actors import OPERATOR
from fabula.ports.store import TokenRole
from fabula.server.app import create_app, open_doors
from fabula.testing.memory_store import memory_place
from fabula.wiring import open_house

PEOPLE: dict[str, TokenRole] = {"owner": "player", "other": "player", "author": "author", "admin": "admin"}
STRANGERS = ("nobody", "revoked")


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody with a token, or without one; `client` speaks for them."""

    name: str
    token_id: str | None
    client: Client
    headers: dict[str, str]

    async def error_code(self, method: str, session_id: str | None = None, /, **params: Any) -> int | None:
        """The code of the error that a call gets; None when it is answered."""
        return code_of(await self.post(method, session_id, **params))

    async def post(self, method: str, session_id: str | None = None, /, **params: Any) -> httpx.Response:
        return await self.client.http.post("/rpc", json=self.client.request(method, session_id, **params))

    async def play(self, story_id: str) -> str:
        """Starts a session; answers its id."""
        answer = await self.client.raw("story.start_session", story_id=story_id)
        if "error" in answer:
            raise RpcFailed(answer["error"])
        return str(answer["session_id"])


def code_of(response: httpx.Response) -> int | None:
    if not response.headers.get("content-type", "").startswith("application/json"):
        return None
    body = response.json()
    error = body.get("error", body) if isinstance(body, dict) else {}
    code = error.get("code")
    return code if isinstance(code, int) else None


class Doors:
    """The server, its people and one story. `socket` opens the game socket."""

    def __init__(self, house: House, app: Any, people: dict[str, Person], story_id: str) -> None:
        self.house, self.app, self.people, self.story_id = house, app, people, story_id

    def __getitem__(self, name: str) -> Person:
        return self.people[name]

    def routes(self) -> list[tuple[str, str]]:
        """Every route: its method (or SOCKET, or MOUNT) and its path."""
        return sorted(_routes(open_doors(self.house).router))

    async def status_of_stream(self, path: str, headers: dict[str, str]) -> int:
        """The status with which an endless answer begins; then the caller leaves."""
        began: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        sent = {"host": "127.0.0.1", **headers}
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "scheme": "http",
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
        }
        asked = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> dict[str, Any]:
            if asked:
                return asked.pop()
            await asyncio.wait([began])
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start" and not began.done():
                began.set_result(int(message["status"]))

        serving = asyncio.create_task(self.app(scope, receive, send))
        status = await asyncio.wait_for(began, 120)
        serving.cancel()
        await asyncio.wait([serving])
        return status

    @asynccontextmanager
    async def socket(self, headers: dict[str, str]) -> AsyncIterator[GameSocket]:
        socket = GameSocket()
        serving = asyncio.create_task(self.app(_scope(headers), socket.receive, socket.send))
        try:
            yield socket
        finally:
            socket.sent.put_nowait({"type": "websocket.disconnect", "code": 1000})
            await serving


class GameSocket:
    """The game's end of a socket without a network."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent.put_nowait({"type": "websocket.connect"})

    async def receive(self) -> dict[str, Any]:
        return await self.sent.get()

    async def send(self, message: Any) -> None:
        self.heard.put_nowait(dict(message))

    async def ask(self, **frame: Any) -> dict[str, Any]:
        """Says something and answers the next frame; how the door refuses is a frame, too."""
        self.sent.put_nowait({"type": "websocket.receive", "text": json.dumps(frame)})
        while True:
            message = await asyncio.wait_for(self.heard.get(), 120)
            if message["type"] == "websocket.send":
                found: dict[str, Any] = json.loads(message["text"])
                return found
            if message["type"] != "websocket.accept":
                return message


def _routes(router: Any) -> Iterator[tuple[str, str]]:
    for route in router.routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from _routes(inner)
            continue
        methods = set(getattr(route, "methods", None) or ()) - {"HEAD"}
        kind = "MOUNT" if hasattr(route, "app") and hasattr(route, "routes") else "SOCKET"
        for method in methods or {kind}:
            yield method, route.path


def _scope(headers: dict[str, str]) -> dict[str, Any]:
    sent = {"host": "127.0.0.1", **headers}
    return {
        "type": "websocket",
        "path": "/ws",
        "raw_path": b"/ws",
        "query_string": b"",
        "scheme": "ws",
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
        "subprotocols": [],
        "extensions": {"websocket.http.response": {}},
    }


@asynccontextmanager
async def doors() -> AsyncIterator[Doors]:
    """The server with everybody before it."""
    async with _guarded_house() as house:
        app = create_app(house)
        transport = httpx.ASGITransport(app=app)
        people: dict[str, Person] = {}
        for name in (*PEOPLE, *STRANGERS):
            token_id, headers = await _token(house, name)
            http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers, timeout=120)
            people[name] = Person(name=name, token_id=token_id, client=Client(http, house), headers=headers)
        yield Doors(house, app, people, await gate_story(people["admin"].client))
        for person in people.values():
            await person.client.http.aclose()


@asynccontextmanager
async def _guarded_house() -> AsyncIterator[House]:
    with memory_place() as place:
        settings = place.settings.model_copy(update={"samples": False, "require_tokens": True})
        async with open_house(settings, store=place.store(SystemClock())) as house:
            yield house


async def _token(house: House, name: str) -> tuple[str | None, dict[str, str]]:
    if name == "nobody":
        return None, {}
    made = await create_token(house, OPERATOR, role=PEOPLE.get(name, "admin"), label=name)
    if name == "revoked":
        await revoke_token(house, OPERATOR, made.token.token_id)
    return made.token.token_id, {"authorization": f"Bearer {made.secret}"}
