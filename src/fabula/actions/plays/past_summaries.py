"""Read the story so far of a line, as far as followers have summed it up."""

from __future__ import annotations

from fabula.ports.store import Unit
from fabula.story.followers import SUMMARY_EVERY
from fabula.story.summaries import StorySoFar

STEPS_UP = 6 * SUMMARY_EVERY
"""How far above a turn its last summary is looked for. A play from before there were any begins its ladder there."""


async def story_so_far(unit: Unit, turn_id: str) -> StorySoFar | None:
    """The ladder at a turn; None where nothing was summed up yet."""
    kept = await unit.plays.nearest_summary(turn_id, within=STEPS_UP)
    return None if kept is None else StorySoFar.model_validate(kept)
