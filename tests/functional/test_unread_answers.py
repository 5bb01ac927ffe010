"""Answers that nobody reads take little memory, and none of it for long; who reads them slowly gets them whole."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import websockets
from tests.game_client import game
from tests.live import Client, QuickServer, gate_session, live_server

from fabula.actions.care.tokens import create_token
from fabula.ports.actors import OPERATOR
from fabula.ports.store import Token
from fabula.server.access import AccessRules, guard
from fabula.server.access.answers import HEAVIEST_ANSWERS, PORTION, AnswerWeights
from fabula.server.access.http_protocol import BoundedHttp
from fabula.server.game_socket.batching_socket import BatchingWebSocket

SIZE = 24 * 2**20
ASK = b"GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


class Impatient(BoundedHttp):
    seconds_for_slow_readers = 0.2


class ImpatientSocket(BatchingWebSocket):
    seconds_for_slow_readers = 0.2


async def _known(hash: str) -> Token | None:
    return Token(token_id="token_1", label="", role="player", hash=hash, created_at_ms=1)


@asynccontextmanager
async def large_server(ended: list[str]) -> AsyncIterator[int]:
    """A server behind our guard whose every answer is large; `ended` grows when a request is over."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.send", "text": "x" * SIZE})
            await send({"type": "websocket.close"})
            await asyncio.sleep(30)
            return
        length = [(b"content-length", str(SIZE).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        await send({"type": "http.response.body", "body": b"x" * SIZE})
        ended.append("answer")

    guarded = guard(app, AccessRules(find_token=_known))
    config = uvicorn.Config(guarded, http=Impatient, ws=ImpatientSocket, lifespan="off", log_config=None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = QuickServer(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield listener.getsockname()[1]
        server.end()
        await serving


@asynccontextmanager
async def slow_client(port: int, sent: bytes) -> AsyncIterator[socket.socket]:
    """A connection whose own buffer is small, so that what it does not read waits at the server."""
    with socket.socket() as mine:
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        mine.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(mine, ("127.0.0.1", port))
        await loop.sock_sendall(mine, sent)
        yield mine


async def read_all(mine: socket.socket, *, pause_s: float = 0.0) -> int:
    """How many bytes came until the connection was closed."""
    read = 0
    try:
        while data := await asyncio.get_running_loop().sock_recv(mine, 2**20):
            read += len(data)
            await asyncio.sleep(pause_s)
    except ConnectionError:
        pass
    return read


async def test_a_request_lasts_until_its_answer_is_read_and_an_answer_that_is_not_read_is_dropped() -> None:
    ended: list[str] = []
    async with large_server(ended) as port, slow_client(port, ASK) as mine:
        async with asyncio.timeout(120):
            while not ended:
                await asyncio.sleep(0.02)
        assert await read_all(mine) < SIZE


async def test_an_answer_that_is_read_slowly_but_steadily_comes_whole() -> None:
    ended: list[str] = []
    async with large_server(ended) as port, slow_client(port, ASK) as mine:
        async with asyncio.timeout(120):
            assert await read_all(mine, pause_s=0.01) > SIZE
    assert ended == ["answer"]


async def test_a_game_that_never_reads_keeps_no_connection_after_it_was_let_go() -> None:
    upgrade = (
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    async with large_server([]) as port, slow_client(port, upgrade) as mine:
        await asyncio.sleep(1.0)
        async with asyncio.timeout(120):
            assert await read_all(mine) < SIZE


def test_the_first_long_answer_of_a_caller_is_given_and_no_more_than_may_wait() -> None:
    weights = AnswerWeights(heaviest=100)
    assert weights.take("a", 500)
    assert not weights.take("a", 1) and weights.take("b", 60)
    weights.give_back("a", 500)
    assert weights.take("a", 60) and weights.take("a", 40) and not weights.take("a", 1)


async def test_a_caller_who_does_not_read_long_answers_gets_no_more_of_them(tmp_path: Path) -> None:
    assert PORTION < SIZE < HEAVIEST_ANSWERS < 3 * SIZE
    asked = ASK.replace(b"Host", b"Authorization: Bearer fabula_x\r\nHost")
    async with large_server([]) as port, slow_client(port, asked) as one, slow_client(port, asked) as two:
        await asyncio.sleep(0.05)
        async with slow_client(port, asked) as three:
            refusal = await asyncio.get_running_loop().sock_recv(three, 2**16)
        assert refusal.startswith(b"HTTP/1.1 429") and b"wait to be read" in refusal
        assert one.fileno() != two.fileno()


async def _player(client: Client) -> tuple[str, dict[str, str]]:
    made = await create_token(client.house, OPERATOR, role="player")
    return made.secret, {"Authorization": f"Bearer {made.secret}"}


async def test_one_token_has_so_many_requests_open_and_others_are_served_meanwhile(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data", require_tokens=True, max_open_per_token=3) as client:
        (_, mine), (_, other) = await _player(client), await _player(client)
        admin = await create_token(client.house, OPERATOR, role="admin")
        client.http.headers["Authorization"] = f"Bearer {admin.secret}"
        story = (await client.call("session.get", await gate_session(client)))["story_id"]
        body = client.request("story.start_session", story_id=story)
        session = (await client.http.post("/rpc", json=body, headers=mine)).json()["session_id"]
        held = [client.http.stream("GET", f"/sessions/{session}/feed", headers=mine) for _ in range(3)]
        for feed in held:
            assert (await feed.__aenter__()).status_code == 200
        whoami = client.request("access.whoami")
        refused = await client.http.post("/rpc", json=whoami, headers=mine)
        assert refused.status_code == 429 and "3 requests open" in refused.json()["error"]["message"]
        assert (await client.http.post("/rpc", json=whoami, headers=other)).status_code == 200
        await held[0].__aexit__(None, None, None)
        async with asyncio.timeout(120):
            while (await client.http.post("/rpc", json=whoami, headers=mine)).status_code != 200:
                await asyncio.sleep(0.02)
        for feed in held[1:]:
            await feed.__aexit__(None, None, None)


@pytest.mark.parametrize("early", [True, False], ids=["with the handshake", "with hello"])
async def test_one_token_has_so_many_games_open(tmp_path: Path, early: bool) -> None:
    async with live_server(tmp_path / "data", require_tokens=True, max_open_per_token=1) as client:
        secret, header = await _player(client)
        headers = header if early else {}
        where = str(client.http.base_url).rstrip("/")

        async def enter(mine: Any) -> Any:
            await mine.send("hello", token=secret)
            return await mine.next()

        async with game(where, additional_headers=headers) as first:
            assert (await enter(first))["type"] == "welcome"
            with pytest.raises((websockets.InvalidStatus, websockets.ConnectionClosed)):
                async with game(where, additional_headers=headers) as second:
                    assert (await enter(second))["code"] == "busy"
                    await second.next()
        async with asyncio.timeout(120):
            while True:
                try:
                    async with game(where, additional_headers=headers) as third:
                        if (await enter(third))["type"] == "welcome":
                            break
                except (websockets.InvalidStatus, websockets.ConnectionClosed):
                    await asyncio.sleep(0.05)
