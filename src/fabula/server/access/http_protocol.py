"""HTTP connections with bounds that hold before anybody is asked who they are.

The guard sees a request when its headers are complete. Until then a stranger could send headers without end, or none at
all, and hold memory and connections. So a connection is closed, with a sentence, when

1. the headers of a request are too many or too large (431),
2. its headers are not complete within some seconds (408),
3. more requests wait on it than any client sends at once (429),
4. its body comes in very many chunks of a few bytes each,
5. its body comes more slowly than any line is (408),
6. so many are open that files of the server itself could not be opened any more,
7. answers wait on it and are not read.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from fabula.ports.throttle import Throttle
from fabula.server.access.answers import ReaderWatch

log = logging.getLogger("fabula.access")

MOST_HEADERS: Final = 100
LARGEST_HEADERS: Final = 32 * 1024
MOST_WAITING: Final = 64
MOST_SMALL_CHUNKS: Final = 1_000
SMALL_CHUNK: Final = 64
"""A body in very many chunks of a few bytes each costs far more time than it brings bytes."""
SLOWEST_BODY: Final = 1024
"""Bytes a second, from its beginning on."""
LINES_A_MINUTE: Final = 20
SPARE_FILES: Final = 128
"""Files that the server itself may open; connections take the others."""
_SECONDS_TO_READ_THE_ANSWER: Final = 1.0

_TOO_LARGE = f"The headers of a request may be {MOST_HEADERS} and {LARGEST_HEADERS // 1024} KiB in all. Send fewer."
_TOO_SLOW = "The headers of this request did not arrive in time. Send it again."
_TOO_SMALL = f"The chunks of this body are smaller than {SMALL_CHUNK} bytes. Send fewer and larger ones."
_TOO_MANY = f"More than {MOST_WAITING} requests wait on this connection. Wait for answers before sending more."


_TOO_SLOW_BODY = f"The body of this request comes with less than {SLOWEST_BODY} bytes a second. Send it faster."


class FewWarnings(logging.Filter):
    """Passes on a few warnings a minute: anybody can cause as many as they like. Errors are always told."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        super().__init__()
        self._lines = Throttle(monotonic, LINES_A_MINUTE)

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno != logging.WARNING or self._lines.allows()


_connections_log = logging.getLogger("fabula.access.connections")
_connections_log.addFilter(FewWarnings(time.monotonic))


