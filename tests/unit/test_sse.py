"""Frames as server-sent events: their bytes, their end, a client that leaves, and lines that stay quiet."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fabula.actions.turns.watch_turn import TurnFrames
from fabula.ports.bus import Frame
from fabula.server.stream import sse
from fabula.server.stream.envelope import Envelope
from fabula.story.events import Completed, Started, TurnFrame

ENVELOPE = Envelope(request_id="7", session_id="session_1")


class Client:
    """The far end of a response: what it got, and when it leaves."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.leaves = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.messages.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages)


class Source:
    """Frames, and whether their reader has let go of them."""

    def __init__(self, *events: TurnFrame, ends: bool = True) -> None:
        self._events, self._ends, self.closed = events, ends, False

    async def frames(self) -> TurnFrames:
        try:
            for number, event in enumerate(self._events):
                yield Frame(sequence=number, event=event, last=self._ends and number == len(self._events) - 1)
            await asyncio.Event().wait()
        finally:
            self.closed = True


async def test_every_frame_is_an_event_with_an_id_and_the_last_one_ends_the_stream() -> None:
    client, source = Client(), Source(Started(), Completed(result={"n": 1}))
    response = sse.FrameStream("turn_1", ENVELOPE, source.frames(), first=sse.event("ack", b"{}"))
    await response({}, client.receive, client.send)
    head = b'{"message_type":"stream","request_id":"7","session_id":"session_1","sequence":'
    assert client.body == (
        b"event: ack\ndata: {}\n\n"
        b"id: turn_1:0\nevent: message\ndata: " + head + b'0,"frame":{"type":"started"}}\n\n'
        b"id: turn_1:1:last\nevent: message\ndata: " + head + b'1,"frame":{"type":"completed",'
        b'"response":{"type":"turn_completed","result":{"n":1}}}}\n\n'
    )
    headers = dict(client.messages[0]["headers"])
    assert headers[b"content-type"].startswith(b"text/event-stream") and b"content-length" not in headers
    assert client.messages[-1]["more_body"] is False and source.closed


async def test_a_client_that_leaves_ends_its_response_and_nothing_else() -> None:
    client, source = Client(), Source(Started(), ends=False)
    responding = asyncio.create_task(
        sse.FrameStream("turn_1", ENVELOPE, source.frames())({}, client.receive, client.send)
    )
    while not client.body:
        await asyncio.sleep(0)
    client.leaves.set()
    await asyncio.wait_for(responding, 120)
    assert source.closed and client.body.count(b"event: message") == 1


async def test_a_quiet_line_is_kept_open_with_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "KEEP_ALIVE_S", 0.01)
    client, source = Client(), Source(Started(), ends=False)
    responding = asyncio.create_task(
        sse.FrameStream("turn_1", ENVELOPE, source.frames())({}, client.receive, client.send)
    )
    while client.body.count(b": still here\n\n") < 3:
        await asyncio.sleep(0.005)
    client.leaves.set()
    await asyncio.wait_for(responding, 120)
    assert client.body.startswith(b"id: turn_1:0\n")


async def test_a_client_that_breaks_ends_its_response_with_the_reason() -> None:
    client, source = Client(), Source(Started(), ends=False)

    async def broken(message: Any) -> None:
        if message["type"] == "http.response.body":
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await sse.FrameStream("turn_1", ENVELOPE, source.frames())({}, client.receive, broken)
    assert source.closed
