"""Carry a turn out: the loop of its kind plays it, and listeners are told how it really ended, which the store knows.

A turn ends in the store first, in one of three ways: committed by the loop, failed, or cancelled. Only then is its
last frame sent, so that what a client was told is always true.
"""

from __future__ import annotations

import logging

from fabula.actions.house import House
from fabula.actions.plays.kinds.protocol import TurnStart
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import known_state
from fabula.actions.plays.sessions import DELETED
from fabula.loops.turns.running_turns import error_of
from fabula.loops.turns.stage import Stage
from fabula.ports.errors import Interrupted, StoreError
from fabula.ports.plays import Turn, TurnStatus
from fabula.ports.store import Unit
from fabula.story.error_values import ErrorValue, Hint
from fabula.story.values import JsonObject

log = logging.getLogger("fabula.turns")

LEASE_BEYOND_DEADLINE_S = 10
LONGEST_WAIT_S = 30.0

INTERRUPTED = Interrupted(
    "The turn was interrupted and could not be taken up again. Its words are kept.", hint=Hint.RETRY_TURN
).value()


def lease(house: House) -> int:
    """A turn cannot outlive its deadline, so neither need its lease."""
    return house.clock.now_ms() + round((house.settings.turn_deadline_s + LEASE_BEYOND_DEADLINE_S) * 1000)


async def start(house: House, turn: Turn, turn_start: TurnStart | None = None, *, resumed: bool = False) -> Turn:
    """Starts the work on a turn that this process holds; what it starts from is read when it is not at hand."""
    stage = Stage(await house.bus.open(turn.stream))
    stage.start()
    house.turns.start(
        turn.turn_id, turn.session_id, run_started_turn(house, turn, stage, turn_start, resumed=resumed), stage=stage
    )
    return turn


async def run_started_turn(
    house: House, turn: Turn, stage: Stage, turn_start: TurnStart | None, *, resumed: bool
) -> None:
    """Runs the loop to its end. One that is cancelled is ended by who cancelled it, or resumed at the next start."""
    seconds = house.settings.turn_deadline_s + LEASE_BEYOND_DEADLINE_S / 2
    error = await error_of(_play(house, turn, stage, turn_start, resumed=resumed), seconds=seconds)
    if not stage.ended:
        await settle(house, turn.turn_id, stage, status="failed", error=error or INTERRUPTED)
    await error_of(house.checkpoints.forget(thread(turn)), seconds=seconds)


async def settle(
    house: House, turn_id: str, stage: Stage | None, *, status: TurnStatus, error: ErrorValue
) -> Turn | None:
    """Ends a turn that has not ended yet, tells listeners how it ended, and answers it; None when it is gone.

    While the store cannot be written, the turn stays in flight: nobody is told what is not true yet.
    """
    wait = 0.5
    while True:
        try:
            return await _settle(house, turn_id, stage, status=status, error=error)
        except StoreError as failure:
            log.warning("The turn %s could not be ended yet: %s", turn_id, failure.message)
        await house.clock.sleep(wait)
        wait = min(LONGEST_WAIT_S, 2 * wait)


async def _settle(
    house: House, turn_id: str, stage: Stage | None, *, status: TurnStatus, error: ErrorValue
) -> Turn | None:
    async def end(unit: Unit) -> tuple[Turn | None, JsonObject | None]:
        await unit.plays.fail(turn_id, status=status, error=error)
        return await unit.plays.turn(turn_id), await unit.plays.result(turn_id)

    turn, result = await house.store.write(end)
    if stage is None:
        pass
    elif turn is None:
        stage.fail(DELETED)
    elif turn.status == "committed":
        stage.complete(result or {})
    else:
        stage.fail(turn.error or error)
    return turn


async def _play(house: House, turn: Turn, stage: Stage, turn_start: TurnStart | None, *, resumed: bool) -> None:
    turn_start = turn_start or await _read_start(house, turn)
    saver = await house.checkpoints.saver()
    if not resumed:
        house.checkpoints.expect_new(thread(turn))
    await turn_start.play(house, turn, stage, saver, thread_id=thread(turn), resumed=resumed)


async def _read_start(house: House, turn: Turn) -> TurnStart:
    assert turn.parent_id is not None
    async with house.store.reading() as unit:
        before = await known_state(house, unit, turn.parent_id)
        return await kind_of_play(before).read_start(house, unit, turn, before)


def thread(turn: Turn) -> str:
    """The loop's name for a turn."""
    return f"{turn.session_id}:{turn.turn_id}"
