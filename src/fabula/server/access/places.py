"""How much one caller may have open at once, so that nobody takes what is there for all."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Final
from weakref import WeakValueDictionary

from fabula.ports.actors import Actor

MOST_LARGE_AT_ONCE: Final = 4
"""A large answer takes several times its size of memory while it is made."""


class Places:
    """Counts what each token has open: requests, streams, sockets. The operator and admins are not counted."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._taken: Counter[str] = Counter()

    def take(self, actor: Actor | None) -> bool:
        """Whether there is a place left for this caller; then it is taken."""
        if (owner := _counted(actor)) is None:
            return True
        if self._taken[owner] >= self.most:
            return False
        self._taken[owner] += 1
        return True

    def give_back(self, actor: Actor | None) -> None:
        if (owner := _counted(actor)) is not None:
            self._taken[owner] -= 1
            if not self._taken[owner]:
                del self._taken[owner]


def _counted(actor: Actor | None) -> str | None:
    return None if actor is None or actor.may_act_as("admin") else actor.token_id


class LargeAnswers:
    """Lets each caller have a few large answers made at once; the others of the same caller wait for their turn."""

    def __init__(self) -> None:
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def turn_of(self, actor: Actor) -> asyncio.Semaphore:
        """To be entered while a large answer is made; it lives as long as somebody waits with it."""
        owner = actor.token_id or ""
        turn = self._turns.get(owner)
        if turn is None:
            turn = self._turns[owner] = asyncio.Semaphore(MOST_LARGE_AT_ONCE)
        return turn