@cache
def room_for_connections() -> int:
    """How many connections may be open, so that some files can still be opened."""
    if sys.platform == "win32":
        return 1_000_000
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1_000_000 if files == resource.RLIM_INFINITY else max(files - SPARE_FILES, files // 2)


class _OutOfBoundsError(Exception):
    """Stops the parser; the connection has been answered."""


class BoundedHttp(HttpToolsProtocol):
    """One connection. `_unread` counts bytes since the parser last understood something whole."""

    seconds_for_headers = 20.0
    seconds_for_slow_bodies = 30.0
    seconds_for_slow_readers = 30.0
    most_connections: int | None = None
    files_each = 1

    _unread = 0
    _header_count = 0
    _header_bytes = 0
    _chunk_count = 0
    _chunk_bytes = 0
    _refused = False
    _waits_for_headers: asyncio.TimerHandle | None = None
    _waits_for_body: asyncio.TimerHandle | None = None
    _body_began: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._owed: list[RequestResponseCycle] = []
        super().connection_made(transport)
        self._readers = ReaderWatch(transport, self.loop, seconds=self.seconds_for_slow_readers)
        self.logger = _connections_log
        if len(self.connections) > (self.most_connections or room_for_connections()) // self.files_each:
            transport.abort()
            return
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        self._expect_no_body()
        self._readers.resumed()
        self._tell_all()
        super().connection_lost(exc)
        self._leave_nothing()

    def _leave_nothing(self) -> None:
        """Lets go of all that would keep this connection in memory: anybody may open and reset thousands a second.

        uvicorn forgets the timer only of a connection that was closed in order, and requests that wait behind another
        one never: each is a circle, which would wait for the collector.
        """
        self._unset_keepalive_if_required()
        for cycle, _ in self.pipeline:
            cycle.on_response = _nothing
        self.pipeline.clear()
        self._owed.clear()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._readers.paused()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._readers.resumed()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._unread += len(data)
        super().data_received(data)
        if self._refused or self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        if self._unread > LARGEST_HEADERS:
            # One header without an end: the parser tells nobody about it before it ends. Trailers count, too.
            self._refuse(431, _TOO_LARGE)
        elif self._is_idle() and self._waits_for_headers is None:
            self._expect_headers()
        elif self._body_began is not None and self._waits_for_body is None:
            self._expect_body()

    def send_400_response(self, msg: str) -> None:
        if not self._refused:
            super().send_400_response(msg)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._header_count = self._header_bytes = self._chunk_count = self._chunk_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_count += 1
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._unread = 0
        self._expect_nothing()
        super().on_headers_complete()
        self._body_began = self.loop.time()
        self._owed = [*(cycle for cycle in self._owed if not cycle.response_complete), self.cycle]
        if len(self.pipeline) > MOST_WAITING:
            self._refuse(429, _TOO_MANY)
            raise _OutOfBoundsError

    def on_chunk_header(self) -> None:
        self._chunk_count += 1
        if self._chunk_count > MOST_SMALL_CHUNKS and self._chunk_bytes < self._chunk_count * SMALL_CHUNK:
            self._refuse(400, _TOO_SMALL)
            raise _OutOfBoundsError

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        self._chunk_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        self._expect_no_body()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._expect_nothing()
        self._expect_no_body()
        if not self._is_idle():
            # The answers that are still owed would be written between the frames.
            self._refused = True
            self._leave()
            return
        super().handle_websocket_upgrade()

    def _count(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > LARGEST_HEADERS or self._header_count > MOST_HEADERS:
            self._refuse(431, _TOO_LARGE)
            raise _OutOfBoundsError

    def _is_idle(self) -> bool:
        """Whether no answer is owed, so that nothing but the headers of the next request can be waited for.

        The time that a connection may rest between two requests ends with the first byte, whatever that byte is.
        """
        return (self.cycle is None or self.cycle.response_complete) and not self.pipeline

    def _expect_headers(self) -> None:
        self._waits_for_headers = self.loop.call_later(self.seconds_for_headers, self._give_up)

    def _expect_nothing(self) -> None:
        if self._waits_for_headers is not None:
            self._waits_for_headers.cancel()
            self._waits_for_headers = None

    def _expect_body(self) -> None:
        self._waits_for_body = self.loop.call_later(self.seconds_for_slow_bodies, self._look_at_body)

    def _expect_no_body(self) -> None:
        self._body_began = None
        if self._waits_for_body is not None:
            self._waits_for_body.cancel()
            self._waits_for_body = None

    def _look_at_body(self) -> None:
        self._waits_for_body = None
        if self._body_began is None or self._refused:
            return
        waited = self.loop.time() - self._body_began
        # Where reading is paused the server is the slow one.
        if self._chunk_bytes < waited * SLOWEST_BODY and not self.flow.read_paused:
            self._refuse(408, _TOO_SLOW_BODY)
        else:
            self._expect_body()

    def _give_up(self) -> None:
        self._waits_for_headers = None
        if self._is_idle():
            self._refuse(408, _TOO_SLOW)

    def _refuse(self, status: int, sentence: str) -> None:
        self._refused = True
        self._expect_nothing()
        # Not told unless asked for: anybody can cause as many of these lines as they like.
        log.debug("a connection was closed before its request was whole", extra={"facts": {"status": status}})
        if not self._is_idle() or self.transport.is_closing():
            self._leave()
            return
        self.transport.write(answer_at_once(status, sentence))
        # Closing at once would reset the connection of a client that still sends, and the answer would be lost.
        self.loop.call_later(_SECONDS_TO_READ_THE_ANSWER, self.transport.close)

    def _leave(self) -> None:
        self._tell_all()
        self.transport.abort()

    def _tell_all(self) -> None:
        """Tells whoever writes an answer that nobody reads it; uvicorn tells only the last of several requests."""
        for cycle in self._owed:
            cycle.disconnected = True
            cycle.message_event.set()


def _nothing() -> None:
    """What follows the answer to a request that is never answered."""


class SiblingHttp(BoundedHttp):
    """A connection to one of several processes of a port: what it asks for may be passed on, over one more file."""

    files_each = 2


def answer_at_once(status: int, sentence: str) -> bytes:
    """A refusal that the protocol itself gives; nothing follows on its connection."""
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
        "content-type: text/plain; charset=utf-8\r\n"
        f"content-length: {len(sentence)}\r\n"
        "x-content-type-options: nosniff\r\n"
        "connection: close\r\n\r\n"
    )
    return (head + sentence).encode("ascii")
