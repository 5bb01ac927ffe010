"""Embeddings: texts as vectors, so that what is meant alike lies close together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]
"""A tuple, or an `array` where many are made: a vector has hundreds of numbers."""


class Embedder(Protocol):
    """Turns texts into vectors.

    Law:
    - `embed` answers one vector per text, in the texts' order, each of `dimension` numbers.
    - Vectors have length one, so that their product is their likeness; an empty text has the zero vector.
    - The same text has the same vector, whatever stands beside it.
    - Texts of like meaning are more alike than texts that have nothing to do with each other.
    - `name` names model and dimension; vectors of different names are never compared.
    - The event loop goes on while it works.
    - `load` gets ready what the first answer needs, and asks nobody. Who does not call it waits for it in `embed`.
    - `embeds_words` says that the words of a whole scene may be asked for at once, in no time that anybody notices.
    - One that cannot answer raises a BackendError: whoever asks goes on without vectors.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def embeds_words(self) -> bool: ...

    async def load(self) -> None: ...

    async def embed(self, texts: list[str]) -> list[Vector]: ...

    async def close(self) -> None: ...
