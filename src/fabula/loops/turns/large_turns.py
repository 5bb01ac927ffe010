"""How many turns of large states are played at once, in the order in which they came.

Each has its state many times over while it runs: in checkpoints, contexts and prompts.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(eq=False)
class _Waiting:
    size: int
    entered: asyncio.Future[None]


class LargeTurns:
    """So many turns `at_once`, whose states have so many bytes together. A state of more is played alone."""

    def __init__(self, *, at_once: int, most_bytes: int) -> None:
        self._places, self._bytes = at_once, most_bytes
        self._most_bytes = most_bytes
        self._waiting: deque[_Waiting] = deque()

    @asynccontextmanager
    async def turn_of(self, size: int) -> AsyncIterator[None]:
        """To be entered for a turn that begins at a state of so many bytes."""
        size = min(size, self._most_bytes)
        one = _Waiting(size, asyncio.get_running_loop().create_future())
        self._waiting.append(one)
        self._let_in()
        try:
            await one.entered
            yield
        finally:
            self._leave(one)

    def _let_in(self) -> None:
        # Nobody passes the first one: small ones would keep a large one waiting for ever.
        while self._waiting and self._places and self._waiting[0].size <= self._bytes:
            one = self._waiting.popleft()
            self._places -= 1
            self._bytes -= one.size
            if not one.entered.done():
                one.entered.set_result(None)

    def _leave(self, one: _Waiting) -> None:
        if one in self._waiting:
            self._waiting.remove(one)
        else:
            self._places += 1
            self._bytes += one.size
        self._let_in()
