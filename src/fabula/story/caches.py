"""A cache by the identity of a thing. For one thread alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from cachetools import LRUCache

V = TypeVar("V")
T = TypeVar("T")


class IdentityCache(Generic[T, V]):
    """Cache keyed by identity, because comparing two keys costs as much as computing the value."""

    def __init__(self, most: int) -> None:
        self._made: LRUCache[tuple[int, Hashable], tuple[T, V]] = LRUCache(most)

    def has(self, thing: T, *, use: Hashable = None) -> bool:
        """Whether something was made of a thing."""
        return (id(thing), use) in self._made

    def get(self, thing: T, *, use: Hashable = None) -> V | None:
        """What was made of a thing, if it was."""
        known = self._made.get((id(thing), use))
        return None if known is None else known[1]

    def put(self, thing: T, made: V, *, use: Hashable = None) -> None:
        """Keeps what was made of a thing elsewhere, such as in a thread."""
        self._made[id(thing), use] = (thing, made)

    def of(self, thing: T, make: Callable[[], V], *, use: Hashable = None) -> V:
        """What was made of a thing for a use, or is made now."""
        known = self._made.get((id(thing), use))
        if known is None:
            # The thing is kept with it: as long as it is, no other one has its id.
            known = self._made[id(thing), use] = (thing, make())
        return known[1]
