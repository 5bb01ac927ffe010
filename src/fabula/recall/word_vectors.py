"""Vectors of single words, kept while the process lives: every question asks for nearly the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabula.ports.embedder import Embedder, Vector

MOST_WORDS = 40_000
"""In half precision: 20 MB of 256 numbers each."""
FIRST_SIZE = 1_024


class WordVectors:
    """One table of words. When it is full, another one is begun: words that are asked for come back at once."""

    def __init__(self) -> None:
        self._table = _Table()

    async def look_up(self, embedder: Embedder, text: str, words: Sequence[str]) -> tuple[Vector, Any]:
        """The vector of a text, and those of words as a matrix. New words are asked for in one call with the text."""
        table = self._table
        new = table.unknown(words)
        if len(table.numbers) + len(new) > MOST_WORDS:
            # Whoever waits for vectors at the moment goes on with the old one.
            table = self._table = _Table()
            new = table.unknown(words)
        vector, *made = await embedder.embed([text, *new])
        table.add(new, made)
        return vector, table.rows(words)


class _Table:
    """Rows of a matrix, by word. It grows by half of what it has, so that a new word does not copy all others."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.matrix: Any = None

    def unknown(self, words: Sequence[str]) -> list[str]:
        # A question asks for some thousand words, and mostly all are known.
        new = set(words).difference(self.numbers)
        return [word for word in dict.fromkeys(words) if word in new] if new else []

    def add(self, words: Sequence[str], vectors: Sequence[Vector]) -> None:
        """Adds words; one that somebody else added meanwhile is written again, with the same numbers."""
        import numpy

        if not words:
            return
        for word in words:
            self.numbers.setdefault(word, len(self.numbers))
        made = numpy.asarray(vectors, dtype=numpy.float32)
        kept = 0 if self.matrix is None else len(self.matrix)
        if len(self.numbers) > kept:
            larger = numpy.empty((max(FIRST_SIZE, len(self.numbers) * 3 // 2), made.shape[1]), dtype=numpy.float16)
            if kept:
                larger[:kept] = self.matrix
            self.matrix = larger
        self.matrix[[self.numbers[word] for word in words]] = made

    def rows(self, words: Sequence[str]) -> Any:
        import numpy

        if not words:
            return self.matrix[:0]
        return self.matrix.take(list(map(self.numbers.__getitem__, words)), axis=0).astype(numpy.float32)
