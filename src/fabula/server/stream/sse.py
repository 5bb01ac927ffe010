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
HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}


def event(name: str, data: bytes, *, id: str | None = None) -> bytes:
    """One event; data is JSON on one line."""
    head = b"" if id is None else b"id: " + id.encode() + b"\n"
    return head + b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


class FrameStream(Response):
    """A turn's frames as events, until the last one or until the client leaves; a comment keeps quiet lines open.

    Three things go on at once for as long as a turn takes: frames are passed on, the client is watched, silence is
    measured. Each is one task or timer for the whole stream, so that a frame costs little more than its bytes.
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
        speaker = _Speaker(send, self._stream, self._envelope)
        speaking = asyncio.ensure_future(speaker.speak(self._source, self._first))
        watching = asyncio.ensure_future(left(receive))
        try:
            await asyncio.wait([speaking, watching], return_when=asyncio.FIRST_COMPLETED)
            if speaking.done():
                await speaking
        finally:
            self._meters.add(STREAMS_OPEN, amount=-1)
            speaking.cancel()
            watching.cancel()
            await asyncio.wait([speaking, watching])
            await self._source.aclose()


async def left(receive: Receive) -> None:
    """Returns when the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


class _Speaker:
    """Sends frames, and a comment whenever nothing was sent for a while."""

    def __init__(self, send: Send, stream: str, envelope: Envelope) -> None:
        self._send, self._stream, self._envelope = send, stream, envelope
        self._now = asyncio.get_running_loop().time
        self._spoke_at = self._now()

    async def speak(self, source: TurnFrames, first: bytes) -> None:
        if first:
            await self._say(first)
        silence = asyncio.ensure_future(self._break_silence())
        try:
            async for frame in source:
                data = self._envelope.message(frame.sequence, frame.event)
                id = frame_id(self._stream, frame.sequence, last=frame.last)
                await self._say(event("message", data, id=id))
                if frame.last:
                    break
        finally:
            silence.cancel()
            await asyncio.wait([silence])
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _say(self, body: bytes) -> None:
        self._spoke_at = self._now()
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def _break_silence(self) -> None:
        while True:
            rest = self._spoke_at + KEEP_ALIVE_S - self._now()
            if rest > 0:
                await asyncio.sleep(rest)
            else:
                await self._say(STILL_HERE)
