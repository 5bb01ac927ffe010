"""The scene loop: load_context, then as a graph resolve, narrate, persist_turn_artifacts. Its state holds no handles.

Each node's outcome is checkpointed. A turn that was interrupted goes on at the node it was in; model calls that it
had finished there are answered from the memo with the same words. A swift turn asks one model once, so it has no nodes
and no checkpoints: between that answer and its commit there is nothing to wait for, and nothing to be spared.

What a step asks first is decided by code from what the step before leaves behind. So the step before sends that
question at its end and hands the answer on while it is on its way: models think while the graph takes its steps.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NotRequired, Protocol, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.channels import EphemeralValue, LastValue
from langgraph.pregel import NodeBuilder, Pregel
from langgraph.runtime import Runtime

from fabula.loops.checkpoint_version import can_go_on, loop_version
from fabula.loops.scene.beats import beat_question, is_told, said_in
from fabula.loops.scene.checks import apply_check
from fabula.loops.scene.contexts import Scene
from fabula.loops.scene.feasibility import tell_verdicts
from fabula.loops.scene.inner_turns import tell_flashback
from fabula.loops.scene.keeper import Kept, after_beats, applied, ask_keeper, heard_in, keeper_question
from fabula.loops.scene.narration import come_and_go, perform
from fabula.loops.scene.off_screen import let_the_world_move
from fabula.loops.scene.persistence import persist
from fabula.loops.scene.player_line import understand, understand_again
from fabula.loops.scene.questions import Question, ask_ahead
from fabula.loops.scene.resolution import before_beats, first_keeper, let_time_pass, make_plan, move_on, record_input
from fabula.loops.scene.scene_lore import with_scene_lore
from fabula.loops.scene.scene_run import SceneRun
from fabula.loops.scene.swift import perform_swiftly
from fabula.loops.scene.wishes import tell_wish_left
from fabula.loops.turns.cut import CutShort
from fabula.loops.turns.turn_recorder import recorded
from fabula.loops.untraced import untraced
from fabula.story.gate import ProposedUpdate
from fabula.story.graph import Transition
from fabula.story.plans import ResponsePlan
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry
from fabula.story.values import JsonObject

VERSION = loop_version(5, "play_state")
"""Raise the number when what stands between the nodes changes.

