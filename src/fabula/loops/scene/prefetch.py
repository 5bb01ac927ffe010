"""Asking ahead: a step's first question goes out before the loop gets there, which it does while a model thinks.

What a step asks first is decided by code from what the step before leaves behind, so it is known at once. It is worked
out on an empty stage; the loop then plays the same with the audience there. A turn that is resumed does not ask before
it sets out: its answer may be in the memo, and its first step may be any.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace

from fabula.loops.scene.beats import Beat, beat_call, beat_context
from fabula.loops.scene.contexts import Scene
from fabula.loops.scene.keeper import after_beats, keeper_call
from fabula.loops.scene.narration import come_and_go
from fabula.loops.scene.questions import asked, attempt
from fabula.loops.scene.resolution import before_beats, first_keeper, move_on, record_input
from fabula.loops.scene.scene_run import SceneRun
from fabula.loops.scene.swift import SWIFT_CALL
from fabula.loops.turns.stage import EmptyStage
from fabula.ports.errors import FabulaError
from fabula.story.contexts import RoleContext
from fabula.story.plans import ResponsePlan
from fabula.story.plays import PlayState

Question = tuple[str, RoleContext]


async def ask_ahead_of_all(run: SceneRun) -> None:
    """The turn's first question: the keeper's, or the one of the swift pace."""
    await _ask_ahead(run, _whole_turn if run.setup.swift else _first_keeper)


async def ask_ahead_of_beats(run: SceneRun, play: PlayState, scene: Scene, plan: ResponsePlan) -> None:
    """The first beat's question, if the plan has one."""

    async def first_beat(run: SceneRun) -> Question:
        teller = run.teller(come_and_go(run, play, plan), scene)
        return beat_call(plan.beats[0], 0), beat_context(teller, plan.beats[0])

    if plan.beats:
        await _ask_ahead(run, first_beat)


async def ask_ahead_of_persisting(run: SceneRun, play: PlayState, scene: Scene, beats: list[Beat]) -> None:
    """The keeper's question after the beats."""

    async def second_keeper(run: SceneRun) -> Question:
        said = [entry for beat in beats for entry in beat.entries]
        return attempt(keeper_call("after_turn_outputs"), 0), after_beats(run, play, scene, said)

    await _ask_ahead(run, second_keeper)


async def _ask_ahead(run: SceneRun, question: Callable[[SceneRun], Coroutine[None, None, Question]]) -> None:
    """Asks what can be asked; what cannot is for its step to tell."""
    unheard = replace(run, stage=EmptyStage())
    try:
        call, context = await question(unheard)
        await run.ahead.send(call, await asked(unheard, context, call=call))
    except FabulaError:
        return


async def _whole_turn(run: SceneRun) -> Question:
    play, scene, _ = move_on(run, (await first_keeper(run, record_input(run))).play)
    return SWIFT_CALL, run.teller(play, scene).swift()


async def _first_keeper(run: SceneRun) -> Question:
    return attempt(keeper_call("after_player_input"), 0), before_beats(run, record_input(run))
