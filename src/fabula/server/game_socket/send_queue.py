"""What waits to be sent to a game. A game that does not read loses its connection, and nobody else notices.

Each connection has a bound, and all connections of a token have one together: many that do not read would fill memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import orjson

from fabula.ports.actors import Actor
from fabula.server.access.answers import AnswerWeights
from fabula.server.game_socket.batching_socket import Sending
from fabula.server.game_socket.wire import Problem, ServerMessage, problem

MOST_WAITING = 1000
LARGEST_WAITING = 4 * 1024 * 1024
URGENT = "agent_turn_interrupted"
"""A game waits for this one: it should not wait for anything."""


class Unread:
    """What a connection has waiting, among all that waits for its token. Nobody counts for strangers, who get little,
    and for the operator."""

    def __init__(self, weights: AnswerWeights, actor: Callable[[], Actor | None]) -> None:
        self._weights, self._actor = weights, actor
        self._weight = 0

    def take(self, size: int) -> bool:
        """Whether so much more may wait; then it does."""
        actor = self._actor()
        if actor is None or actor.token_id is None:
            return True
        if not self._weights.take(actor.token_id, size):
            return False
        self._weight += size
        return True

    def give_back(self, size: int) -> None:
        """So much waits no more; what came before the token was shown did not count."""
        actor, size = self._actor(), min(size, self._weight)
        if size and actor is not None and actor.token_id is not None:
            self._weights.give_back(actor.token_id, size)
            self._weight -= size

    def end(self) -> None:
        """The connection is gone."""
        self.give_back(self._weight)


class SendQueue:
    """Messages in their order. `overflowed` is set when more or larger ones wait than may; the rest is dropped."""

    def __init__(self, sending: Sending, unread: Unread | None = None) -> None:
        self._sending = sending
        self._unread = unread or Unread(AnswerWeights(), lambda: None)
        self._waiting: list[str] = []
        self._size = 0
        self._is_sending = False
        self._is_gone = False
        self._news = asyncio.Event()
        self.overflowed = asyncio.Event()

    def put(self, message: ServerMessage) -> None:
        if self._is_gone or self.overflowed.is_set():
            return
        text = as_text(message)
        self._waiting.append(text)
        self._size += len(text)
        has_room = self._unread.take(len(text))
        if message["type"] == URGENT and self._left_at_once():
            return
        self._news.set()
        if not has_room or len(self._waiting) > MOST_WAITING or self._size > LARGEST_WAITING:
            self._unread.give_back(self._taken()[1])
            self.overflowed.set()

    async def send_all(self) -> None:
        """Sends messages as they come, for ever; those that wait leave together."""
        while True:
            await self._news.wait()
            self._news.clear()
            self._is_sending = True
            texts, size = self._taken()
            await self._sending.send_texts(texts)
            self._unread.give_back(size)
            self._is_sending = False

    def end(self) -> None:
        """The connection is gone, and what waited with it. Its NPCs are interrupted now and still tell so: nobody would
        ever take that away."""
        self._is_gone = True
        self._unread.end()

    def _left_at_once(self) -> bool:
        """Sends all that waits without waiting for a turn of the event loop, if nothing is being sent already."""
        if self._is_sending or not self._sending.send_at_once(self._waiting):
            return False
        self._unread.give_back(self._taken()[1])
        return True

    def _taken(self) -> tuple[list[str], int]:
        """What waits, and its size."""
        taken = self._waiting, self._size
        self._waiting, self._size = [], 0
        return taken


def as_text(message: ServerMessage) -> str:
    """A message as it stands on the wire."""
    return orjson.dumps(message).decode()


def too_slow() -> Problem:
    return problem("busy", f"More than {MOST_WAITING} messages, or long ones, wait to be read. Read faster.")
