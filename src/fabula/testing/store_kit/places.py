"""Where a kit finds stores: one place, on which any number of stores can be opened."""

from __future__ import annotations

from typing import Protocol

from fabula.ports.store import Store
from fabula.ports.world import Clock


class StorePlace(Protocol):
    """A place that holds one store's content."""

    def store(self, clock: Clock) -> Store:
        """A store on this place, not yet opened."""
        ...

    def store_with_key(self, clock: Clock, secret_key: str) -> Store:
        """As `store`, with secrets under this key."""
        ...

    async def bytes_at_rest(self) -> bytes:
        """All that an intruder could read of the closed store: the raw bytes of its secrets, at least."""
        ...
