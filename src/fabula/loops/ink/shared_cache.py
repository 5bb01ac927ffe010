"""Caches that the event loop and threads share: long saves of a story are loaded in threads."""

from __future__ import annotations

from collections.abc import Collection
from threading import Lock
from typing import Final, Generic, TypeVar

from cachetools import LRUCache

K = TypeVar("K")
V = TypeVar("V")

PLACES_KEPT: Final = 512
PLACES_LETTERS: Final = 2_000_000
"""The saves of all places that are kept have so many letters together. One that is loaded takes up to fifteen bytes for
each of them."""


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


class PlaceCache(Generic[V]):
    """What was made of saves, for all stories together: those used last, so many and so long together.

    `owner` is whose save it is: the same text means another place in another story.
    """

    def __init__(self, *, kept: int = PLACES_KEPT, letters: int = PLACES_LETTERS) -> None:
        self._least, self._most = letters // kept, letters
        self._kept: LRUCache[tuple[object, str], tuple[int, V]] = LRUCache(letters, getsizeof=lambda pair: pair[0])
        self._lock = Lock()

    def get(self, owner: object, save: str) -> V | None:
        with self._lock:
            found = self._kept.get((owner, save))
        return None if found is None else found[1]

    def put(self, owner: object, save: str, value: V) -> V:
        weight = min(self._most, max(self._least, len(save)))
        with self._lock:
            self._kept[owner, save] = (weight, value)
        return value

    def keep_only(self, owners: Collection[object]) -> None:
        """Lets everything of others go."""
        with self._lock:
            for key in [key for key in self._kept if key[0] not in owners]:
                del self._kept[key]
