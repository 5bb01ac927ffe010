"""The scene loop as a graph: load_context, resolve, narrate, persist_turn_artifacts. Its state holds no handles.

Each node's outcome is checkpointed. A turn that was interrupted goes on at the node it was in; model calls that it
had finished there are answered from the memo with the same words.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from fabula.loops.checkpoint_version import can_go_on, loop_version
from fabula.loops.scene.beats import Beat
from fabula.loops.scene.contexts import Scene
from fabula.loops.scene.keeper import after_beats, applied, ask_keeper
from fabula.loops.scene.narration import perform
from fabula.loops.scene.persistence import persist
from fabula.loops.scene.prefetch import ask_ahead_of_all, ask_ahead_of_beats, ask_ahead_of_persisting
from fabula.loops.scene.resolution import first_keeper, make_plan, move_on, record_input
from fabula.loops.scene.scene_run import SceneRun
from fabula.loops.scene.swift import perform_swiftly
from fabula.loops.untraced import untraced
from fabula.story.graph import Transition
from fabula.story.plans import ResponsePlan
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry, StateUpdate
from fabula.story.values import JsonObject

VERSION = loop_version(1, "play_state")
"""Raise the number when `SceneState` changes."""


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


async def load_context(state: SceneState, runtime: Runtime[SceneRun]) -> SceneState:
    """The player's words join the state that the turn starts from. Nothing is written."""
    return {"play": record_input(runtime.context).as_json()}


async def resolve(state: SceneState, runtime: Runtime[SceneRun]) -> SceneState:
    """Keeper, transition, director."""
    run = runtime.context
    kept = await first_keeper(run, PlayState.model_validate(state["play"]))
    play, scene, way = move_on(run, kept.play)
    director = await make_plan(run, play, scene)
    await ask_ahead_of_beats(run, play, scene, director.response_plan)
    return {
        "play": play.as_json(),
        "scene": scene.as_json(),
        "way": None if way is None else way.as_json(),
        "first_keeper": kept.view(),
        "director": director.as_json(),
    }


async def narrate(state: SceneState, runtime: Runtime[SceneRun]) -> SceneState:
    """The beats, in the pace of the preset."""
    run = runtime.context
    play, scene = PlayState.model_validate(state["play"]), Scene.model_validate(state["scene"])
    if run.setup.swift:
        play, beats, update, output = await perform_swiftly(run, play, scene)
        proposed: JsonObject | None = update.as_json()
    else:
        plan = ResponsePlan.model_validate(state["director"]["response_plan"])
        play, beats = await perform(run, play, scene, plan)
        await ask_ahead_of_persisting(run, play, scene, beats)
        proposed = output = None
    return {
        "play": play.as_json(),
        "beats": [beat.view for beat in beats],
        "said": [entry.as_json() for beat in beats for entry in beat.entries],
        "update": proposed,
        "output": output,
    }


async def persist_turn_artifacts(state: SceneState, runtime: Runtime[SceneRun]) -> SceneState:
    """The keeper again, then one transaction."""
    run = runtime.context
    play, scene = PlayState.model_validate(state["play"]), Scene.model_validate(state["scene"])
    said = [MemoryEntry.model_validate(entry) for entry in state["said"]]
    way = None if state["way"] is None else Transition.model_validate(state["way"])
    update = state["update"]
    if update is None:
        second = await ask_keeper(run, play, after_beats(run, play, scene, said), way=way)
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
    known = resumed and await can_go_on(saver, config, VERSION)
    start: SceneState | None = None if known else {"v": VERSION, "turn_id": run.turn.turn_id}
    try:
        if not resumed:
            await ask_ahead_of_all(run)
        with untraced():
            await graph.ainvoke(start, config, context=run, durability="async")
    finally:
        await run.ahead.close()


@lru_cache(maxsize=8)
def _compiled(saver: Any) -> CompiledStateGraph[SceneState, SceneRun, Any, Any]:
    return scene_graph().compile(checkpointer=saver)


@lru_cache(maxsize=1)
def scene_graph() -> StateGraph[SceneState, SceneRun, Any, Any]:
    """The graph, not yet bound to a checkpointer."""
    graph: StateGraph[SceneState, SceneRun, Any, Any] = StateGraph(SceneState, context_schema=SceneRun)
    graph.add_node("load_context", load_context)
    graph.add_node("resolve", resolve)
    graph.add_node("narrate", narrate)
    graph.add_node("persist_turn_artifacts", persist_turn_artifacts)
    graph.add_edge(START, "load_context")
    graph.add_edge("load_context", "resolve")
    graph.add_edge("resolve", "narrate")
    graph.add_edge("narrate", "persist_turn_artifacts")
    graph.add_edge("persist_turn_artifacts", END)
    return graph


class PlayScene(Protocol):
    """`play_scene`, for those who load it late."""

    async def __call__(self, run: SceneRun, saver: Any, *, thread_id: str, resumed: bool) -> None: ...
