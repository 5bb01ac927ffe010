"""The scene loop: load_context, then as a graph resolve, narrate, persist_turn_artifacts. Its state holds no handles.

Each node's outcome is checkpointed. A turn that was interrupted goes on at the node it was in; model calls that it
had finished there are answered from the memo with the same words.

What a step asks first is decided by code from what the step before leaves behind. So the step before sends that
question at its end and hands the answer on while it is on its way: models think while the graph takes its steps.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from fabula.loops.checkpoint_version import can_go_on, loop_version
from fabula.loops.scene.beats import Beat, beat_question
from fabula.loops.scene.contexts import Scene
from fabula.loops.scene.keeper import after_beats, applied, ask_keeper, keeper_question
from fabula.loops.scene.narration import come_and_go, perform
from fabula.loops.scene.persistence import persist
from fabula.loops.scene.questions import Question, ask_ahead
from fabula.loops.scene.resolution import before_beats, first_keeper, make_plan, move_on, record_input
from fabula.loops.scene.scene_run import SceneRun
from fabula.loops.scene.swift import perform_swiftly, swift_question
from fabula.loops.untraced import untraced
from fabula.story.graph import Transition
from fabula.story.plans import ResponsePlan
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry, StateUpdate
from fabula.story.values import JsonObject

VERSION = loop_version(2, "play_state")
"""Raise the number when `SceneState` changes.

