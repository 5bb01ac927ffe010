"""What an owner believes at a turn: of each belief the change that came last on the line."""

from __future__ import annotations

from fabula.ports.memories import Memory, OwnerAt
from fabula.ports.store import Unit
from fabula.recall.beliefs import current

MOST_CHANGES = 200
"""So many of the newest changes of beliefs are looked through."""


async def believed(unit: Unit, owner: OwnerAt) -> list[Memory]:
    """What an owner believes at a turn, what changed last first."""
    return current(await unit.memories.page(owner, kind="belief", limit=MOST_CHANGES))
