"""Sockets on which messages leave together and frames come in small portions.

All that waits for a game is one write: with five NPCs speaking in a game, several pieces are at hand at once, and
writing costs more than any of them does. What a game sends is read in portions with a turn of the event loop between
them: one read brings tens of thousands of empty frames, and everybody else would wait while they are taken apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final, Protocol

from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request

from fabula.server.access.answers import ReaderWatch
from fabula.server.access.http_protocol import answer_at_once

_EXTENSION = "fabula.gathered"
_GONE = 1006
PORTION: Final = 8 * 1024
MOST_FRAGMENTS: Final = 256
MOST_CONTROL_FRAMES: Final = 1000
"""Pings and pongs between two messages; the server's own pings, answered for hours, stay far below."""
_NO_HANDSHAKE: Final = "This is no handshake of a WebSocket. Send a GET without a body."


class Sending(Protocol):
    """How texts leave. `send_at_once` does not wait: it answers False, and sends nothing, when it would have to."""

    async def send_texts(self, texts: Sequence[str]) -> None: ...

    def send_at_once(self, texts: Sequence[str]) -> bool: ...


class BatchingWebSocket(WebSocketsSansIOProtocol):
    """The server's socket protocol, which can also send several texts at once, and bounds what costs before it counts.

    Messages are counted by whoever reads them (`Pace`). Fragments and pings never get there: too many of them close
    the connection.
    """

    seconds_for_slow_readers = 30.0

    _fragments = 0
    _control_frames = 0
    _readers: ReaderWatch | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._unread = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._readers = ReaderWatch(self.transport, self.loop, seconds=self.seconds_for_slow_readers)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._readers is not None:
            self._readers.resumed()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        # Also what was written before a goodbye is waited for no longer than this: closing waits for ever.
        if self._readers is not None:
            self._readers.paused()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._readers is not None:
            self._readers.resumed()

    def data_received(self, data: bytes) -> None:
        if not self.handshake_initiated:
            # The request comes whole, from the protocol that read it before us.
            super().data_received(data)
            if not self.handshake_initiated:
                self._refuse_handshake()
            return
        if not self._unread and len(data) <= PORTION:
            super().data_received(data)
            return
        is_reading = bool(self._unread)
        self._unread += data
        if not is_reading:
            self._read_portion()

    def _read_portion(self) -> None:
        if self.disconnected or self.transport.is_closing():
            self._unread.clear()
            return
        portion = bytes(self._unread[:PORTION])
        del self._unread[:PORTION]
        super().data_received(portion)
        if self._unread:
            self._pause()
            self.loop.call_soon(self._read_portion)
        elif self.queue.empty():
            self._resume()

    def _pause(self) -> None:
        if not self.read_paused and not self.transport.is_closing():
            self.read_paused = True
            self.transport.pause_reading()

    def _resume(self) -> None:
        if self.read_paused and not self.transport.is_closing():
            self.read_paused = False
            self.transport.resume_reading()

    def _refuse_handshake(self) -> None:
        """Ends a connection whose request is no handshake: it has a body, or lines that are too long.

        The original says nothing and waits for ever, and anybody may open such connections.
        """
        self.handshake_complete = self.close_sent = True
        self.transport.write(b"".join(self.conn.data_to_send()) or answer_at_once(400, _NO_HANDSHAKE))
        self.transport.close()

    async def receive(self) -> Any:
        message = await self.queue.get()
        if self.queue.empty() and not self._unread:
            self._resume()
        return message

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            # A handshake that was answered with a refusal is over; the original calls it a failure of the app.
            self.handshake_complete = True

    def handle_cont(self, event: Frame) -> None:
        self._fragments += 1
        if self._fragments > MOST_FRAGMENTS:
            self._refuse(f"A message may have {MOST_FRAGMENTS} fragments.")
        else:
            super().handle_cont(event)

    def handle_ping(self) -> None:
        if self._allows_control_frame():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        if self._allows_control_frame():
            super().handle_pong(event)

    def _allows_control_frame(self) -> bool:
        self._control_frames += 1
        if self._control_frames > MOST_CONTROL_FRAMES:
            self._refuse(f"Send at most {MOST_CONTROL_FRAMES} pings between two messages.")
            return False
        return True

    def send_receive_event_to_app(self) -> None:
        self._fragments = self._control_frames = 0
        if self.curr_msg_data_type == "text" and not _is_text(b"".join(self.frames)):
            # The original writes a traceback into the log, for everybody as often as they like.
            self._refuse("A text must be UTF-8.", CloseCode.INVALID_DATA)
        else:
            super().send_receive_event_to_app()

    def _refuse(self, why: str, code: CloseCode = CloseCode.POLICY_VIOLATION) -> None:
        if self.close_sent or self.transport.is_closing():
            return
        self._unread.clear()
        self.frames = []
        self.close_sent = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": why})
        self.conn.fail(code, why)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.transport.close()

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        scope = getattr(self, "scope", None)
        if scope is not None:
            scope["extensions"][_EXTENSION] = self

    async def send_texts(self, texts: Sequence[str]) -> None:
        """Sends texts in their order; raises WebSocketDisconnect when nobody is there any more."""
        await self.writable.wait()
        if not self._sent(texts):
            raise WebSocketDisconnect(_GONE)

    def send_at_once(self, texts: Sequence[str]) -> bool:
        return self.writable.is_set() and self._sent(texts)

    def _sent(self, texts: Sequence[str]) -> bool:
        if self.disconnected or self.close_sent:
            return False
        try:
            for text in texts:
                self.conn.send_text(text.encode())
        except InvalidState:
            return False
        self.transport.write(b"".join(self.conn.data_to_send()))
        return True


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


class OneByOne:
    """Texts on the socket of any other server."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def send_texts(self, texts: Sequence[str]) -> None:
        for text in texts:
            await self._socket.send_text(text)

    def send_at_once(self, texts: Sequence[str]) -> bool:
        return False


def sending_on(socket: WebSocket) -> Sending:
    """How texts are sent on a socket: together where its server knows how, otherwise one by one."""
    gathered: Sending | None = socket.scope.get("extensions", {}).get(_EXTENSION)
    return gathered or OneByOne(socket)