Since 2 the guests of a plan have come and gone when `resolve` is done; since 3 each node has a channel of its own;
since 4 a scene has the reading of the player's line, and a proposed update its reasons; since 5 swift turns have
no nodes.
"""


class Loaded(TypedDict):
    """What `resolve` sets out with. This and what follows is plain JSON; its size does not grow with the story."""

    play: JsonObject


class Decided(TypedDict):
    """What was decided before the scene is told."""

    way: JsonObject | None
    first_keeper: JsonObject
    director: JsonObject


class Resolved(Decided):
    """What `narrate` sets out with."""

    play: JsonObject
    scene: JsonObject


class Narrated(Resolved):
    """What `persist_turn_artifacts` sets out with."""

    beats: list[JsonObject]
    said: list[JsonObject]
    cut: NotRequired[bool]


async def load_context(run: SceneRun) -> PlayState:
    """The player's words join the state that the turn starts from, and are read. Nothing is written.

    This is what the graph sets out with, hence no node of it.
    """
    with run.stage.recorder.step("load_context"):
        play = record_input(run)
        await understand(run, play)
        tell_verdicts(run)
        tell_wish_left(run)
        play = apply_check(run, play)
        tell_flashback(run)
        return play


async def _set_out(run: SceneRun) -> dict[str, Loaded | str]:
    """The start of a turn in the ensemble pace; its first question leaves."""
    play = await load_context(run)
    asked = None if run.setup.is_weak("keeper") else await ask_ahead(run, keeper_question(before_beats(run, play)))
    run.handover.put(play, asked=asked)
    return {"v": VERSION, "loaded": {"play": play.as_json()}}


async def resolve(state: Loaded, runtime: Runtime[SceneRun]) -> Resolved:
    """Keeper, transition, director."""
    run = runtime.context
    await understand_again(run)
    decided = await _resolve(run, run.handover.play or PlayState.model_validate(state["play"]))
    play, scene = run.handover.standing()
    return {**decided, "play": play.as_json(), "scene": scene.as_json()}


async def _resolve(run: SceneRun, play: PlayState) -> Decided:
    kept = await first_keeper(run, play)
    play, scene, way = move_on(run, kept.play)
    play = let_time_pass(run, play, scene)
    play = let_the_world_move(run, play, scene)
    play = with_scene_lore(run, play, scene)
    director = await make_plan(run, play, scene)
    plan = director.response_plan
    play = come_and_go(run, play, plan)
    question = _first_of_beats(run, play, scene, plan)
    asked = None if question is None else await ask_ahead(run, question)
    run.handover.put(play, scene, asked=asked)
    return {
        "way": None if way is None else way.as_json(),
        "first_keeper": kept.view(),
        "director": director.as_json(),
    }


def _first_of_beats(run: SceneRun, play: PlayState, scene: Scene, plan: ResponsePlan) -> Question | None:
    """What is asked first while the scene is told, if anything is."""
    return beat_question(run.teller(play, scene), plan.beats[0], 0) if plan.beats else None


async def play_swiftly(run: SceneRun) -> None:
    """A swift turn. No model has a say in how it is resolved, and one tells all of it.

    One that was interrupted sets out anew; if its answer was whole, it is in the memo.
    """
    step, play = run.stage.recorder.step, await load_context(run)
    with step("resolve"):
        decided = await _resolve(run, play)
    play, scene = run.handover.standing()
    with step("narrate"):
        play, beats, update, output = await perform_swiftly(run, play, scene)
    is_cut, said = run.cut.asked, said_in(beats)
    if is_cut and not is_told(beats):
        raise CutShort
    with step("persist_turn_artifacts"):
        heard, way = heard_in(run, said), _way(decided["way"])
        kept = await applied(run, play, update, output=output, read=scene.understood, heard=heard, way=way)
        await persist(
            run,
            first=decided["first_keeper"],
            director=decided["director"],
            beats=[beat.view for beat in beats],
            said=said,
            second=kept,
            cut=is_cut,
        )


async def narrate(state: Resolved, runtime: Runtime[SceneRun]) -> Narrated:
    """The beats of the plan. A turn that is cut before anything was told ends here, with nothing."""
    run = runtime.context
    await understand_again(run)
    play, scene = _standing(run, state)
    play, beats = await perform(run, play, scene, ResponsePlan.model_validate(state["director"]["response_plan"]))
    said, asked = said_in(beats), None
    if not run.setup.is_weak("keeper") and not run.cut.asked:
        asked = await ask_ahead(run, keeper_question(after_beats(run, play, scene, said)))
    if run.cut.asked and not is_told(beats):
        raise CutShort
    run.handover.put(play, scene, said, asked=asked)
    return {
        **state,
        "play": play.as_json(),
        "beats": [beat.view for beat in beats],
        "said": [entry.as_json() for entry in said],
        "cut": run.cut.asked,
    }


def _standing(run: SceneRun, state: Resolved) -> tuple[PlayState, Scene]:
    """Where the play stands: as the step before left it, or, in a turn that is resumed, as it was checkpointed."""
    play, scene = run.handover.play, run.handover.scene
    if play is not None and scene is not None:
        return play, scene
    return PlayState.model_validate(state["play"]), Scene.model_validate(state["scene"])


async def persist_turn_artifacts(state: Narrated, runtime: Runtime[SceneRun]) -> None:
    """The keeper again, then one transaction. In a turn that is cut short the keeper is passed over."""
    run = runtime.context
    play, scene = _standing(run, state)
    said = run.handover.said
    if said is None:
        said = [MemoryEntry.model_validate(entry) for entry in state["said"]]
    way = _way(state["way"])
    second = None if run.cut.asked else await _second_keeper(run, play, scene, said, way)
    is_cut = state.get("cut", False) or second is None
    if second is None:
        heard = heard_in(run, said)
        second = await applied(run, play, ProposedUpdate(), output=None, read=scene.understood, heard=heard, way=way)
    await persist(
        run,
        first=state["first_keeper"],
        director=state["director"],
        beats=state["beats"],
        said=said,
        second=second,
        cut=is_cut,
    )


def _way(state: JsonObject | None) -> Transition | None:
    return None if state is None else Transition.model_validate(state)


async def _second_keeper(
    run: SceneRun, play: PlayState, scene: Scene, said: list[MemoryEntry], way: Transition | None
) -> Kept | None:
    """What the keeper makes of what was played; None when the turn is cut before it answered."""
    try:
        return await ask_keeper(
            run,
            play,
            "after_turn_outputs",
            lambda: after_beats(run, play, scene, said),
            read=scene.understood,
            heard=heard_in(run, said),
            way=way,
        )
    except CutShort:
        return None


async def play_scene(run: SceneRun, saver: Any, *, thread_id: str, resumed: bool) -> None:
    """Plays one turn; a resumed one goes on where its last checkpoint stands, if it has one."""
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    try:
        if run.setup.swift:
            await play_swiftly(run)
            return
        known = resumed and await can_go_on(saver, config, VERSION)
        if known and run.setup.system is not None:
            # The check is found again, with what a model proposed for it, before a node asks what came of it.
            await understand(run, run.before)
        start = None if known else await _set_out(run)
        with untraced():
            await scene_graph(saver).ainvoke(start, config, context=run, durability="async")
    finally:
        await run.handover.close()


CHANNELS = ("loaded", "resolved", "narrated")
"""What stands between the nodes: each is filled by the one before and emptied by the one after."""


@lru_cache(maxsize=8)
def scene_graph(saver: Any) -> Pregel[Any, SceneRun, Any, Any]:
    """The graph. Built of nodes and channels, because a state that all nodes share costs a third more."""
    return Pregel(
        nodes={
            "resolve": _node(resolve, takes="loaded").write_to("resolved"),
            "narrate": _node(narrate, takes="resolved").write_to("narrated"),
            "persist_turn_artifacts": _node(persist_turn_artifacts, takes="narrated"),
        },
        channels={"v": LastValue(str), **{name: EphemeralValue(dict) for name in CHANNELS}},
        input_channels=["v", "loaded"],
        output_channels=[],
        checkpointer=saver,
        context_schema=SceneRun,
        name="scene",
    )


def _node(step: Any, *, takes: str) -> NodeBuilder:
    """A node that runs when its channel is filled. LangGraph also passes the runtime, which its types do not tell."""
    return NodeBuilder().subscribe_only(takes).do(recorded(step))


class PlayScene(Protocol):
    """`play_scene`, for those who load it late."""

    async def __call__(self, run: SceneRun, saver: Any, *, thread_id: str, resumed: bool) -> None: ...
