"""A cache that the event loop and threads share: long saves of a story are loaded in threads."""

from __future__ import annotations

from threading import Lock
from typing import Generic, TypeVar

from cachetools import LRUCache

K = TypeVar("K")
V = TypeVar("V")


class SharedCache(Generic[K, V]):
    """Keeps the values that were used last."""

    def __init__(self, most: int) -> None:
        self._kept: LRUCache[K, V] = LRUCache(most)
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            return self._kept.get(key)

    def put(self, key: K, value: V) -> V:
        with self._lock:
            self._kept[key] = value
        return value
