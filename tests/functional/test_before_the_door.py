"""Before the door: what somebody without a token can send costs little memory, no disk, and nobody else's time."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import struct
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import websockets
from starlette.requests import ClientDisconnect
from tests.fork_server import server_process
from tests.game_client import game
from tests.live import Client, QuickServer, gate_session, live_server
from websockets.frames import CloseCode

from fabula.actions.care.tokens import create_token, revoke_token
from fabula.cli import serve
from fabula.ports.actors import OPERATOR
from fabula.server.access import AccessRules, guard
from fabula.server.access.guard import LARGEST_BODIES
from fabula.server.access.http_protocol import (
    LARGEST_HEADERS,
    LINES_A_MINUTE,
    MOST_HEADERS,
    MOST_SMALL_CHUNKS,
    BoundedHttp,
    SiblingHttp,
    room_for_connections,
)
from fabula.server.game_socket.batching_socket import MOST_FRAGMENTS, BatchingWebSocket
from fabula.server.game_socket.logs import make_room
from fabula.settings import Settings

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


class Impatient(BoundedHttp):
    seconds_for_headers = 0.05
    seconds_for_slow_bodies = 0.2
    seconds_for_slow_readers = 0.2


@asynccontextmanager
async def small_server(http: type[BoundedHttp] = BoundedHttp, *, reads: bool = False) -> AsyncIterator[int]:
    """A server with our protocol that says ok to everything, before or after it `reads` the body; answers its port."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while reads and (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    config = uvicorn.Config(app, http=http, ws=BatchingWebSocket, lifespan="off", log_config=None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = QuickServer(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield listener.getsockname()[1]
        server.end()
        await serving


