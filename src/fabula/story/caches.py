"""Caches that keep what was used last: by key, or by the identity of the thing. Several threads may use them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


class LastUsed(Generic[K, V]):
    """At most `most` values; whoever was not asked for longest goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._alone = Lock()

    def get(self, key: K) -> V | None:
        """The value, which now counts as used, or None."""
        with self._alone:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: K, value: V) -> V:
        """Keeps a value, and lets go of the one that was not used longest."""
        with self._alone:
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return value

    def __len__(self) -> int:
        return len(self._kept)


class IdentityCache(Generic[T, V]):
    """Cache keyed by identity, because comparing two keys costs as much as computing the value."""

    def __init__(self, most: int) -> None:
        self._made: LastUsed[tuple[int, Hashable], tuple[T, V]] = LastUsed(most)

    def of(self, thing: T, make: Callable[[], V], *, use: Hashable = None) -> V:
        """What was made of a thing for a use, or is made now."""
        known = self._made.get((id(thing), use))
        if known is None:
            # The thing is kept with it: as long as it is, no other one has its id.
            known = self._made.put((id(thing), use), (thing, make()))
        return known[1]
