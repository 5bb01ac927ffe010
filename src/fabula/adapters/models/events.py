"""Reads a stream of server-sent events as JSON objects, however the bytes were cut on their way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import orjson

DONE = b"[DONE]"
LONGEST_LINE = 8 * 2**20


class NotAnEvent(ValueError):
    """The bytes are no event that can be read."""


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """The events' data, until the stream or its `[DONE]`. Comments and other fields are skipped.

    Each event of a model's stream is one `data:` line, so a line is an event.
    """
    waiting = b""
    async for chunk in chunks:
        *lines, waiting = (waiting + chunk).split(b"\n")
        if len(waiting) > LONGEST_LINE:
            raise NotAnEvent("an event is too long")
        for line in lines:
            data = data_of(line)
            if data == DONE:
                return
            if data:
                yield _decoded(data)
    last = data_of(waiting)
    if last and last != DONE:
        yield _decoded(last)


def data_of(line: bytes) -> bytes:
    """What a line carries; nothing for comments, blanks and other fields."""
    return line[5:].strip() if line.startswith(b"data:") else b""


def _decoded(data: bytes) -> dict[str, Any]:
    try:
        event = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise NotAnEvent("an event is no JSON") from None
    if not isinstance(event, dict):
        raise NotAnEvent("an event is no JSON object")
    return event
