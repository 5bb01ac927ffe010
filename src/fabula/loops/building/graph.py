"""The world-building loop as a graph: load_world, architect_turn, commit. One run takes one turn of the author."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from fabula.loops.checkpoint_version import can_go_on, loop_version
from fabula.loops.untraced import untraced
from fabula.story.values import JsonObject
from fabula.story.worldbuilding import BuildingTurn, WorldContext

VERSION = loop_version(1)
"""Raise the number when `BuildingState` changes."""


@dataclass(frozen=True, kw_only=True)
class BuildingRun:
    """What the steps of a turn of building work with."""

    load: Callable[[], Awaitable[WorldContext]]
    answer: Callable[[WorldContext], Awaitable[BuildingTurn]]
    commit: Callable[[WorldContext, BuildingTurn], Awaitable[None]]


class BuildingState(TypedDict, total=False):
    """What is handed from node to node, as plain JSON; bounded by what an author says in one turn."""

    v: str
    world: JsonObject
    turn: JsonObject


async def load_world(state: BuildingState, runtime: Runtime[BuildingRun]) -> BuildingState:
    """What there is of the world, and what is missing. Nothing is written."""
    return {"world": (await runtime.context.load()).as_json()}


async def architect_turn(state: BuildingState, runtime: Runtime[BuildingRun]) -> BuildingState:
    """What the author said is taken down, and answered."""
    turn = await runtime.context.answer(WorldContext.model_validate(state["world"]))
    return {"turn": turn.as_json()}


async def commit(state: BuildingState, runtime: Runtime[BuildingRun]) -> BuildingState:
    """What was taken down becomes canon, in one transaction with the end of the work."""
    world, turn = WorldContext.model_validate(state["world"]), BuildingTurn.model_validate(state["turn"])
    await runtime.context.commit(world, turn)
    return {}


async def build_world(run: BuildingRun, saver: Any, *, thread_id: str, resumed: bool) -> None:
    """Takes one turn; a resumed one goes on where its last checkpoint stands, if it has one."""
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    known = resumed and await can_go_on(saver, config, VERSION)
    start: BuildingState | None = None if known else {"v": VERSION}
    with untraced():
        await compiled_building(saver).ainvoke(start, config, context=run, durability="async")


@lru_cache(maxsize=8)
def compiled_building(saver: Any) -> CompiledStateGraph[BuildingState, BuildingRun, Any, Any]:
    """The graph, bound to a checkpointer, or to none."""
    graph: StateGraph[BuildingState, BuildingRun, Any, Any] = StateGraph(BuildingState, context_schema=BuildingRun)
    steps = (load_world, architect_turn, commit)
    for step in steps:
        graph.add_node(step.__name__, step)
    for before, after in pairwise([START, *(step.__name__ for step in steps), END]):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=saver)


class BuildWorld(Protocol):
    """`build_world`, for those who load it late."""

    async def __call__(self, run: BuildingRun, saver: Any, *, thread_id: str, resumed: bool) -> None: ...
