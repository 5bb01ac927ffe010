"""Tend turns: what a process left behind when it died is taken up again, and what was lost to another is let go.

1. At the start, `resume_turns` takes up the turns of dead processes, at the node they were in.
2. From then on `recover_turns` looks every few seconds: a turn whose process on another machine died is taken up
   when its lease has passed; a turn that was cancelled, deleted or taken over elsewhere is stopped here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import KINDS
from fabula.actions.turns.turn_runner import lease, settle, start, thread
from fabula.actions.work.owners import is_dead
from fabula.loops.turns.running_turns import RunningTurn, Work, error_of, stop
from fabula.ports.errors import Interrupted, TakenOver
from fabula.ports.plays import Turn
from fabula.ports.threads import run_in_thread
from fabula.story.error_values import Hint

log = logging.getLogger("fabula.turns")

TEND_EVERY_S = 2.0
MOST_ATTEMPTS = 5
SURELY_STARTED_MS = 30_000

WORN_OUT = Interrupted(
    f"The server stopped {MOST_ATTEMPTS} times during this turn. Its words are kept.", hint=Hint.RETRY_TURN
).value()
TAKEN_OVER = TakenOver("Another server goes on with this turn. Read the session again in a moment.").value()


async def warm_up(house: House) -> None:
    """Loads what the first turn needs, so that no player waits for it."""
    for kind in KINDS:
        await run_in_thread(kind.load)
    await house.checkpoints.saver()


async def resume_turns(house: House) -> int:
    """Takes up the turns that a process left behind when it died; answers how many."""
    if not _left_behind(house, await house.store.read(lambda unit: unit.plays.running())):
        return 0
    async with house.store.writing() as unit:
        found = _left_behind(house, await unit.plays.running())
        held = [await unit.plays.hold(turn.turn_id, owner=house.owner, lease_until_ms=lease(house)) for turn in found]
    for turn in held:
        if turn is not None:
            await _take_up(house, turn)
    return len(held)


async def recover_turns(house: House) -> None:
    """Looks after the turns for as long as the house is open."""
    look: Callable[[House], Work] = _first_look
    while True:
        await house.clock.sleep(TEND_EVERY_S)
        error = await error_of(look(house), seconds=house.settings.turn_deadline_s)
        if error is not None:
            log.warning("The turns could not be looked after: %s", error.message)
        look = _look


async def _first_look(house: House) -> None:
    await sweep_checkpoints(house)
    await _look(house)


async def _look(house: House) -> None:
    await release_lost(house)
    await resume_turns(house)


async def release_lost(house: House) -> None:
    """Stops the turns that run here although they have ended, or are another's."""
    mine = {id: here for id in house.turns.ids() if (here := house.turns.find(id)) and here.stage is not None}
    if not mine:
        return
    running = {turn.turn_id: turn for turn in await house.store.read(lambda unit: unit.plays.running())}
    for turn_id, here in mine.items():
        turn = running.get(turn_id)
        if not (here.stage is None or here.stage.ended) and (turn is None or turn.owner != house.owner):
            await _let_go(house, turn_id, here, turn)


async def sweep_checkpoints(house: House) -> int:
    """Removes what finished turns left in the loops' memory when their process was killed; answers how many."""
    threads = {name for name in await house.checkpoints.threads() if ":turn_" in name}
    async with house.store.reading() as unit:
        threads -= {thread(turn) for turn in await unit.plays.running()}
    for name in threads:
        await house.checkpoints.forget(name)
    return len(threads)


async def _let_go(house: House, turn_id: str, here: RunningTurn, turn: Turn | None) -> None:
    await stop(here)
    if turn is None:
        await settle(house, turn_id, here.stage, status="cancelled", error=TAKEN_OVER)
    elif here.stage is not None:
        here.stage.fail(TAKEN_OVER)


async def _take_up(house: House, turn: Turn) -> None:
    if turn.attempt > MOST_ATTEMPTS:
        await settle(house, turn.turn_id, None, status="failed", error=WORN_OUT)
        await house.checkpoints.forget(thread(turn))
    else:
        await start(house, turn, resumed=True)


def _left_behind(house: House, turns: list[Turn]) -> list[Turn]:
    now = house.clock.now_ms()
    dead = {owner for owner in {turn.owner for turn in turns} if is_dead(owner, seen_by=house.owner)}
    return [
        turn
        for turn in turns
        if house.turns.find(turn.turn_id) is None
        and (
            turn.owner in dead
            or turn.lease_until_ms < now
            or (turn.owner == house.owner and turn.created_at_ms < now - SURELY_STARTED_MS)
        )
    ]
