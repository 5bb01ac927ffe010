"""Remove what is kept of turns that happened long ago, a part at a time."""

from __future__ import annotations

from fabula.actions.house import House

DAY_MS = 24 * 3600 * 1000
PART, MOST_PARTS = 500, 40
"""How much is removed in one unit, and in how many at a time: what is left over waits for the next time."""


async def prune_traces(house: House) -> int:
    """Removes traces that are older than the setting says; answers how many parts and texts that were."""
    before = house.clock.now_ms() - house.settings.trace_days * DAY_MS
    removed = 0
    for _ in range(MOST_PARTS):
        some = await house.store.write(lambda unit: unit.traces.prune(before_ms=before, limit=PART), durable=False)
        removed += some
        if some < PART:
            break
    return removed
