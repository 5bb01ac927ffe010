"""The story loop as a graph: init_story, run_scene, world_advance, then transition and the next scene, or finalize.

Its thread is named as the play is. While a scene is played it sleeps in the database: `run_scene` is interrupted, and
no process waits. What is true stands in turns: each step looks where the play stands and makes at most one turn of it,
so a step that is taken twice, or after the player went back, finds what is left to do. The checkpoint is a bookmark.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from fabula.loops.checkpoint_version import can_go_on, loop_version
from fabula.loops.untraced import untraced
from fabula.story.free_plays import Where

VERSION = loop_version(1)


class StorySteps(Protocol):
    """What the steps of the loop do to a play. Each answers where the play stands then, and changes nothing where the
    play stands elsewhere already."""

    async def where(self) -> Where: ...

    async def advance(self) -> Where:
        """The world moves on for the time that passed."""
        ...

    async def open_scene(self) -> Where:
        """The next scene is chosen and begins."""
        ...

    async def end_story(self) -> Where:
        """The story is told to its end."""
        ...

    async def has_more(self) -> bool:
        """Whether anything is left that a scene could be about."""
        ...


@dataclass(frozen=True, kw_only=True)
class StoryRun:
    """One run of the loop; it is passed to the steps and never stored."""

    steps: StorySteps


class StoryState(TypedDict, total=False):
    """Ids and small values: its size does not grow with the story."""

    v: str
    where: Where
    more: bool


async def init_story(state: StoryState, runtime: Runtime[StoryRun]) -> StoryState:
    """Finds out where the play stands."""
    return {"where": await runtime.context.steps.where()}


async def run_scene(state: StoryState, runtime: Runtime[StoryRun]) -> StoryState:
    """Sleeps while a scene is played. Whoever wakes it looks again, for the player may have gone back meanwhile."""
    where = await runtime.context.steps.where()
    if where == "open":
        interrupt("a scene is being played")
        where = await runtime.context.steps.where()
    return {"where": where}


async def world_advance(state: StoryState, runtime: Runtime[StoryRun]) -> StoryState:
    where = await runtime.context.steps.advance()
    return {"where": where, "more": await runtime.context.steps.has_more()}


async def transition(state: StoryState, runtime: Runtime[StoryRun]) -> StoryState:
    return {"where": await runtime.context.steps.open_scene()}


async def finalize(state: StoryState, runtime: Runtime[StoryRun]) -> StoryState:
    return {"where": await runtime.context.steps.end_story()}


def after_scene(state: StoryState) -> Literal["run_scene", "world_advance", "__end__"]:
    match state["where"]:
        case "open":
            return "run_scene"
        case "ended":
            return "__end__"
        case _:
            return "world_advance"


def after_world(state: StoryState) -> Literal["transition", "finalize", "run_scene"]:
    if state["where"] != "advanced":
        return "run_scene"
    return "transition" if state["more"] else "finalize"


@lru_cache(maxsize=8)
def compiled_story(saver: Any) -> CompiledStateGraph[StoryState, StoryRun, Any, Any]:
    """The graph with its checkpointer."""
    graph: StateGraph[StoryState, StoryRun, Any, Any] = StateGraph(StoryState, context_schema=StoryRun)
    for step in (init_story, run_scene, world_advance, transition, finalize):
        graph.add_node(step.__name__, step)
    graph.add_edge(START, "init_story")
    graph.add_edge("init_story", "run_scene")
    graph.add_conditional_edges("run_scene", after_scene, ["run_scene", "world_advance", END])
    graph.add_conditional_edges("world_advance", after_world, ["transition", "finalize", "run_scene"])
    graph.add_edge("transition", "run_scene")
    graph.add_edge("finalize", END)
    return graph.compile(checkpointer=saver)


async def go_on(steps: StorySteps, saver: Any, *, thread_id: str) -> None:
    """Leads a play on until a scene is being played, or the story is over."""
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    graph = compiled_story(saver)
    known = await can_go_on(saver, config, VERSION) and bool((await graph.aget_state(config)).next)
    start: Any = Command(resume=True) if known else {"v": VERSION}
    with untraced():
        await graph.ainvoke(start, config, context=StoryRun(steps=steps), durability="sync")


class GoOn(Protocol):
    """`go_on`, for those who load it late."""

    async def __call__(self, steps: StorySteps, saver: Any, *, thread_id: str) -> None: ...
