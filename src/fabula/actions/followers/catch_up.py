"""Have plays summed up whose summaries were left behind: plays from before there were any, or one was dropped."""

from __future__ import annotations

from fabula.actions.followers.dispatch import follower_of
from fabula.actions.house import House
from fabula.ports.plays import Play
from fabula.ports.store import Unit
from fabula.ports.work import Work
from fabula.story.followers import SUMMARY_EVERY

MOST_PLAYS = 500
LEFT_BEHIND = 2 * SUMMARY_EVERY
"""A head that has no summary among so many turns above it was left behind: each part of that length ends with one."""


async def catch_up_summaries(house: House) -> int:
    """Begins the summary of each head that was left behind, of the plays that changed last; answers how many."""
    plays = await house.store.read(lambda unit: unit.plays.recent(limit=MOST_PLAYS))
    begun: list[Work] = []
    for play in plays:
        work = await _catch_up(house, play)
        begun += [] if work is None else [work]
    house.work.announce(*begun)
    return len(begun)


async def _catch_up(house: House, play: Play) -> Work | None:
    async def is_left_behind(unit: Unit) -> bool:
        turn = await unit.plays.turn(play.head_turn_id)
        if turn is None or turn.status != "committed" or turn.turn_index < LEFT_BEHIND:
            return False
        return await unit.plays.nearest_summary(play.head_turn_id, within=LEFT_BEHIND) is None

    if not await house.store.read(is_left_behind):
        return None
    new = follower_of(house, "summary", play.session_id, {"turn_id": play.head_turn_id})
    work = await house.store.write(lambda unit: unit.work.begin(new))
    return work if work.status == "waiting" else None
