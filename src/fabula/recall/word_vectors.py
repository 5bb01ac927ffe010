"""Vectors of single words, kept while the process lives: every question asks for nearly the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fabula.ports.embedder import Embedder

MOST_WORDS = 20_000


class _Table(NamedTuple):
    """Rows of a matrix, by word."""

    numbers: Mapping[str, int]
    matrix: Any


_EMPTY = _Table({}, None)


class WordVectors:
    """One table of words. When it is full, it begins anew: words that are asked for come back at once."""

    def __init__(self) -> None:
        self._table = _EMPTY

    async def rows(self, embedder: Embedder, words: Sequence[str]) -> Any:
        """The vectors of these words, as a matrix."""
        import numpy

        if not words:
            return numpy.zeros((0, embedder.dimension), dtype=numpy.float32)
        # Tables are never changed: while this one waits for vectors, others may replace it.
        known = self._table
        new = [word for word in dict.fromkeys(words) if word not in known.numbers]
        if len(known.numbers) + len(new) > MOST_WORDS:
            known, new = _EMPTY, list(dict.fromkeys(words))
        if new:
            made = numpy.asarray(await embedder.embed(new), dtype=numpy.float16)
            matrix = made if known.matrix is None else numpy.concatenate([known.matrix, made])
            first = len(known.numbers)
            known = _Table({**known.numbers, **{word: first + at for at, word in enumerate(new)}}, matrix)
            if len(known.numbers) <= MOST_WORDS:
                self._table = known
        return known.matrix[[known.numbers[word] for word in words]].astype(numpy.float32)
