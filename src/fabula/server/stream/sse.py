"""Server-sent events, byte by byte: LF line ends, an empty line after every event, ids from which a client resumes."""

from __future__ import annotations

import asyncio

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from fabula.actions.turns.watch_turn import TurnFrames, frame_id
from fabula.ports.meters import STREAMS_OPEN, Meters
from fabula.server.stream.envelope import Envelope

KEEP_ALIVE_S = 15.0
STILL_HERE = b": still here\n\n"
MOST_WAITING = 256 * 1024
"""So many bytes at most wait for a client that reads slowly; other frames wait where they come from."""
HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}


def event(name: str, data: bytes, *, id: str | None = None) -> bytes:
    """One event; data is JSON on one line."""
    head = b"" if id is None else b"id: " + id.encode() + b"\n"
    return head + b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


class FrameStream(Response):
    """A turn's frames as events, until the last one or until the client leaves; a comment keeps quiet lines open.

    Three things go on at once for as long as a turn takes: frames are taken from their source, what was taken is
    written, and the client is watched. Frames come several at a time, and each write costs more than all their bytes.
    """

    media_type = "text/event-stream"

    def __init__(
        self, stream: str, envelope: Envelope, source: TurnFrames, *, meters: Meters | None = None, first: bytes = b""
    ) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._stream, self._envelope, self._source, self._first = stream, envelope, source, first
        self._meters = meters or Meters()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        self._meters.add(STREAMS_OPEN)
        writer = _Writer(send, self._first)
        tasks = [asyncio.ensure_future(one) for one in (self._take(writer), writer.write(), left(receive))]
        taking, writing, watching = tasks
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if taking.done():
                await taking
                await asyncio.wait([writing, watching], return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                await writing
        finally:
            self._meters.add(STREAMS_OPEN, amount=-1)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await self._source.aclose()

    async def _take(self, writer: _Writer) -> None:
        """Gives the writer every frame up to the last one."""
        async for frame in self._source:
            data = self._envelope.message(frame.sequence, frame.event)
            id = frame_id(self._stream, frame.sequence, last=frame.last)
            writer.add(event("message", data, id=id))
            if writer.is_full:
                await writer.wait_for_room()
            if frame.last:
                break
        writer.end()


async def left(receive: Receive) -> None:
    """Returns when the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


class _Writer:
    """Writes what waits in one piece, and a comment whenever nothing was written for a while."""

    def __init__(self, send: Send, first: bytes) -> None:
        self._send = send
        self._waiting, self._size = [first] if first else [], len(first)
        self._ended = False
        self._room = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._wrote_at = self._loop.time()
        # Set while there is nothing to write: a future is all that one task needs to wait for another.
        self._news: asyncio.Future[None] | None = None

    @property
    def is_full(self) -> bool:
        """Whether the client is far behind."""
        return self._size > MOST_WAITING

    async def wait_for_room(self) -> None:
        """Waits while the client is far behind."""
        while self.is_full:
            self._room.clear()
            await self._room.wait()

    def add(self, body: bytes) -> None:
        """Has bytes written."""
        self._waiting.append(body)
        self._size += len(body)
        self._wake()

    def end(self) -> None:
        """Nothing follows."""
        self._ended = True
        self._wake()

    async def write(self) -> None:
        """Writes to the end."""
        self._silence = self._loop.call_later(KEEP_ALIVE_S, self._break_silence)
        try:
            has_ended = False
            while not has_ended:
                if not (self._waiting or self._ended):
                    self._news = self._loop.create_future()
                    await self._news
                has_ended = self._ended
                await self._send({"type": "http.response.body", "body": self._taken(), "more_body": not has_ended})
        finally:
            self._silence.cancel()

    def _taken(self) -> bytes:
        body, self._waiting, self._size = b"".join(self._waiting), [], 0
        self._room.set()
        self._wrote_at = self._loop.time()
        return body

    def _break_silence(self) -> None:
        now = self._loop.time()
        if self._wrote_at + KEEP_ALIVE_S <= now:
            self._wrote_at = now
            self.add(STILL_HERE)
        self._silence = self._loop.call_at(self._wrote_at + KEEP_ALIVE_S, self._break_silence)

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)
