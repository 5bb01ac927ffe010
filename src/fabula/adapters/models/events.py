"""Reads a stream of server-sent events as JSON objects, however the bytes were cut on their way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import orjson

DONE = b"[DONE]"
LONGEST_LINE = 2 * 2**20
SHORT_LINE = 64 * 1024
"""In a longer one values are counted before they are decoded."""
MOST_VALUES = 100_000
MOST_SILENT_LINES = 10_000
"""Blanks and comments between two events; servers send one now and then, to keep a connection open."""


class NotAnEvent(ValueError):
    """The bytes are no event that can be read."""


class EventReader:
    """Makes events of bytes. Comments and other fields are skipped; after `[DONE]` (`done`) nothing counts.

    Each event of a model's stream is one `data:` line, so a line is an event.
    """

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._size = self._silent = 0
        self.done = False

    def feed(self, chunk: bytes) -> Iterator[dict[str, Any]]:
        """The data of the events that these bytes end; raises NotAnEvent at the first that cannot be read."""
        if b"\n" not in chunk:
            # Pieces of one line are joined once, when it ends: a line of many pieces would be copied as often.
            self._wait(chunk)
            return iter(())
        *lines, last = b"".join([*self._waiting, chunk]).split(b"\n")
        self._waiting, self._size = [], 0
        self._wait(last)
        return self._read(lines)

    def close(self) -> Iterator[dict[str, Any]]:
        """What the stream leaves behind that ends without the end of a line."""
        last, self._waiting = b"".join(self._waiting), []
        return self._read([last])

    def _wait(self, piece: bytes) -> None:
        self._waiting.append(piece)
        self._size += len(piece)
        if self._size > LONGEST_LINE:
            raise NotAnEvent("an event is too long")

    def _read(self, lines: list[bytes]) -> Iterator[dict[str, Any]]:
        for line in lines:
            # Comments, blanks and other fields carry nothing.
            data = line[5:].strip() if line.startswith(b"data:") and not self.done else b""
            if not data:
                self._silent += 1
                if self._silent > MOST_SILENT_LINES:
                    raise NotAnEvent("lines that are no events do not end")
            elif data == DONE:
                self._silent, self.done = 0, True
            else:
                self._silent = 0
                yield _decoded(data)


def has_many_values(data: bytes) -> bool:
    """Whether a JSON text has more values than any answer; marks within texts count, too, and are far fewer there."""
    return data.count(b",") + data.count(b"[") + data.count(b"{") > MOST_VALUES


def _decoded(data: bytes) -> dict[str, Any]:
    if len(data) > SHORT_LINE and has_many_values(data):
        raise NotAnEvent("an event has too many values")
    try:
        event = orjson.loads(data)
    except orjson.JSONDecodeError:
        event = _decoded_with_halves(data)
    if not isinstance(event, dict):
        raise NotAnEvent("an event is no JSON object")
    return event


def _decoded_with_halves(data: bytes) -> Any:
    """An event in which half a character stands, because the other half or its last bytes come with the next one."""
    if len(data) > SHORT_LINE:
        raise NotAnEvent("an event is no JSON")
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise NotAnEvent("an event is no JSON") from None
