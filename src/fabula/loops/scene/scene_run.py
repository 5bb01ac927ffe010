"""The run of one turn: what its steps work with. It is passed to the loop and never stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.turns.stage import Stage
from fabula.loops.turns.turn_state_cache import TurnStateCache
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
    """Answers that were asked for before the loop came to the steps that need them, by the names of their calls."""

    def __init__(self) -> None:
        self._answers: dict[str, tuple[Parts, asyncio.Future[Piece | ModelReply]]] = {}

    async def send(self, call: str, parts: Parts) -> None:
        """Sends a question, which gets a few turns of the event loop to leave before whoever asked computes on."""
        self._answers[call] = parts, asyncio.ensure_future(anext(parts))
        for _ in range(TURNS_TO_LEAVE):
            await asyncio.sleep(0)

    def take(self, call: str) -> Parts | None:
        """The answer to a call from its beginning, for one reader; None if it was not asked for."""
        answer = self._answers.get(call)
        return None if answer is None else self._read(call, *answer)

    async def _read(self, call: str, parts: Parts, first: asyncio.Future[Piece | ModelReply]) -> Parts:
        yield await first
        async for part in parts:
            yield part
        del self._answers[call]

    async def close(self) -> None:
        """Lets go of what was not read to its end."""
        for parts, first in self._answers.values():
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            await parts.aclose()
        self._answers.clear()


@dataclass(frozen=True, kw_only=True)
class SceneRun:
    """`before` is the state that the turn starts from, `past` the end of the transcript up to there;
    `deadline` is the end of the whole turn; `first_played` says that no model can have been asked for it before;
    `ahead` holds what was asked before its step began.
    """

    turn: Turn
    before: PlayState
    setup: PlaySetup
    past: Sequence[MemoryEntry]
    turn_states: TurnStateCache
    store: Store
    models: ModelClients
    clock: Clock
    ids: Ids
    stage: Stage
    deadline: float
    first_played: bool = False
    ahead: Ahead = field(default_factory=Ahead)

    def teller(self, play: PlayState, scene: Scene) -> SceneTeller:
        """Who builds the contexts of this turn for a state of it."""
        words, index = self.turn.player_input, self.turn.turn_index
        return SceneTeller(self.setup, play, scene, words, self.past, turn_index=index)


@contextmanager
def during(step: str) -> Iterator[None]:
    """A failure inside names the step at which the turn failed."""
    try:
        yield
    except FabulaError as error:
        raise BackendError(
            f"The turn failed at {step}: {error.message}", hint=error.hint, step=step, **error.data
        ) from error