async def answer_to(port: int, *pieces: bytes) -> bytes:
    """Sends the pieces, then reads until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        async with asyncio.timeout(120):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def address(client: Client) -> str:
    return str(client.http.base_url).rstrip("/")


def log_of(folder: Path) -> str:
    return (folder / "server.log").read_text("utf-8")


@pytest.mark.parametrize(
    "headers",
    [
        b"X-Long: " + b"x" * LARGEST_HEADERS,
        b"".join(b"X-%d: y\r\n" % number for number in range(MOST_HEADERS + 10)),
        b"".join(b"X-%d: %s\r\n" % (number, b"y" * 1000) for number in range(50)),
        b"X" * LARGEST_HEADERS,
    ],
    ids=["one endless value", "too many", "too large in all", "one endless name"],
)
async def test_headers_without_end_are_refused_with_431(headers: bytes) -> None:
    async with small_server() as port:
        answer = await answer_to(port, HEAD, headers)
        assert answer.startswith(b"HTTP/1.1 431 ") and b"32 KiB" in answer


async def test_an_address_without_end_is_refused_with_431() -> None:
    async with small_server() as port:
        assert (await answer_to(port, b"GET /" + b"x" * 40_000)).startswith(b"HTTP/1.1 431 ")


async def test_trailers_without_end_close_the_connection() -> None:
    chunked = b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Long: "
    async with small_server() as port:
        # Whether the answer to the request itself came before is a matter of chance.
        assert b"X-Long" not in await answer_to(port, chunked, b"x" * 40_000, b"x" * 40_000)


async def test_a_request_with_many_headers_within_the_bounds_is_answered() -> None:
    headers = b"".join(b"X-%d: %s\r\n" % (number, b"y" * 300) for number in range(90))
    async with small_server() as port:
        answer = await answer_to(port, HEAD, headers, b"Connection: close\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"ok")


@pytest.mark.parametrize("half", [b"", HEAD, b"\r\n", b"G"])
async def test_a_connection_whose_headers_never_end_is_closed(half: bytes) -> None:
    async with small_server(Impatient) as port:
        answer = await answer_to(port, half)
        assert answer.startswith(b"HTTP/1.1 408 ")


async def test_a_second_request_that_never_ends_closes_its_connection() -> None:
    async with small_server(Impatient) as port:
        answer = await answer_to(port, HEAD + b"\r\n" + HEAD)
        assert answer.startswith(b"HTTP/1.1 200 ")


async def test_a_thousand_requests_at_once_on_one_connection_close_it() -> None:
    async with small_server() as port:
        answer = await answer_to(port, (HEAD + b"\r\n") * 1000)
        assert answer.count(b"200 OK") < 1000


async def test_a_client_that_leaves_within_its_body_leaves_one_line_and_no_traceback(tmp_path: Path) -> None:
    settings = {"FABULA_SAMPLES": "false"}
    with server_process(tmp_path, settings=settings) as (_, address):
        port = int(address.rsplit(":", 1)[1])
        head = b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head)
        await writer.drain()
        await asyncio.sleep(0.1)
        writer.close()
        await writer.wait_closed()
        async with asyncio.timeout(120):
            while "a client left" not in log_of(tmp_path):
                await asyncio.sleep(0.05)
    assert "Traceback" not in log_of(tmp_path)


async def test_a_client_that_sends_many_requests_and_reads_nothing_leaves_no_traceback(tmp_path: Path) -> None:
    with server_process(tmp_path, settings={"FABULA_SAMPLES": "false"}) as (_, address):
        port = int(address.rsplit(":", 1)[1])
        request = b"GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for requests in (2, 200):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request * requests)
            await asyncio.sleep(0.1)
            writer.transport.abort()
        await answer_to(port, HEAD + b"Connection: close\r\n\r\n")
    assert "Traceback" not in log_of(tmp_path)


async def test_a_body_in_very_many_tiny_chunks_is_not_read_to_its_end() -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    async with small_server(reads=True) as port:
        assert b"200 OK" in await answer_to(port, head + b"1\r\nx\r\n" * (MOST_SMALL_CHUNKS // 2) + b"0\r\n\r\n")
        assert b"200 OK" in await answer_to(port, head + b"ff\r\n" + b"x" * 255 + b"\r\n0\r\n\r\n")
        assert b"200 OK" not in await answer_to(port, head, b"1\r\nx\r\n" * 20 * MOST_SMALL_CHUNKS, b"0\r\n\r\n")


@pytest.mark.parametrize("begun", [b"", b"x" * 10, b"x" * 100], ids=len)
async def test_a_body_that_does_not_come_closes_its_connection(begun: bytes) -> None:
    head = b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n\r\n"
    async with small_server(Impatient, reads=True) as port:
        assert await answer_to(port, head, begun) == b""


async def test_a_body_that_comes_slowly_but_steadily_is_read() -> None:
    head = b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\nConnection: close\r\n\r\n"
    async with small_server(Impatient, reads=True) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head)
        for _ in range(9):
            writer.write(b"x" * 1000)
            await asyncio.sleep(0.06)
        assert b"200 OK" in await reader.read()
        writer.close()


class Narrow(BoundedHttp):
    most_connections = 2


class NarrowSibling(SiblingHttp):
    most_connections = 4


@pytest.mark.parametrize("http", [Narrow, NarrowSibling])
async def test_connections_leave_the_server_some_files_to_open(http: type[BoundedHttp]) -> None:
    async with small_server(http) as port:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        await asyncio.sleep(0.05)
        assert await answer_to(port, HEAD + b"\r\n") == b""
        held[0][1].close()
        await held[0][1].wait_closed()
        await asyncio.sleep(0.05)
        assert b"200 OK" in await answer_to(port, HEAD + b"Connection: close\r\n\r\n")
        held[1][1].close()
    assert 0 < room_for_connections() <= 1_000_000


async def test_what_a_stranger_sends_to_open_doors_is_short(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data", require_tokens=True) as client:
        for path in ("/enter", "/leave", "/healthz"):
            answer = await client.http.post(path, content=b"[" + b"0," * 10_000 + b"0]")
            assert answer.status_code == 413 and "16 KiB" in answer.json()["message"]


async def test_requests_that_are_none_and_clients_that_leave_fill_no_log(tmp_path: Path) -> None:
    with server_process(tmp_path, settings={"FABULA_SAMPLES": "false"}) as (_, address):
        port = int(address.rsplit(":", 1)[1])
        for sent in (b"NONSENSE\r\n\r\n", b"POST /enter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"):
            for _ in range(3 * LINES_A_MINUTE):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(sent)
                await asyncio.sleep(0.01)
                writer.close()
        assert (await answer_to(port, HEAD + b"Connection: close\r\n\r\n")).startswith(b"HTTP/1.1 200")
    text = log_of(tmp_path)
    assert 1 <= text.count("Invalid HTTP request") <= LINES_A_MINUTE
    assert 1 <= text.count("a client left") <= LINES_A_MINUTE


async def test_all_bodies_together_have_a_bound(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data", max_archive_mib=1) as client:
        guarded = guard(_holding, AccessRules(find_token=_nobody, max_upload=LARGEST_BODIES))
        answers = [asyncio.create_task(_upload(guarded, LARGEST_BODIES - 1)) for _ in range(3)]
        statuses = sorted([await answer for answer in answers])
        assert statuses == [200, 200, 503]
        assert await _upload(guarded, LARGEST_BODIES - 1) == 200
        assert (await client.http.get("/healthz")).text == "ok"


async def _nobody(hash: str) -> None:
    return None


async def _holding(scope: Any, receive: Any, send: Any) -> None:
    """Reads a whole body, and answers a moment later."""
    while (message := await receive()).get("more_body"):
        pass
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    await asyncio.sleep(0.1)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def _upload(app: Any, size: int) -> int:
    """The status of a request that brings so many bytes; it says nothing of them beforehand."""
    told: list[dict[str, Any]] = []
    part = bytes(size)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": part, "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    scope = {"type": "http", "method": "POST", "path": "/upload/a/b", "headers": [(b"host", b"localhost")]}
    await app(scope, receive, send)
    return int(told[0]["status"])


async def test_nothing_that_a_stranger_says_to_the_game_socket_is_written_to_disk(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data", require_tokens=True) as client, game(address(client)) as stranger:
        await stranger.send("interaction_event", agent_id="mara", text="x" * 1000)
        assert (await stranger.next())["code"] == "unauthorized"
        await stranger.send("hello", token="wrong", client="x" * 1000)
        assert (await stranger.next())["code"] == "unauthorized"
    assert list((tmp_path / "data").glob("logs/*")) == []


@pytest.mark.parametrize("frames", [["x" * 20_000], ['{"type": "ping"}'] * 25])
async def test_a_stranger_who_sends_large_or_many_frames_is_let_go(tmp_path: Path, frames: list[str]) -> None:
    async with live_server(tmp_path / "data", require_tokens=True) as client, game(address(client)) as stranger:
        for frame in frames:
            await stranger.raw(frame)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            while True:
                assert (await stranger.next())["code"] == "unauthorized"
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008


@pytest.mark.parametrize("requests", [1, 40], ids=["one", "many that wait"])
@pytest.mark.parametrize("is_answered", [True, False], ids=["answered", "not answered"])
async def test_a_connection_that_is_reset_leaves_nothing_to_the_collector(requests: int, is_answered: bool) -> None:
    """Anybody opens thousands a second: what they leave would be freed at one stroke, and everybody would wait."""
    left: list[weakref.ref[BoundedHttp]] = []

    class Seen(BoundedHttp):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            left.append(weakref.ref(self))

    async with small_server(Seen, reads=True) as port:
        gc.disable()
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            told = b"" if is_answered else b"Content-Length: 9\r\n"
            writer.write((HEAD + b"\r\n") * (requests - 1) + HEAD + told + b"\r\n")
            if is_answered:
                await reader.readuntil(b"ok")
            else:
                async with asyncio.timeout(120):
                    while not left:
                        await asyncio.sleep(0.001)
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.close()
            del reader, writer
            async with asyncio.timeout(3):
                while left[0]() is not None:
                    await asyncio.sleep(0.001)
        finally:
            gc.enable()


async def test_small_pieces_are_sent_at_once_whichever_event_loop_serves(tmp_path: Path) -> None:
    """A reader acknowledges after forty milliseconds: each piece of a stream would wait as long for the one before."""
    at_once: list[int] = []

    class Seen(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted = transport.get_extra_info("socket")
            at_once.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            transport.close()

    with serve.take_port(Settings(data_dir=tmp_path, port=0)) as listener:
        async with await asyncio.get_running_loop().create_server(Seen, sock=listener):
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            await reader.read()
            writer.close()
    assert len(at_once) == 1 and at_once[0] != 0


class Circle:
    """Something that only the collector frees."""

    def __init__(self) -> None:
        self.itself = self


async def test_what_is_new_is_looked_through_before_it_is_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever leaves circles behind, and while somebody plays: they are freed in small portions."""
    async with live_server(tmp_path) as client:
        monkeypatch.setattr(client.house.work, "ids", lambda: ["a turn that never ends"])
        before = gc.get_threshold()
        gc.collect()
        serve.spare_what_stays()
        tidying = asyncio.create_task(serve._tidy_up(client.house))
        passes: list[int] = []

        def noted(phase: str, facts: dict[str, int]) -> None:
            if phase == "stop" and facts["generation"] > 0:
                passes.append(facts["generation"])

        gc.callbacks.append(noted)
        try:
            left = weakref.ref(Circle())
            kept: list[Any] = []
            async with asyncio.timeout(120):
                while left() is not None or not passes:
                    kept += [[] for _ in range(1_000)]
                    assert len(kept) < 500_000
                    await asyncio.sleep(0.001)
            assert set(passes) == {1}
        finally:
            gc.callbacks.remove(noted)
            tidying.cancel()
            gc.set_threshold(*before)


