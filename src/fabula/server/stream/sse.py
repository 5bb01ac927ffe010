"""Server-sent events, byte by byte: LF line ends, an empty line after every event, ids from which a client resumes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from fabula.ports.bus import Frame

KEEP_ALIVE_S = 15.0
HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}


def event(name: str, data: bytes, *, id: str | None = None) -> bytes:
    """One event; data is JSON on one line."""
    head = b"" if id is None else b"id: " + id.encode() + b"\n"
    return head + b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


async def frames(stream: str, source: AsyncGenerator[Frame, None], *, first: bytes = b"") -> AsyncIterator[bytes]:
    """A turn's frames as events; frames that wait are sent together, and a comment keeps quiet lines open."""
    if first:
        yield first
    reading: asyncio.Task[Frame] | None = None
    try:
        while True:
            reading = reading or asyncio.ensure_future(anext(source))
            done, _ = await asyncio.wait([reading], timeout=KEEP_ALIVE_S)
            if not done:
                yield b": still here\n\n"
                continue
            try:
                frame = reading.result()
            except StopAsyncIteration:
                return
            reading = None
            yield event("message", frame.data, id=f"{stream}:{frame.sequence}")
            if frame.last:
                return
    finally:
        if reading is not None:
            reading.cancel()
            # A generator can only be closed when nobody waits inside it any more.
            await asyncio.wait([reading])
        await source.aclose()
