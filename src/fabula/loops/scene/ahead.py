"""Asking ahead: a turn's first question goes out before the loop sets out, which reaches its step while a model thinks.

Nothing up to the first question is decided by a model, so what will be asked is known at once. It is worked out on an
empty stage; the loop then plays the same steps with the audience there. Only turns that begin ask ahead: a resumed one
finds its answer in the memo.
"""

from __future__ import annotations

from dataclasses import replace

from fabula.loops.scene.asking import asked, attempt, schema_of
from fabula.loops.scene.desk import Ahead, Desk
from fabula.loops.scene.keeping import keeper_call
from fabula.loops.scene.resolve import first_keeper, move_on, record_input, scene_here
from fabula.loops.scene.stage import EmptyStage
from fabula.loops.scene.swift import SWIFT_CALL
from fabula.ports.errors import FabulaError


async def ask_ahead(desk: Desk) -> Ahead | None:
    """The answer to the turn's first question, on its way; None if it cannot be asked, which its step will tell."""
    unheard = replace(desk, stage=EmptyStage())
    try:
        ahead = await (_whole_turn(unheard) if desk.bundle.swift else _first_keeper(unheard))
    except FabulaError:
        return None
    await ahead.sent()
    return ahead


async def _whole_turn(desk: Desk) -> Ahead:
    play, scene, _ = move_on(desk, (await first_keeper(desk, record_input(desk))).play)
    return Ahead(SWIFT_CALL, await asked(desk, desk.teller(play, scene).swift(), call=SWIFT_CALL))


async def _first_keeper(desk: Desk) -> Ahead:
    play = record_input(desk)
    call = attempt(keeper_call("after_player_input"), 0)
    context = desk.teller(play, scene_here(desk, play)).keeper("after_player_input", [])
    return Ahead(call, await asked(desk, context, call=call, schema=schema_of("keeper")))
