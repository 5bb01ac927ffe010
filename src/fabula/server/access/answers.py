"""Answers that wait to be read: who asks for much and reads nothing must not fill the memory of the server.

1. A long answer is handed to its connection in portions, each when the last one was taken. So a request lasts until its
   answer was read, and counts as open for as long (`Places`).
2. The long answers of one caller may weigh so much together; the first one is always given.
3. A connection on which less is read than any line carries is ended (`ReaderWatch`).
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Final

from starlette.types import Message, Scope, Send

from fabula.server.access.refusals import refuse, unread_answers

PORTION: Final = 256 * 1024
HEAVIEST_ANSWERS: Final = 64 * 1024 * 1024
SLOWEST_READER: Final = 1024
"""Bytes a second; asked only of connections that have more waiting than fits into the buffers of both machines."""


class AnswerWeights:
    """What the long answers of each caller weigh that were not read yet."""

    def __init__(self, *, heaviest: int = HEAVIEST_ANSWERS) -> None:
        self._heaviest = heaviest
        self._held: Counter[str] = Counter()

    def take(self, owner: str, weight: int) -> bool:
        """Whether so much more may wait for this caller; then it does."""
        if self._held[owner] and self._held[owner] + weight > self._heaviest:
            return False
        self._held[owner] += weight
        return True

    def give_back(self, owner: str, weight: int) -> None:
        self._held[owner] -= weight
        if not self._held[owner]:
            del self._held[owner]


class PortionedSend:
    """Sends one answer. Nobody counts for whom no `owner` is named: the operator, and strangers, who get little."""

    def __init__(self, send: Send, scope: Scope, weights: AnswerWeights, owner: str | None) -> None:
        self._send, self._scope, self._weights, self._owner = send, scope, weights, owner
        self._weight = 0
        self._refused = False

    async def send(self, message: Message) -> None:
        if self._refused:
            return
        if message["type"] == "http.response.start" and not self._take(_declared_size(message["headers"])):
            self._refused = True
            await refuse(unread_answers(), self._scope, self._send)
        elif message["type"] == "http.response.body" and len(message.get("body", b"")) > PORTION:
            await self._send_in_portions(message)
        else:
            await self._send(message)

    async def _send_in_portions(self, message: Message) -> None:
        whole = message["body"]
        for start in range(0, len(whole), PORTION):
            more = start + PORTION < len(whole) or message.get("more_body", False)
            await self._send({**message, "body": whole[start : start + PORTION], "more_body": more})

    def _take(self, size: int) -> bool:
        if self._owner is None or size <= PORTION:
            return True
        if not self._weights.take(self._owner, size):
            return False
        self._weight = size
        return True

    def end(self) -> None:
        """The answer was read, or nobody reads it any more."""
        if self._owner is not None and self._weight:
            self._weights.give_back(self._owner, self._weight)
            self._weight = 0


class ReaderWatch:
    """Ends a connection on which answers wait and nothing is read. `paused` and `resumed` are told by its transport."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, *, seconds: float) -> None:
        self._transport, self._loop, self._seconds = transport, loop, seconds
        self._waiting = 0
        self._looks: asyncio.TimerHandle | None = None

    def paused(self) -> None:
        if self._looks is None:
            self._look_later()

    def resumed(self) -> None:
        if self._looks is not None:
            self._looks.cancel()
            self._looks = None

    def _look_later(self) -> None:
        self._waiting = unsent_bytes(self._transport)
        self._looks = self._loop.call_later(self._seconds, self._look)

    def _look(self) -> None:
        self._looks = None
        # Nothing is added while the transport is paused: what is less now was read.
        if self._waiting - unsent_bytes(self._transport) < self._seconds * SLOWEST_READER:
            self._transport.abort()
        else:
            self._look_later()


def unsent_bytes(transport: asyncio.Transport) -> int:
    """What the other side has not taken yet, here and in the system, which takes more only when much of it is gone."""
    waiting, connection = transport.get_write_buffer_size(), transport.get_extra_info("socket")
    if sys.platform != "linux" or connection is None or connection.fileno() < 0:
        return waiting
    from fcntl import ioctl
    from termios import TIOCOUTQ

    return waiting + int.from_bytes(ioctl(connection.fileno(), TIOCOUTQ, bytes(4)), sys.byteorder)


def _declared_size(headers: Iterable[tuple[bytes, bytes]]) -> int:
    return next((int(value) for name, value in headers if name.lower() == b"content-length"), 0)
