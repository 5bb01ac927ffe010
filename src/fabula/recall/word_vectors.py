"""Vectors of single words, kept while the process lives: every question asks for nearly the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabula.ports.embedder import Embedder

MOST_WORDS = 20_000


class WordVectors:
    """Rows of one matrix, by word. When it is full, it begins anew: words that are asked for come back at once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._matrix: Any = None

    async def rows(self, embedder: Embedder, words: Sequence[str]) -> Any:
        """The vectors of these words, as a matrix."""
        import numpy

        new = [word for word in words if word not in self._numbers]
        if len(self._numbers) + len(new) > MOST_WORDS:
            self._numbers, self._matrix, new = {}, None, list(words[:MOST_WORDS])
        if new:
            made = numpy.asarray(await embedder.embed(list(new)), dtype=numpy.float16)
            self._matrix = made if self._matrix is None else numpy.concatenate([self._matrix, made])
            self._numbers |= {word: len(self._numbers) + at for at, word in enumerate(new)}
        if not words:
            return numpy.zeros((0, embedder.dimension), dtype=numpy.float32)
        return self._matrix[[self._numbers[word] for word in words]].astype(numpy.float32)
