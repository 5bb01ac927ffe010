"""Embeds texts with the model of a server that speaks `/v1/embeddings`, chosen by whoever runs Fabula.

Such a server is no more trusted than one of a model: its answers are read to a bound, and what are no vectors is
refused. One that failed, or was silent, is left alone for a while: turns wait for what it says.
"""

from __future__ import annotations

import asyncio
import logging
from importlib import import_module
from typing import Any, Final

import aiohttp

from fabula.adapters.models.address_policy import AddressPolicy
from fabula.adapters.models.session import open_session
from fabula.adapters.models.wire import BadRequest, Wire
from fabula.ports.embedder import Vector
from fabula.ports.errors import BackendError
from fabula.ports.models import ModelError
from fabula.ports.threads import run_in_thread
from fabula.ports.world import Clock

log = logging.getLogger("fabula.memories")

AT_ONCE: Final = 16
"""Texts of one question: with the longest vectors that may be set, an answer has 70,000 values."""
SECONDS: Final = 30.0
SILENT_S: Final = 1.0
"""Whoever waited so long and gave up met a server that is silent; who left sooner had other reasons."""
QUIET_S: Final = 10.0


class ApiEmbedder:
    """One connection pool, opened at the first use. Vectors longer than `dimension` are cut to it."""

    def __init__(self, *, base_url: str, model: str, api_key: str, dimension: int, clock: Clock) -> None:
        self._base_url, self._model, self._key, self._dimension = base_url, model, api_key, dimension
        self._clock, self._not_before = clock, 0.0
        self._session: aiohttp.ClientSession | None = None
        self._opening = asyncio.Lock()

    @property
    def name(self) -> str:
        return f"{self._model}-{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def embeds_words(self) -> bool:
        return False

    async def load(self) -> None:
        await run_in_thread(import_module, "numpy")

    async def embed(self, texts: list[str]) -> list[Vector]:
        said = [text for text in texts if text.strip()]
        vectors: list[Vector] = []
        for start in range(0, len(said), AT_ONCE):
            vectors += await self._ask_unless_quiet(said[start : start + AT_ONCE])
        made = iter(vectors)
        return [next(made) if text.strip() else (0.0,) * self._dimension for text in texts]

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _ask_unless_quiet(self, texts: list[str]) -> list[Vector]:
        began = self._clock.monotonic()
        if began < self._not_before:
            raise _unusable("it failed a moment ago")
        try:
            return await self._ask(texts)
        except (BackendError, asyncio.CancelledError) as error:
            now = self._clock.monotonic()
            if isinstance(error, BackendError) or now - began >= SILENT_S:
                self._leave_alone(now, str(error) or "The embedder does not answer.")
            raise

    def _leave_alone(self, now: float, why: str) -> None:
        """Said once, not by everybody who goes on without it: players could fill the log with questions."""
        if now >= self._not_before:
            log.warning("Memories go without their meaning for a while. %s", why)
        self._not_before = now + QUIET_S

    async def _ask(self, texts: list[str]) -> list[Vector]:
        try:
            async with asyncio.timeout(SECONDS):
                wire = await self._wire()
                answered = await wire.embeddings({"model": self._model, "input": texts})
        except TimeoutError as error:
            raise _unusable("it does not answer") from error
        except BadRequest as error:
            raise _unusable(f"it answered {error.status}") from error
        except ModelError as error:
            raise _unusable(error.message.rstrip(".?")) from error
        return await run_in_thread(self._read, answered, len(texts))

    async def _wire(self) -> Wire:
        # Whoever runs Fabula chose the address, so it may be one of their own network.
        policy = AddressPolicy(allow_private=True)
        async with self._opening:
            if self._session is None:
                self._session = await open_session(policy)
        return Wire(
            session=self._session, policy=policy, base_url=self._base_url, api_key=self._key or None, clock=self._clock
        )

    def _read(self, answered: Any, count: int) -> list[Vector]:
        import numpy

        try:
            rows: list[Any] = sorted(answered["data"], key=lambda row: row["index"])
            vectors = [row["embedding"] for row in rows]
        except (KeyError, TypeError) as error:
            raise _unusable("its answer has another shape") from error
        if len(vectors) != count or not all(isinstance(one, list) and len(one) >= self._dimension for one in vectors):
            raise _unusable(f"it sent no {count} vectors of {self._dimension} numbers")
        vectors = [one[: self._dimension] for one in vectors]
        # Before numpy sees them: beside one long text it would make as much room for every number.
        if not all(type(number) in (float, int) for one in vectors for number in one):
            raise _unusable("its vectors are not made of numbers")
        matrix = numpy.asarray(vectors, dtype=numpy.float64)
        with numpy.errstate(over="ignore", invalid="ignore"):
            lengths = numpy.linalg.norm(matrix, axis=1, keepdims=True)
        if not numpy.isfinite(lengths).all():
            raise _unusable("its vectors hold numbers that are too large")
        lengths[lengths == 0] = 1.0
        return [tuple(row) for row in (matrix / lengths).tolist()]


def _unusable(why: str) -> BackendError:
    return BackendError(f"The embedder cannot be used: {why}. See the settings `embedder_base` and `embedder_model`.")
