"""The desk of one turn: what its steps work with. It is passed to the loop and never stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fabula.loops.scene.bundle import Bundle
from fabula.loops.scene.stage import Stage
from fabula.ports.errors import BackendError, FabulaError
from fabula.ports.models import ModelClients
from fabula.ports.plays import Turn
from fabula.ports.store import Store
from fabula.ports.world import Clock, Ids
from fabula.story.plays import PlayState


@dataclass(frozen=True, kw_only=True)
class Desk:
    """`before` is the state that the turn starts from; `deadline` is the end of the whole turn."""

    turn: Turn
    before: PlayState
    bundle: Bundle
    store: Store
    models: ModelClients
    clock: Clock
    ids: Ids
    stage: Stage
    deadline: float


@contextmanager
def during(step: str) -> Iterator[None]:
    """A failure inside names the step at which the turn failed."""
    try:
        yield
    except FabulaError as error:
        raise BackendError(f"The turn failed at {step}: {error.message}", step=step, **error.data) from error
