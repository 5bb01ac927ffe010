"""The desk of one turn: what its steps work with. It is passed to the loop and never stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from fabula.loops.scene.bundle import Bundle
from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.stage import Stage
from fabula.ports.errors import BackendError, FabulaError
from fabula.ports.models import ModelClients
from fabula.ports.plays import Turn
from fabula.ports.store import Store
from fabula.ports.world import Clock, Ids
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry


@dataclass(frozen=True, kw_only=True)
class Desk:
    """`before` is the state that the turn starts from, `past` the end of the transcript up to there;
    `deadline` is the end of the whole turn; `first_played` says that no model can have been asked for it before.
    """

    turn: Turn
    before: PlayState
    bundle: Bundle
    past: Sequence[MemoryEntry]
    store: Store
    models: ModelClients
    clock: Clock
    ids: Ids
    stage: Stage
    deadline: float
    first_played: bool = False

    def teller(self, play: PlayState, scene: Scene) -> SceneTeller:
        """Who builds the contexts of this turn for a state of it."""
        return SceneTeller(self.bundle, play, scene, self.turn.player_input, self.past)


@contextmanager
def during(step: str) -> Iterator[None]:
    """A failure inside names the step at which the turn failed."""
    try:
        yield
    except FabulaError as error:
        raise BackendError(f"The turn failed at {step}: {error.message}", step=step, **error.data) from error
