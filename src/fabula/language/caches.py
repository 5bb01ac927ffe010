"""A cache for functions of short texts: lines of a history come again and again, long texts do not."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
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
