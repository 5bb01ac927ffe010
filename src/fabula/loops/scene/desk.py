"""The desk of one turn: what its steps work with. It is passed to the loop and never stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from fabula.loops.scene.bundle import Bundle
from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.stage import Stage
from fabula.loops.scene.standings import Standings
from fabula.ports.errors import BackendError, FabulaError
from fabula.ports.models import ModelClients, ModelReply, Piece
from fabula.ports.plays import Turn
from fabula.ports.store import Store
from fabula.ports.world import Clock, Ids
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry

TURNS_TO_LEAVE = 4

Parts = AsyncGenerator[Piece | ModelReply, None]


class Ahead:
    """An answer that was asked for before the loop came to the step that needs it."""

    def __init__(self, call: str, parts: Parts) -> None:
        self.call = call
        self._parts = parts
        self._first = asyncio.ensure_future(anext(parts))

    async def sent(self) -> None:
        """Gives the question a few turns of the event loop to leave, before whoever asked begins to compute."""
        for _ in range(TURNS_TO_LEAVE):
            await asyncio.sleep(0)

    async def parts(self) -> Parts:
        """The answer from its beginning; for one reader."""
        yield await self._first
        async for part in self._parts:
            yield part

    async def close(self) -> None:
        """Lets go of an answer, whether it was read or not."""
        self._first.cancel()
        await asyncio.gather(self._first, return_exceptions=True)
        await self._parts.aclose()


@dataclass(frozen=True, kw_only=True)
class Desk:
    """`before` is the state that the turn starts from, `past` the end of the transcript up to there;
    `deadline` is the end of the whole turn; `first_played` says that no model can have been asked for it before;
    `ahead` is the answer to the turn's first question, when it was asked before the loop set out.
    """

    turn: Turn
    before: PlayState
    bundle: Bundle
    past: Sequence[MemoryEntry]
    standings: Standings
    store: Store
    models: ModelClients
    clock: Clock
    ids: Ids
    stage: Stage
    deadline: float
    first_played: bool = False
    ahead: Ahead | None = None

    def teller(self, play: PlayState, scene: Scene) -> SceneTeller:
        """Who builds the contexts of this turn for a state of it."""
        words, index = self.turn.player_input, self.turn.turn_index
        return SceneTeller(self.bundle, play, scene, words, self.past, turn_index=index)


@contextmanager
def during(step: str) -> Iterator[None]:
    """A failure inside names the step at which the turn failed."""
    try:
        yield
    except FabulaError as error:
        raise BackendError(f"The turn failed at {step}: {error.message}", step=step, **error.data) from error
