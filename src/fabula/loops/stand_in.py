"""The stand-in: when a model fails, the understudy plays its part for the rest of the turn, if the preset says so.

A preset says so with `agents.director.extra.on_model_failure = "understudy"`. What a player has read of an answer
cannot be taken back: an answer that breaks off in the middle fails the turn as before.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

from fabula.loops.turns.stage import Stage
from fabula.ports.models import (
    Found,
    GuardedModel,
    ModelClients,
    ModelError,
    ModelList,
    ModelReply,
    ModelRequest,
    ModelUnusable,
    Piece,
)
from fabula.ports.world import Clock
from fabula.story.events import AgentDegraded
from fabula.story.resources import Api, Preset

UNDERSTUDY = "understudy"
SECONDS_FOR_THE_UNDERSTUDY = 4.0
"""A model may have used up all the time of the turn; rules need hardly any."""


def wants_stand_in(preset: Preset) -> bool:
    """Whether a preset lets the understudy step in for a model that fails."""
    extra = preset.agents.director.extra
    return isinstance(extra, dict) and extra.get("on_model_failure") == UNDERSTUDY


class StandInModels:
    """The models of one turn. After the first failure nobody waits for a model again in this turn."""

    def __init__(self, models: ModelClients, understudy: Api, *, stage: Stage, clock: Clock) -> None:
        self._models, self._understudy, self._stage, self._clock = models, understudy, stage, clock
        self.stepped_in = False

    async def load(self) -> None:
        await self._models.load()

    async def client_for(self, api: Api, *, api_revision: int | None = None) -> GuardedModel:
        understudy = await self._models.client_for(self._understudy)
        if self.stepped_in or api.provider == UNDERSTUDY:
            return understudy
        try:
            model = await self._models.client_for(api, api_revision=api_revision)
        except ModelError as error:
            self.step_in("its model", error)
            return understudy
        return _StandIn(self, model, understudy)

    async def client_with(self, api: Api, *, api_key: str) -> GuardedModel:
        return await self._models.client_with(api, api_key=api_key)

    async def detect(self) -> list[Found]:
        return await self._models.detect()

    def forget(self, api_id: str) -> None:
        self._models.forget(api_id)

    @property
    def calls_under_way(self) -> int:
        return self._models.calls_under_way

    async def settle(self) -> None:
        await self._models.settle()

    def unrecorded_tokens(self, session_id: str) -> int:
        return self._models.unrecorded_tokens(session_id)

    async def list_models(self, *, provider: str, base_url: str, api_key: str) -> ModelList:
        return await self._models.list_models(provider=provider, base_url=base_url, api_key=api_key)

    async def close(self) -> None:
        """The models belong to the house."""

    def step_in(self, agent: str, error: ModelError) -> None:
        if not self.stepped_in:
            self.stepped_in = True
            reason = f"its model failed: {error.message}"
            self._stage.tell(AgentDegraded(agent=agent, reason=reason, stand_in=UNDERSTUDY))

    def in_time(self, request: ModelRequest) -> ModelRequest:
        """The request with time enough for the understudy."""
        return replace(request, deadline=max(request.deadline, self._clock.monotonic() + SECONDS_FOR_THE_UNDERSTUDY))


class _StandIn:
    """A model, and the understudy behind it."""

    def __init__(self, turn: StandInModels, model: GuardedModel, understudy: GuardedModel) -> None:
        self._turn, self._model, self._understudy = turn, model, understudy

    @property
    def fingerprint(self) -> str:
        return self._model.fingerprint

    async def stream_to(self, request: ModelRequest, tell: Callable[[Piece], None]) -> ModelReply:
        told = False

        def noted(piece: Piece) -> None:
            nonlocal told
            told = True
            tell(piece)

        if not self._turn.stepped_in:
            try:
                return await self._model.stream_to(request, noted)
            except ModelError as error:
                if told or _can_be_repaired(request, error):
                    raise
                self._turn.step_in(request.origin.agent, error)
        return await self._understudy.stream_to(self._turn.in_time(request), tell)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece | ModelReply, None]:
        pieces: list[Piece] = []
        reply = await self.stream_to(request, pieces.append)
        for piece in pieces:
            yield piece
        yield reply

    async def close(self) -> None:
        """Both belong to the house."""


def _can_be_repaired(request: ModelRequest, error: ModelError) -> bool:
    """Whether who asked can make something of the answer: one that is not of the asked shape is asked for again."""
    return isinstance(error, ModelUnusable) and request.output_schema is not None
