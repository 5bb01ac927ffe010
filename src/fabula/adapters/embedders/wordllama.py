"""Embeds texts on this machine with wordllama: small, quick, and without any download."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from fabula.ports.embedder import Vector
from fabula.ports.threads import run_in_thread

DIMENSION = 256
BATCH = 256
"""So many texts at once: the words of a few scenes."""
LETTERS_AT_ONCE = 32_000
"""The texts of a batch are made as long as its longest, and each letter may take three kilobytes meanwhile."""
FEW, FEW_LETTERS = 8, 500
"""So little, as a question, is embedded sooner than a thread is woken: in a twentieth of a millisecond."""


class WordLlamaEmbedder:
    """The weights that the package brings along, loaded in a thread, at the first use if nobody asked for it before."""

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

    async def load(self) -> None:
        async with self._loading:
            if self._model is None:
                self._model = await asyncio.to_thread(load_weights)

    async def embed(self, texts: list[str]) -> list[Vector]:
        if not texts:
            return []
        await self.load()
        if len(texts) <= FEW and sum(map(len, texts)) <= FEW_LETTERS:
            return _embedded(self._model, texts)
        return await run_in_thread(_embedded, self._model, texts)

    async def close(self) -> None:
        """There is nothing to let go of."""


@cache
def load_weights() -> Any:
    """One copy for all houses of a process: 31 MB that nobody writes to, and a tenth of a second to load."""
    spec = importlib.util.find_spec("wordllama")
    assert spec is not None and spec.origin is not None, "wordllama is one of Fabula's dependencies"
    # Its own folder as the cache, and no downloads: the default place is empty on a machine without a network.
    with _log_left_alone():
        package = importlib.import_module("wordllama")
    model = package.WordLlama.load(dim=DIMENSION, cache_dir=Path(spec.origin).parent, disable_download=True)
    # The first text costs seven times what others do.
    _embedded(model, ["."])
    return model


@contextmanager
def _log_left_alone() -> Iterator[None]:
    """The package sets the log up for itself when it is imported, and whoever sets it up later is not heard."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def _embedded(model: Any, texts: list[str]) -> list[Vector]:
    import numpy

    batches = batches_of([text if text.strip() else "." for text in texts])
    raw = numpy.concatenate([model.embed(batch, norm=False, batch_size=BATCH) for batch in batches])
    lengths = numpy.linalg.norm(raw, axis=1, keepdims=True)
    lengths[lengths == 0] = 1.0
    units = (raw / lengths).astype(numpy.float32)
    units[[not text.strip() for text in texts]] = 0.0
    # Arrays: as tuples the numbers would cost four times what they take to be found.
    return [array("f", unit.tobytes()) for unit in units]


def batches_of(texts: Sequence[str]) -> Iterator[list[str]]:
    """Texts in their order, so many at once as have room."""
    batch: list[str] = []
    longest = 0
    for text in texts:
        longest = max(longest, len(text))
        if batch and (len(batch) == BATCH or longest * (len(batch) + 1) > LETTERS_AT_ONCE):
            yield batch
            batch, longest = [], len(text)
        batch.append(text)
    if batch:
        yield batch