async def test_logs_of_a_game_are_for_their_owner_only(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data") as client, game(address(client)) as mine:
        await mine.turn("Hello there!")
    logs = list((tmp_path / "data" / "logs").iterdir())
    assert logs and {log.stat().st_mode & 0o777 for log in logs} == {0o600}


def test_the_oldest_logs_make_way_when_their_folder_is_full(tmp_path: Path) -> None:
    for number in range(5):
        log = tmp_path / f"connection_{number}.conversation.jsonl"
        log.write_bytes(b"x" * 100)
        os.utime(log, (number, number))
    (tmp_path / "notes.txt").write_bytes(b"mine" * 1000)
    make_room(tmp_path, 150, largest=400)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["connection_3.conversation.jsonl", "connection_4.conversation.jsonl", "notes.txt"]


def fragment(opcode: int, *, fin: bool = False, data: bytes = b"") -> bytes:
    """A masked frame of a client; the mask is zeros."""
    return struct.pack("!BB", opcode | (0x80 if fin else 0), 0x80 | len(data)) + bytes(4) + data


@asynccontextmanager
async def raw_socket(client: Client) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", client.http.base_url.port)
    writer.write(
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    await reader.readuntil(b"\r\n\r\n")
    try:
        yield reader, writer
    finally:
        writer.close()


@pytest.mark.parametrize("opcode", [0x0, 0x9, 0xA], ids=["fragments", "pings", "pongs"])
async def test_a_flood_of_frames_that_are_no_messages_ends_the_connection(tmp_path: Path, opcode: int) -> None:
    flood = fragment(opcode, fin=opcode != 0) * 40_000
    async with live_server(tmp_path / "data") as client, raw_socket(client) as (reader, writer):
        writer.write(fragment(0x1) + flood)
        async with asyncio.timeout(120):
            while not writer.is_closing() and await _hears(reader):
                pass
        assert (await client.http.get("/healthz")).text == "ok"


async def _hears(reader: asyncio.StreamReader) -> bool:
    try:
        return bool(await reader.read(65536))
    except ConnectionError:
        return False


UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        (b"Content-Length: 5\r\n\r\nhello", b"400"),
        (b"Content-Length: 5\r\n\r\n", b"400"),
        (b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
        (b"X-Long: " + b"x" * 12_000 + b"\r\n\r\n", b"431"),
    ],
    ids=["a body", "a body that does not come", "chunks", "a long line"],
)
async def test_a_handshake_that_is_none_is_answered_and_closed(rest: bytes, status: bytes) -> None:
    async with small_server() as port:
        assert (await answer_to(port, UPGRADE + rest)).startswith(b"HTTP/1.1 " + status)


async def test_no_websocket_is_opened_before_what_was_asked_is_answered(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data") as client:
        answer = await answer_to(client.http.base_url.port or 0, HEAD + b"\r\n" + UPGRADE + b"\r\n")
        assert b"101 Switching" not in answer


async def test_a_text_of_no_letters_ends_the_connection_without_a_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with live_server(tmp_path / "data") as client, raw_socket(client) as (reader, writer):
        writer.write(fragment(0x1, fin=True, data=b"\xff\xfe"))
        async with asyncio.timeout(120):
            goodbye = await reader.read()
        assert goodbye[2:4] == int(CloseCode.INVALID_DATA).to_bytes(2, "big") and b"UTF-8" in goodbye
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_message_in_some_fragments_is_heard(tmp_path: Path) -> None:
    ping = json.dumps({"type": "ping", "id": "x" * 20_000})
    pieces = [ping[start : start + 100] for start in range(0, len(ping), 100)]
    assert 100 < len(pieces) < MOST_FRAGMENTS
    async with live_server(tmp_path / "data") as client, game(address(client)) as mine:
        await mine.socket.send(pieces)
        assert (await mine.next("pong"))["id"] == "x" * 20_000


async def test_a_socket_whose_token_is_revoked_is_told_so_and_closed(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data", require_tokens=True) as client:
        made = await create_token(client.house, OPERATOR, role="player")
        header = {"Authorization": f"Bearer {made.secret}"}
        async with game(address(client), additional_headers=header) as early, game(address(client)) as late:
            await late.send("hello", token=made.secret)
            await late.next("welcome")
            await revoke_token(client.house, OPERATOR, made.token.token_id)
            for mine in (early, late):
                assert (await mine.next("error"))["code"] == "unauthorized"
                with pytest.raises(websockets.ConnectionClosed) as closed:
                    await mine.next()
                assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openrpc.json", "/metrics", "/", "/sessions/nobody/events"])
async def test_head_is_answered_like_get_without_a_body(tmp_path: Path, path: str) -> None:
    async with live_server(tmp_path / "data") as client:
        asked, head = await client.http.get(path), await client.http.head(path)
        assert head.status_code == asked.status_code and head.content == b""
        assert head.headers["content-type"] == asked.headers["content-type"]


async def test_head_of_a_running_turn_or_of_a_download_ends_at_once(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data") as client:
        session = await gate_session(client)
        await client.turn(session, "Hello.")
        async with asyncio.timeout(120):
            assert (await client.http.head(f"/sessions/{session}/events")).status_code in (200, 204)
            place = (await client.call("data_package.export_prepare", character_ids=["mara"]))["archive"]
            path = f"/download/{place['resource_id']}/{place['file_id']}"
            whole = await client.http.get(path)
            assert (await client.http.head(path)).headers["content-length"] == str(len(whole.content))
            assert (await client.http.head("/rpc")).status_code == 405


async def test_a_refused_handshake_is_logged_as_a_refusal_and_not_as_an_error(tmp_path: Path) -> None:
    with server_process(tmp_path, settings={"FABULA_SAMPLES": "false"}) as (_, address):
        for headers in ({"Origin": "https://evil.example"}, {"Authorization": "Bearer wrong"}):
            with pytest.raises(websockets.InvalidStatus):
                async with game(address, additional_headers=headers):
                    pass
    text = log_of(tmp_path)
    assert text.count("a request was refused") == 2 and "evil.example" in text
    assert "ERROR" not in text