Since 2 the guests of a plan have come and gone when `resolve` is done.
"""


class SceneState(TypedDict, total=False):
    """What is handed from node to node, as plain JSON; its size does not grow with the story."""

    v: str
    turn_id: str
    play: JsonObject
    scene: JsonObject
    way: JsonObject | None
    first_keeper: JsonObject
    director: JsonObject
    beats: list[JsonObject]
    said: list[JsonObject]
    update: JsonObject | None
    output: JsonObject | None


async def load_context(run: SceneRun) -> SceneState:
    """The player's words join the state that the turn starts from, and the first question leaves. Nothing is written.

    This is what the graph sets out with, hence no node of it. No model has a say in how a swift turn is resolved, so
    that is done here, too, and its graph begins with `narrate`.
    """
    play = record_input(run)
    loaded: SceneState = {"v": VERSION, "turn_id": run.turn.turn_id}
    if run.setup.swift:
        return {**loaded, **await _resolve(run, play)}
    asked = await ask_ahead(run, keeper_question(before_beats(run, play)))
    run.handover.put(play, None, asked)
    return {**loaded, "play": play.as_json()}


async def resolve(state: SceneState, runtime: Runtime[SceneRun]) -> SceneState:
    """Keeper, transition, director."""
    run = runtime.context
    return await _resolve(run, run.handover.play or PlayState.model_validate(state["play"]))


async def _resolve(run: SceneRun, play: PlayState) -> SceneState:
    kept = await first_keeper(run, play)
    play, scene, way = move_on(run, kept.play)
    director = await make_plan(run, play, scene)
    plan = director.response_plan
    play = come_and_go(run, play, plan)
    question = _first_of_beats(run, play, scene, plan)
    run.handover.put(play, scene, None if question is None else await ask_ahead(run, question))
    return {
        "play": play.as_json(),
        "scene": scene.as_json(),
        "way": None if way is None else way.as_json(),
        "first_keeper": kept.view(),
        "director": director.as_json(),
    }


def _first_of_beats(run: SceneRun, play: PlayState, scene: Scene, plan: ResponsePlan) -> Question | None:
    """What is asked first while the scene is told, if anything is."""
    if run.setup.swift:
        return swift_question(run, play, scene)
    return beat_question(run.teller(play, scene), plan.beats[0], 0) if plan.beats else None


async def narrate(state: SceneState, runtime: Runtime[SceneRun]) -> SceneState:
    """The beats, in the pace of the preset."""
    run = runtime.context
    play, scene = _standing(run, state)
    if run.setup.swift:
        play, beats, update, output = await perform_swiftly(run, play, scene)
        proposed: JsonObject | None = update.as_json()
        run.handover.put(play, scene, None)
    else:
        plan = ResponsePlan.model_validate(state["director"]["response_plan"])
        play, beats = await perform(run, play, scene, plan)
        said = [entry for beat in beats for entry in beat.entries]
        asked = await ask_ahead(run, keeper_question(after_beats(run, play, scene, said)))
        run.handover.put(play, scene, asked)
        proposed = output = None
    return {
        "play": play.as_json(),
        "beats": [beat.view for beat in beats],
        "said": [entry.as_json() for beat in beats for entry in beat.entries],
        "update": proposed,
        "output": output,
    }


def _standing(run: SceneRun, state: SceneState) -> tuple[PlayState, Scene]:
    """Where the play stands: as the step before left it, or, in a turn that is resumed, as it was checkpointed."""
    play, scene = run.handover.play, run.handover.scene
    if play is not None and scene is not None:
        return play, scene
    return PlayState.model_validate(state["play"]), Scene.model_validate(state["scene"])


async def persist_turn_artifacts(state: SceneState, runtime: Runtime[SceneRun]) -> SceneState:
    """The keeper again, then one transaction."""
    run = runtime.context
    play, scene = _standing(run, state)
    said = [MemoryEntry.model_validate(entry) for entry in state["said"]]
    way = None if state["way"] is None else Transition.model_validate(state["way"])
    update = state["update"]
    if update is None:
        second = await ask_keeper(run, play, "after_turn_outputs", lambda: after_beats(run, play, scene, said), way=way)
    else:
        second = applied(run, play, StateUpdate.model_validate(update), output=state["output"], way=way)
    await persist(
        run,
        scene=scene,
        first=state["first_keeper"],
        director=state["director"],
        beats=_beats(state["beats"], said),
        second=second,
    )
    return {}


def _beats(views: list[JsonObject], said: list[MemoryEntry]) -> list[Beat]:
    """All entries in order; the transcript does not ask which beat they came from."""
    return [Beat(view=view, entries=said if place == 0 else []) for place, view in enumerate(views)]


async def play_scene(run: SceneRun, saver: Any, *, thread_id: str, resumed: bool) -> None:
    """Runs one turn through the graph; a resumed one goes on where its last checkpoint stands, if it has one."""
    graph = _compiled(saver)
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    try:
        known = resumed and await can_go_on(saver, config, VERSION)
        start = None if known else await load_context(run)
        with untraced():
            await graph.ainvoke(start, config, context=run, durability="async")
    finally:
        await run.handover.close()


@lru_cache(maxsize=8)
def _compiled(saver: Any) -> CompiledStateGraph[SceneState, SceneRun, Any, Any]:
    return scene_graph().compile(checkpointer=saver)


@lru_cache(maxsize=1)
def scene_graph() -> StateGraph[SceneState, SceneRun, Any, Any]:
    """The graph, not yet bound to a checkpointer."""
    graph: StateGraph[SceneState, SceneRun, Any, Any] = StateGraph(SceneState, context_schema=SceneRun)
    graph.add_node("resolve", resolve)
    graph.add_node("narrate", narrate)
    graph.add_node("persist_turn_artifacts", persist_turn_artifacts)
    graph.add_conditional_edges(START, _first_node, ["resolve", "narrate"])
    graph.add_edge("resolve", "narrate")
    graph.add_edge("narrate", "persist_turn_artifacts")
    graph.add_edge("persist_turn_artifacts", END)
    return graph


def _first_node(state: SceneState) -> str:
    return "narrate" if "scene" in state else "resolve"


class PlayScene(Protocol):
    """`play_scene`, for those who load it late."""

    async def __call__(self, run: SceneRun, saver: Any, *, thread_id: str, resumed: bool) -> None: ...
