"""A queue in which each caller has one place: who asks for much at once has nobody wait but themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fabula.actions.work.one_at_a_time import OneAtATime
from fabula.ports.actors import Actor


class CallerQueue:
    """Lets in so many `at_once`, in the order in which they came; of each caller one."""

    def __init__(self, *, at_once: int = 1) -> None:
        self._places = OneAtATime()
        self._inside = asyncio.Semaphore(at_once)

    @asynccontextmanager
    async def turn_of(self, actor: Actor) -> AsyncIterator[None]:
        """To be entered for one piece of work."""
        async with self.place_of(actor.token_id):
            yield

    @asynccontextmanager
    async def place_of(self, token_id: str | None) -> AsyncIterator[None]:
        """The same for whoever has this token."""
        async with self._places.alone(token_id or ""), self._inside:
            yield
