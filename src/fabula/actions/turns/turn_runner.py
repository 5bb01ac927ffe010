"""Carry a turn out: the scene loop plays it, and whoever listens is told how it really ended, which the store knows.

A turn ends in the store first, in one of three ways: committed by the loop, failed, or cancelled. Only then is its
last frame sent, so that what a client was told is always true.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from fabula.actions.house import House
from fabula.actions.plays.messages import past_of
from fabula.actions.plays.sessions import DELETED, state_at
from fabula.actions.turns.ink_turns import InkTurnStart, ink_run, read_ink_turn_start
from fabula.loops.conversation import is_loaded as knots_are_loaded
from fabula.loops.conversation import knot_player
from fabula.loops.scene import is_loaded, scene_player
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.scene.scene_run import SceneRun
from fabula.loops.turns.running_turns import error_of
from fabula.loops.turns.stage import Stage
from fabula.ports.errors import StoreError
from fabula.ports.plays import Turn, TurnStatus
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry
from fabula.story.values import JsonObject

log = logging.getLogger("fabula.turns")

LEASE_BEYOND_DEADLINE_S = 10
LONGEST_WAIT_S = 30.0
FIRST_RANDOM_SEED = 2**31
"""Seeds from here on were drawn by lot: nobody can have asked a model with them before. Given seeds are smaller."""

INTERRUPTED: JsonObject = {
    "code": 50001,
    "message": "The turn was interrupted and could not be taken up again. Its words are kept; try it again.",
}


@dataclass(frozen=True, kw_only=True)
class TurnStart:
    """What a turn starts from, read in one go: the state, what the session plays, and the end of the transcript."""

    before: PlayState
    setup: PlaySetup
    past: Sequence[MemoryEntry]


def lease(house: House) -> int:
    """A turn cannot outlive its deadline, so neither need its lease."""
    return house.clock.now_ms() + round((house.settings.turn_deadline_s + LEASE_BEYOND_DEADLINE_S) * 1000)


async def start(
    house: House, turn: Turn, turn_start: TurnStart | InkTurnStart | None = None, *, resumed: bool = False
) -> Turn:
    """Starts the work on a turn that this process holds; what it starts from is read when it is not at hand."""
    stage = Stage(await house.bus.open(turn.stream), request_id=turn.request_id, session_id=turn.session_id)
    stage.start()
    house.turns.start(
        turn.turn_id, turn.session_id, run_started_turn(house, turn, stage, turn_start, resumed=resumed), stage=stage
    )
    return turn


async def run_started_turn(
    house: House, turn: Turn, stage: Stage, turn_start: TurnStart | InkTurnStart | None, *, resumed: bool
) -> None:
    """Runs the loop to its end. One that is cancelled is ended by who cancelled it, or resumed at the next start."""
    seconds = house.settings.turn_deadline_s + LEASE_BEYOND_DEADLINE_S / 2
    error = await error_of(_play(house, turn, stage, turn_start, resumed=resumed), seconds=seconds)
    if not stage.ended:
        await settle(house, turn.turn_id, stage, status="failed", error=error or INTERRUPTED)
    await error_of(house.checkpoints.forget(thread(turn)), seconds=seconds)


async def settle(
    house: House, turn_id: str, stage: Stage | None, *, status: TurnStatus, error: JsonObject
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
    house: House, turn_id: str, stage: Stage | None, *, status: TurnStatus, error: JsonObject
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


async def _play(
    house: House, turn: Turn, stage: Stage, turn_start: TurnStart | InkTurnStart | None, *, resumed: bool
) -> None:
    turn_start = turn_start or await house.store.read(lambda unit: read_turn_start(house, unit, turn))
    if not isinstance(turn_start, TurnStart):
        await _play_knots(house, turn, stage, turn_start, resumed=resumed)
        return
    play_scene = scene_player() if is_loaded() else await run_in_thread(scene_player)
    run = _scene_run(house, turn, stage, turn_start, first_played=not resumed and turn.seed >= FIRST_RANDOM_SEED)
    saver = await house.checkpoints.saver()
    if not resumed:
        house.checkpoints.expect_new(thread(turn))
    await play_scene(run, saver, thread_id=thread(turn), resumed=resumed)


async def _play_knots(
    house: House, turn: Turn, stage: Stage, turn_start: InkTurnStart | None, *, resumed: bool
) -> None:
    if turn_start is None:
        assert turn.parent_id is not None
        async with house.store.reading() as unit:
            turn_start = await read_ink_turn_start(house, unit, turn.session_id, turn.parent_id)
    play_knots = knot_player() if knots_are_loaded() else await run_in_thread(knot_player)
    saver = await house.checkpoints.saver()
    if not resumed:
        house.checkpoints.expect_new(thread(turn))
    await play_knots(ink_run(house, turn, stage, turn_start), saver, thread_id=thread(turn), resumed=resumed)


async def read_turn_start(house: House, unit: Unit, turn: Turn) -> TurnStart | None:
    """What a turn starts from; None when its session plays an Ink story, whose turns are prepared otherwise."""
    assert turn.parent_id is not None
    known = house.turn_states.after(turn.parent_id)
    before = await state_at(unit, turn.parent_id) if known is None else known.play
    if before.ink is not None:
        return None
    setup = await house.play_setups.played_by(unit, turn.session_id, before.graph)
    if known is not None and known.lines == setup.told_history:
        return TurnStart(before=before, setup=setup, past=known.past)
    return TurnStart(before=before, setup=setup, past=await past_of(unit, turn.parent_id, setup.told_history))


def _scene_run(house: House, turn: Turn, stage: Stage, turn_start: TurnStart, *, first_played: bool) -> SceneRun:
    return SceneRun(
        turn=turn,
        before=turn_start.before,
        setup=turn_start.setup,
        past=turn_start.past,
        turn_states=house.turn_states,
        store=house.store,
        models=house.models,
        clock=house.clock,
        ids=house.ids,
        stage=stage,
        deadline=house.clock.monotonic() + house.settings.turn_deadline_s,
        first_played=first_played,
    )


def thread(turn: Turn) -> str:
    """The loop's name for a turn."""
    return f"{turn.session_id}:{turn.turn_id}"
