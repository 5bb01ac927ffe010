"""What waits to be sent to a game. A game that does not read loses its connection, and nobody else notices."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

import orjson

from fabula.story.game_messages import Problem, Told

MOST_WAITING = 1000


class Outbox:
    """Messages in their order. `overflowed` is set when more wait than may; the rest is dropped."""

    def __init__(self) -> None:
        self._waiting: deque[Told] = deque()
        self._news = asyncio.Event()
        self.overflowed = asyncio.Event()

    def put(self, message: Told) -> None:
        if self.overflowed.is_set():
            return
        self._waiting.append(message)
        self._news.set()
        if len(self._waiting) > MOST_WAITING:
            self._waiting.clear()
            self.overflowed.set()

    async def send_all(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Sends messages as they come, for ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._waiting:
                await send(written(self._waiting.popleft()))


def written(message: Told) -> str:
    """A message as it stands on the wire."""
    return orjson.dumps(message.frame()).decode()


def too_slow() -> Problem:
    return Problem(
        code="busy", message=f"More than {MOST_WAITING} messages wait to be read. Read faster, then connect again."
    )
