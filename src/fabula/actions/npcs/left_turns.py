"""Settle the turns of NPCs that a killed process left open, of which the game will never speak.

A turn is kept before its game hears of it. If the process dies in between, no game confirms it, and what was said of it
is lost; what happened to the NPC is not: the turn is settled as unconfirmed, with nothing played. A game that knows it
may still give its word, which replaces that.
"""

from __future__ import annotations

from functools import partial

from fabula.actions.house import House
from fabula.ports.npcs import LeftTurn
from fabula.ports.store import Unit

LONGEST_TURN_MS = 3600 * 1000
"""A turn that another process still plays may be settled early without harm: its own end replaces that."""
AT_ONCE = 200


async def settle_left_turns(house: House, *, opened_at_ms: int) -> int:
    """Settles turns from before this process opened, and those that are older than any turn; answers how many."""
    before, settled = max(opened_at_ms, house.clock.now_ms() - LONGEST_TURN_MS), 0
    while True:
        left = await house.store.read(lambda unit: unit.npcs.left_open(begun_before_ms=before, limit=AT_ONCE))
        if left:
            await house.store.write(partial(_settle_all, left))
        settled += len(left)
        if len(left) < AT_ONCE:
            return settled


async def _settle_all(left: list[LeftTurn], unit: Unit) -> None:
    for turn in left:
        await unit.npcs.settle(turn.npc, turn_id=turn.turn_id, played=[], confirmed=False)
