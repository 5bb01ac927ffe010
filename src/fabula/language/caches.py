"""Caches for functions of texts: lines of a history come again and again, and long ones are not kept for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from hashlib import blake2b
from threading import Lock
from typing import TypeVar

from cachetools import LRUCache

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
        of_long: LRUCache[bytes, V] = LRUCache(most)
        lock = Lock()

        @wraps(make)
        def read(text: str) -> V:
            if len(text) <= longest:
                return known(text)
            digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            with lock:
                found = of_long.get(digest)
            if found is None:
                found = make(text)
                with lock:
                    of_long[digest] = found
            return found

        return read

    return remembered
