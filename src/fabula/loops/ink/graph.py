"""The loop of Ink plays as a graph: decide, evaluate, tell_on, persist_turn_artifacts.

Each node's outcome is checkpointed. Only a talk passes through decide and evaluate; a choice goes straight on. Which of
the two a turn is, is known before it begins, so each is a line of its own: a fork in the graph costs every turn time.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from fabula.agents.talks.decisions import Decision
from fabula.loops.checkpoint_version import can_go_on, loop_version
from fabula.loops.ink import talk as talking
from fabula.loops.ink.ink_run import InkRun
from fabula.loops.ink.persistence import persist
from fabula.loops.ink.player_move import play_on
from fabula.loops.ink.turn_record import Kept
from fabula.loops.turns.turn_recorder import recorded
from fabula.loops.untraced import untraced
from fabula.story.events import TurnStarted
from fabula.story.values import JsonObject

VERSION = loop_version(1, "play_state")
"""Raise the number when `KnotState` changes."""


class KnotState(TypedDict, total=False):
    """What is handed from node to node, as plain JSON."""

    v: str
    turn_id: str
    decision: JsonObject
    kept: JsonObject


async def decide(state: KnotState, runtime: Runtime[InkRun]) -> KnotState:
    return {"decision": (await talking.decide(runtime.context)).as_json()}


async def evaluate(state: KnotState, runtime: Runtime[InkRun]) -> KnotState:
    decision = Decision.model_validate(state["decision"])
    return {"decision": (await talking.evaluate(runtime.context, decision)).as_json()}


async def tell_on(state: KnotState, runtime: Runtime[InkRun]) -> KnotState:
    """The words are told, and the written story goes on as far as it can."""
    decided = state.get("decision")
    decision = None if decided is None else Decision.model_validate(decided)
    kept = await play_on(runtime.context, decision)
    runtime.context.kept.append(kept)
    return {"kept": kept.as_json()}


async def persist_turn_artifacts(state: KnotState, runtime: Runtime[InkRun]) -> KnotState:
    # Who resumes has only what the checkpoint says.
    at_hand = runtime.context.kept
    await persist(runtime.context, at_hand[0] if at_hand else Kept.model_validate(state["kept"]))
    return {}


async def play_knots(run: InkRun, saver: Any, *, thread_id: str, resumed: bool) -> None:
    """Runs one turn through the graph; a resumed one goes on where its last checkpoint stands, if it has one."""
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    known = resumed and await can_go_on(saver, config, VERSION)
    index = run.before.snapshot.turn_index + 1
    run.stage.tell(TurnStarted(next_turn_index=index, player_input=run.turn.player_input))
    start: KnotState | None = None if known else {"v": VERSION, "turn_id": run.turn.turn_id}
    with untraced():
        await compiled_knots(saver, talks=run.talks).ainvoke(start, config, context=run, durability="async")


@lru_cache(maxsize=8)
def compiled_knots(saver: Any, *, talks: bool) -> CompiledStateGraph[KnotState, InkRun, Any, Any]:
    """The graph of a talk, or of any other turn."""
    return knot_graph(talks=talks).compile(checkpointer=saver)


def knot_graph(*, talks: bool) -> StateGraph[KnotState, InkRun, Any, Any]:
    """The graph of a talk, or of any other turn, not yet bound to a checkpointer."""
    graph: StateGraph[KnotState, InkRun, Any, Any] = StateGraph(KnotState, context_schema=InkRun)
    steps = [*([decide, evaluate] if talks else []), tell_on, persist_turn_artifacts]
    names = [step.__name__ for step in steps]
    for step in steps:
        graph.add_node(step.__name__, recorded(step))
    for before, after in pairwise([START, *names, END]):
        graph.add_edge(before, after)
    return graph


class PlayKnots(Protocol):
    """`play_knots`, for those who load it late."""

    async def __call__(self, run: InkRun, saver: Any, *, thread_id: str, resumed: bool) -> None: ...
