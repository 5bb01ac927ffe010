"""Hostile clients of the Socket.IO door: each is let go, and nobody else notices."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from engineio.async_socket import AsyncSocket
from engineio.packet import MESSAGE, Packet
from tests.live import Client, StandingClock, gate_session, live_server
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from fabula.actions.care.tokens import create_token
from fabula.ports.actors import OPERATOR
from fabula.server.realtime.bounded_server import (
    LARGEST_PACKET,
    MOST_PACKETS,
    MOST_STRANGERS,
    MOST_UNREAD,
    PACKET_LETTERS,
    SECONDS_TO_SHOW_A_TOKEN,
    BoundedServer,
    checked_receive,
)
from fabula.server.realtime.door import MOST_CONNECTIONS


@asynccontextmanager
async def raw(client: Client, *, joined: bool = True) -> AsyncIterator[ClientConnection]:
    """A WebSocket that speaks Engine.IO by hand."""
    address = str(client.http.base_url).rstrip("/").replace("http", "ws") + "/socket.io/?EIO=4&transport=websocket"
    async with connect(address) as socket:
        assert str(await socket.recv()).startswith("0{")
        if joined:
            await socket.send("40")
            assert str(await socket.recv()).startswith("40{")
        yield socket


async def is_let_go(socket: ClientConnection) -> bool:
    try:
        async with asyncio.timeout(120):
            while True:
                await socket.recv()
    except ConnectionClosed:
        return True


HOSTILE: dict[str, str | bytes] = {
    "no packet": "9",
    "nothing": "4",
    "not json": "42[",
    "deep": "42" + "[" * 5000,
    "deep before socket.io": "4" + "[" * 5000,
    "an object": '42{"a": 1}',
    "an empty list": "42[]",
    "an unknown event": '42["eval", {}]',
    "the library's own event": '42["connect", {}, {}]',
    "a name that is no text": '42[["x"], {}]',
    "many arguments": '42["watch", {}, {}]',
    "a second connection": "40",
    "another namespace": "40/admin,",
    "binary": '451-["storybeat", {"_placeholder": true, "num": 0}]',
    "an error of a server": "44",
    "an acknowledgement of nothing": "43" + "9" * 200 + "[]",
    "a NUL": '42["watch", {"session_id": "\\u0000"}]',
    "a large packet": '42["watch", {"session_id": "' + "x" * LARGEST_PACKET + '"}]',
    "bytes": b"\x00\x01",
}


async def test_what_is_no_event_ends_the_line_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with live_server(tmp_path) as client, raw(client) as other:
        stayed = []
        for name, sent in HOSTILE.items():
            async with raw(client) as socket:
                await socket.send(sent)
                stayed += [] if await is_let_go(socket) else [name]
        assert stayed == [], "all of them were let go"
        await other.send('420["unwatch", {"session_id": "s"}]')
        assert json.loads(str(await other.recv())[3:]) == [{"ok": True}]
        polling = "/socket.io/?EIO=4&transport=polling"
        sid = json.loads((await client.http.get(polling)).text[1:])["sid"]
        for body in ("", "9", "4[[[[", "x" * 200_000, "\x1e".join(["3"] * 17), "42["):
            assert (await client.http.post(f"{polling}&sid={sid}", content=body)).status_code in (200, 400, 413)
        assert (await client.http.get(f"{polling}&sid=none")).status_code == 400
    assert not [record for record in caplog.records if record.exc_info], "nothing of it failed inside the server"


NOT_FITTING = ('{"session_id": 7}', "[]", "null", '{"session_id": "s", "x": 1}', '"text"')


async def test_what_does_not_fit_is_refused_with_a_sentence_and_the_line_stays(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client, raw(client) as socket:
        for data in NOT_FITTING:
            await socket.send(f'421["storybeat", {data}]')
            error = json.loads(str(await socket.recv())[2:])
            answer = json.loads(str(await socket.recv())[3:])
            assert error[0] == "error" and answer[0]["ok"] is False and answer[0]["error"]["code"] == -32602


async def test_a_flood_of_packets_ends_the_line(tmp_path: Path) -> None:
    async with live_server(tmp_path, StandingClock()) as client, raw(client) as socket:
        for _ in range(200):
            await socket.send('42["unwatch", {"session_id": "s"}]')
        assert await is_let_go(socket)


async def test_who_asks_and_never_reads_the_answers_is_let_go(tmp_path: Path) -> None:
    """Each refusal is an error and an acknowledgement, and a line that polls reads only when it likes."""
    clock = StandingClock()
    async with live_server(tmp_path, clock) as client:
        path = "/socket.io/?EIO=4&transport=polling"
        line = f"{path}&sid={json.loads((await client.http.get(path)).text[1:])['sid']}"
        await client.http.post(line, content="40")
        asked = "\x1e".join(['420["watch", {"session_id": "s"}]'] * MOST_PACKETS)
        for _ in range(MOST_UNREAD // MOST_PACKETS):
            assert (await client.http.post(line, content=asked)).status_code == 200
            await client.http.get(line)
            clock.advance(1.0)
        answers = []
        for _ in range(MOST_UNREAD // MOST_PACKETS):
            answers.append((await client.http.post(line, content=asked)).status_code)
            clock.advance(1.0)
        assert 400 in answers


@pytest.mark.parametrize(("sign", "most"), [("2", 20), ("3", 20), ("5", 1), ("5x", 1)])
async def test_a_flood_of_signs_ends_the_line(sign: str, most: int) -> None:
    async def receive() -> dict[str, str]:
        return {"type": "websocket.receive", "text": sign}

    checked = checked_receive(receive, lambda: 0.0)
    heard = [(await checked())["type"] for _ in range(most + 1)]
    assert heard == ["websocket.receive"] * most + ["websocket.disconnect"]


async def test_who_polls_has_nothing_queued_by_signs(tmp_path: Path) -> None:
    """Each upgrade would be answered with a packet that waits to be read."""
    async with live_server(tmp_path) as client:
        path = "/socket.io/?EIO=4&transport=polling"
        line = f"{path}&sid={json.loads((await client.http.get(path)).text[1:])['sid']}"
        refused = await client.http.post(line, content="\x1e".join(["5"] * 16))
        assert refused.status_code == 400 and "no packets" in refused.text


async def test_a_stranger_says_nothing_before_the_token(tmp_path: Path) -> None:
    async with live_server(tmp_path, require_tokens=True) as client:
        for sent in ('42["watch", {"session_id": "s"}]', "40" + json.dumps({"token": "x" * 10_000}), "41"):
            async with raw(client, joined=False) as socket:
                await socket.send(sent)
                assert await is_let_go(socket)


async def test_strangers_who_never_show_a_token_keep_nobody_out(tmp_path: Path) -> None:
    async with live_server(tmp_path, require_tokens=True) as client, AsyncExitStack() as held:
        made = await create_token(client.house, OPERATOR, role="player")
        strangers = [await held.enter_async_context(raw(client, joined=False)) for _ in range(MOST_STRANGERS)]
        async with raw(client, joined=False) as player:
            await player.send("40" + json.dumps({"token": made.secret}))
            assert str(await player.recv()).startswith("40{")
        assert await is_let_go(strangers[0])


@pytest.mark.parametrize("query", ["j=0", "%6a=0", "a=" + "x" * 5000 + "&j=0", "a=1&" * 100 + "j=0"])
async def test_no_answer_is_a_script(tmp_path: Path, query: str) -> None:
    async with live_server(tmp_path) as client:
        answer = await client.http.get(f"/socket.io/?EIO=4&transport=polling&{query}")
        assert answer.status_code == 400 and "___eio" not in answer.text


async def test_requests_that_are_not_whole_leave_no_trace_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = "/socket.io/?EIO=4&transport=polling"
    async with live_server(tmp_path) as client:
        assert (await client.http.head(place)).status_code == 400
        assert (await client.http.request("GET", place, content=b"x" * 200_000)).status_code == 413
        assert (await client.http.request("GET", place, content=b"40")).status_code == 400
        assert (await client.http.request("PUT", place)).status_code == 405
        address = client.http.base_url
        for rest in (b"\r\n", b"Content-Length: 9\r\n\r\n4", b"Transfer-Encoding: chunked\r\n\r\n5\r\n"):
            for verb in (b"GET", b"POST"):
                _, writer = await asyncio.open_connection(address.host, address.port)
                writer.write(verb + b" " + place.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + rest)
                await writer.drain()
                writer.transport.abort()
        assert (await client.http.get("/healthz")).status_code == 200
        async with raw(client):
            pass
    assert not [record for record in caplog.records if record.exc_info or record.levelname == "ERROR"]


async def test_packets_that_wait_count_by_their_size() -> None:
    server = BoundedServer(on_gone=lambda eio_sid: None)
    server.eio.sockets["line"] = line = AsyncSocket(server.eio, "line")
    for text in ("short", "x" * 10 * PACKET_LETTERS):
        line.queue.put_nowait(Packet(MESSAGE, text))
    line.queue.put_nowait(None)
    assert server.waiting_for("line") == 1 + 11 + 1


async def test_few_strangers_wait_at_once_and_each_only_for_some_seconds() -> None:
    server = BoundedServer(on_gone=lambda eio_sid: None)
    for number in range(MOST_STRANGERS):
        assert await server._handle_eio_connect(str(number), {}) is None
    assert await server._handle_eio_connect("one more", {}) is None
    assert server.stranger_count == MOST_STRANGERS and "0" not in server._strangers
    waiting = server._strangers["one more"]
    assert waiting.when() - asyncio.get_running_loop().time() <= SECONDS_TO_SHOW_A_TOKEN
    for number in range(1, MOST_STRANGERS):
        await server._handle_eio_disconnect(str(number), "")
    await server._handle_eio_disconnect("one more", "")
    assert server.stranger_count == 0


async def ask_again_and_again(client: Client, query: str, times: int) -> None:
    """The same request on one connection; whoever asks leaves nothing to the collector either."""
    port = client.http.base_url.port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    asked = f"GET /socket.io/?EIO=4&transport=polling{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    for _ in range(times):
        writer.write(asked)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if b"content-length: " in head:
            await reader.readexactly(int(head.partition(b"content-length: ")[2].split(b"\r\n")[0]))
        else:
            await reader.readuntil(b"0\r\n\r\n")
    writer.close()


@pytest.mark.parametrize("query", ["", "&sid=none"], ids=["handshakes", "lines that are none"])
async def test_requests_of_strangers_leave_nothing_to_the_collector(tmp_path: Path, query: str) -> None:
    async with live_server(tmp_path, require_tokens=True) as client:
        await ask_again_and_again(client, query, 10)
        gc.collect()
        gc.disable()
        try:
            await ask_again_and_again(client, query, MOST_STRANGERS + 200)
            await asyncio.sleep(0.05)
            assert gc.collect() < 200, "less than one thing for each request"
        finally:
            gc.enable()


async def test_a_line_that_is_let_go_waits_for_no_ping(tmp_path: Path) -> None:
    async with live_server(tmp_path, require_tokens=True) as client:
        await ask_again_and_again(client, "", MOST_STRANGERS + 100)
        await asyncio.sleep(0.05)
        assert len(asyncio.all_tasks()) < MOST_STRANGERS + 50


async def test_one_caller_has_a_bounded_number_of_connections(tmp_path: Path) -> None:
    async with live_server(tmp_path, require_tokens=True) as client:
        made = await create_token(client.house, OPERATOR, role="player")
        opened: list[ClientConnection] = []
        address = str(client.http.base_url).rstrip("/").replace("http", "ws") + "/socket.io/?EIO=4&transport=websocket"
        for _ in range(MOST_CONNECTIONS + 1):
            socket = await connect(address)
            await socket.recv()
            await socket.send("40" + json.dumps({"token": made.secret}))
            answer = str(await socket.recv())
            opened.append(socket)
        assert answer.startswith("44") and "Close one of them" in answer
        await opened[0].close()
        await opened[-1].close()
        for socket in opened:
            await socket.close()


async def test_a_client_that_does_not_read_harms_neither_turn_nor_others(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id = await gate_session(client)
        async with raw(client) as lazy, raw(client) as other:
            for socket in (lazy, other):
                await socket.send(f'421["watch", {{"session_id": "{session_id}"}}]')
            frames = await client.turn(session_id, "I knock.")
            assert frames[-1]["type"] == "completed"
            async with asyncio.timeout(120):
                while '"head_moved"' not in str(await other.recv()):
                    pass
