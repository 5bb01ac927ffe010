"""Caches for functions of texts: lines of a history come again and again, and long ones are not kept for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from hashlib import blake2b
from typing import TypeVar

V = TypeVar("V")


def cached_if_short(*, most: int, longest: int) -> Callable[[Callable[[str], V]], Callable[[str], V]]:
    """Caches what a function computes from a text of at most `longest` letters; at most `most` results are kept."""

    def remembered(make: Callable[[str], V]) -> Callable[[str], V]:
        known = lru_cache(maxsize=most)(make)

        @wraps(make)
        def read(text: str) -> V:
            return known(text) if len(text) <= longest else make(text)

        return read

    return remembered


def cached_by_digest(*, most: int, longest: int) -> Callable[[Callable[[str], V]], Callable[[str], V]]:
    """Caches what a function computes from a text; of one with more than `longest` letters only a digest is kept."""

    def remembered(make: Callable[[str], V]) -> Callable[[str], V]:
        known = lru_cache(maxsize=most)(make)
        of_long = lru_cache(maxsize=most)(lambda asked: make(asked.text))

        @wraps(make)
        def read(text: str) -> V:
            if len(text) <= longest:
                return known(text)
            asked = _LongText(text)
            found: V = of_long(asked)
            asked.text = ""
            return found

        return read

    return remembered


class _LongText:
    """A text that is known by its digest, and is let go when it was read: a cache that keeps this keeps no text."""

    __slots__ = ("_digest", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _LongText) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)
