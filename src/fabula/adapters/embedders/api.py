"""Embeds texts with the model of a server that speaks `/v1/embeddings`, chosen by whoever runs Fabula."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, Final

import aiohttp

from fabula.ports.embedder import Vector
from fabula.ports.errors import BackendError

AT_ONCE: Final = 64
SECONDS: Final = 30.0
LARGEST_ANSWER: Final = 64 * 2**20


class ApiEmbedder:
    """One connection pool, opened at the first use. Vectors longer than `dimension` are cut to it."""

    def __init__(self, *, base_url: str, model: str, api_key: str, dimension: int) -> None:
        self._address = f"{base_url.rstrip('/')}/embeddings"
        self._model, self._key, self._dimension = model, api_key, dimension
        self._session: aiohttp.ClientSession | None = None

    @property
    def name(self) -> str:
        return f"{self._model}-{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def embeds_words(self) -> bool:
        return False

    async def embed(self, texts: list[str]) -> list[Vector]:
        said = [text for text in texts if text.strip()]
        vectors: list[Vector] = []
        for start in range(0, len(said), AT_ONCE):
            vectors += await self._ask(said[start : start + AT_ONCE])
        made = iter(vectors)
        return [next(made) if text.strip() else (0.0,) * self._dimension for text in texts]

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _ask(self, texts: list[str]) -> list[Vector]:
        if self._session is None:
            certificates = await asyncio.to_thread(ssl.create_default_context)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=certificates), timeout=aiohttp.ClientTimeout(total=SECONDS)
            )
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        body = {"model": self._model, "input": texts}
        try:
            async with self._session.post(self._address, json=body, headers=headers, allow_redirects=False) as answer:
                raw = await answer.content.read(LARGEST_ANSWER)
                if answer.status != 200:
                    raise _unusable(f"it answered {answer.status}")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _unusable(f"it did not answer ({type(error).__name__})") from error
        return await asyncio.to_thread(self._read, raw, len(texts))

    def _read(self, raw: bytes, count: int) -> list[Vector]:
        import numpy
        import orjson

        try:
            rows: list[Any] = sorted(orjson.loads(raw)["data"], key=lambda row: row["index"])
            matrix = numpy.asarray([row["embedding"] for row in rows], dtype=numpy.float32)
        except (ValueError, KeyError, TypeError) as error:
            raise _unusable("its answer has another shape") from error
        if matrix.ndim != 2 or len(matrix) != count or matrix.shape[1] < self._dimension:
            raise _unusable(f"it sent no {count} vectors of {self._dimension} numbers")
        matrix = matrix[:, : self._dimension]
        lengths = numpy.linalg.norm(matrix, axis=1, keepdims=True)
        lengths[lengths == 0] = 1.0
        return [tuple(row) for row in (matrix / lengths).tolist()]


def _unusable(why: str) -> BackendError:
    return BackendError(f"The embedder cannot be used: {why}. See the settings `embedder_base` and `embedder_model`.")
