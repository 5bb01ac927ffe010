"""Keeping only what was used last: by key, by the very thing, or by a short text. Several threads may use it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


class Newest(Generic[K, V]):
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


class NewestOf(Generic[T, V]):
    """What was made of things, found by the very thing: comparing two would take as long as making it again."""

    def __init__(self, most: int) -> None:
        self._made: Newest[tuple[int, Hashable], tuple[T, V]] = Newest(most)

    def of(self, thing: T, make: Callable[[], V], *, use: Hashable = None) -> V:
        """What was made of a thing for a use, or is made now."""
        known = self._made.get((id(thing), use))
        if known is None:
            # The thing is kept with it: as long as it is, no other one has its id.
            known = self._made.put((id(thing), use), (thing, make()))
        return known[1]


def remembering_short(*, most: int, longest: int) -> Callable[[Callable[[str], V]], Callable[[str], V]]:
    """What a function makes of texts is remembered, as long as they are short: lines of a history come again."""

    def remembered(make: Callable[[str], V]) -> Callable[[str], V]:
        known = lru_cache(maxsize=most)(make)

        @wraps(make)
        def read(text: str) -> V:
            return known(text) if len(text) <= longest else make(text)

        return read

    return remembered
