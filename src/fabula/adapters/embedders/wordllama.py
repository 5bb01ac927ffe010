"""Embeds texts on this machine with wordllama: small, quick, and without any download."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from pathlib import Path
from typing import Any

from fabula.ports.embedder import Vector
from fabula.ports.threads import run_in_thread

DIMENSION = 256


class WordLlamaEmbedder:
    """The weights that the package brings along, loaded at the first use, in a thread."""

    def __init__(self) -> None:
        self._model: Any = None
        self._loading = asyncio.Lock()

    @property
    def name(self) -> str:
        return f"wordllama-l2-supercat-{DIMENSION}"

    @property
    def dimension(self) -> int:
        return DIMENSION

    @property
    def embeds_words(self) -> bool:
        return True

    async def embed(self, texts: list[str]) -> list[Vector]:
        if not texts:
            return []
        async with self._loading:
            if self._model is None:
                self._model = await asyncio.to_thread(_load)
        return await run_in_thread(_embedded, self._model, texts)

    async def close(self) -> None:
        """There is nothing to let go of."""


def _load() -> Any:
    spec = importlib.util.find_spec("wordllama")
    assert spec is not None and spec.origin is not None, "wordllama is one of Fabula's dependencies"
    # Its own folder as the cache, and no downloads: the default place is empty on a machine without a network.
    package = importlib.import_module("wordllama")
    return package.WordLlama.load(dim=DIMENSION, cache_dir=Path(spec.origin).parent, disable_download=True)


def _embedded(model: Any, texts: list[str]) -> list[Vector]:
    import numpy

    raw = model.embed([text if text.strip() else "." for text in texts], norm=False)
    lengths = numpy.linalg.norm(raw, axis=1, keepdims=True)
    lengths[lengths == 0] = 1.0
    units = (raw / lengths).tolist()
    return [tuple(unit) if text.strip() else (0.0,) * DIMENSION for text, unit in zip(texts, units, strict=True)]
