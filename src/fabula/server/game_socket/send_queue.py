"""What waits to be sent to a game. A game that does not read loses its connection, and nobody else notices."""

from __future__ import annotations

import asyncio

import orjson

from fabula.server.game_socket.batching_socket import Sending
from fabula.server.game_socket.wire import Problem, ServerMessage, problem

MOST_WAITING = 1000
LARGEST_WAITING = 4 * 1024 * 1024
URGENT = "agent_turn_interrupted"
"""A game waits for this one: it should not wait for anything."""


class SendQueue:
    """Messages in their order. `overflowed` is set when more or larger ones wait than may; the rest is dropped."""

    def __init__(self, sending: Sending) -> None:
        self._sending = sending
        self._waiting: list[str] = []
        self._size = 0
        self._is_sending = False
        self._news = asyncio.Event()
        self.overflowed = asyncio.Event()

    def put(self, message: ServerMessage) -> None:
        if self.overflowed.is_set():
            return
        text = as_text(message)
        self._waiting.append(text)
        self._size += len(text)
        if message["type"] == URGENT and self._left_at_once():
            return
        self._news.set()
        if len(self._waiting) > MOST_WAITING or self._size > LARGEST_WAITING:
            self._taken()
            self.overflowed.set()

    async def send_all(self) -> None:
        """Sends messages as they come, for ever; those that wait leave together."""
        while True:
            await self._news.wait()
            self._news.clear()
            self._is_sending = True
            await self._sending.send_texts(self._taken())
            self._is_sending = False

    def _left_at_once(self) -> bool:
        """Sends all that waits without waiting for a turn of the event loop, if nothing is being sent already."""
        if self._is_sending or not self._sending.send_at_once(self._waiting):
            return False
        self._taken()
        return True

    def _taken(self) -> list[str]:
        waiting, self._waiting, self._size = self._waiting, [], 0
        return waiting


def as_text(message: ServerMessage) -> str:
    """A message as it stands on the wire."""
    return orjson.dumps(message).decode()


def too_slow() -> Problem:
    return problem("busy", f"More than {MOST_WAITING} messages, or long ones, wait to be read. Read faster.")
