"""The conversation loop as a graph: open_session, player_turn, npc_responses, persist_turn_artifacts, close_session.

One run plays one turn: it sets out with what the player said, and ends where it waits for the player again. What a
conversation is lives in the state of the play, so that waiting costs nothing, lasts as long as it likes, and going back
undoes it. A turn that was interrupted goes on at the node it was in.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, Protocol, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from fabula.loops.checkpoint_version import can_go_on, loop_version
from fabula.loops.scene.beats import is_told
from fabula.loops.talks.outcome import Played, persist_talk, played
from fabula.loops.talks.replies import answer_player
from fabula.loops.talks.talk_run import TalkRun
from fabula.loops.turns.cut import CutShort
from fabula.loops.turns.turn_recorder import recorded
from fabula.loops.untraced import untraced
from fabula.story.values import JsonObject

VERSION = loop_version(1, "play_state")
"""Raise the number when `TalkState` changes."""

WAITS = "the player"


class TalkState(TypedDict, total=False):
    """What is handed from node to node, as plain JSON. `turn_id` is the turn that the player waits for, if any."""

    v: str
    conversation_id: str
    turn_id: str
    closing: bool
    played: JsonObject


async def open_session(state: TalkState, runtime: Runtime[TalkRun]) -> TalkState:
    """The conversation as the play has it is taken up."""
    return {"conversation_id": runtime.context.conversation.conversation_id}


async def player_turn(state: TalkState, runtime: Runtime[TalkRun]) -> TalkState:
    """Waits until the player has said something, or wants to leave."""
    if not state.get("turn_id") and not state.get("closing"):
        interrupt(WAITS)
    return {}


def said_or_left(state: TalkState) -> Literal["npc_responses", "close_session"]:
    return "close_session" if state.get("closing") else "npc_responses"


async def npc_responses(state: TalkState, runtime: Runtime[TalkRun]) -> TalkState:
    """Those who are spoken to answer. A turn that is cut before anything was told ends here, with nothing."""
    answered = await answer_player(runtime.context)
    if runtime.context.turn.cut.asked and not is_told(answered.beats):
        raise CutShort
    return {"played": played(runtime.context, answered).as_json()}


async def persist_turn_artifacts(state: TalkState, runtime: Runtime[TalkRun]) -> TalkState:
    """One transaction for the turn, how everybody stands now, and the end of the work."""
    await persist_talk(runtime.context, Played.model_validate(state["played"]))
    return {"turn_id": "", "played": {}}


async def close_session(state: TalkState, runtime: Runtime[TalkRun]) -> TalkState:
    """The conversation is summed up and left; what moved far is proposed as canon."""
    close = runtime.context.close
    assert close is not None, "who closes says how"
    await close()
    return {}


async def play_talk(run: TalkRun, saver: Any, *, thread_id: str, resumed: bool) -> None:
    """Plays one turn of a conversation, up to where it waits for the player; a resumed one goes on at its node."""
    await _run(run, saver, {"v": VERSION, "turn_id": run.turn.turn.turn_id}, thread_id=thread_id, resumed=resumed)


async def close_talk(run: TalkRun, saver: Any, *, thread_id: str, resumed: bool) -> None:
    """Leaves a conversation; one that is resumed goes on at its node."""
    await _run(run, saver, {"v": VERSION, "closing": True}, thread_id=thread_id, resumed=resumed)


async def _run(run: TalkRun, saver: Any, start: TalkState, *, thread_id: str, resumed: bool) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    known = resumed and await can_go_on(saver, config, VERSION)
    with untraced():
        await compiled_talk(saver).ainvoke(None if known else start, config, context=run, durability="async")


@lru_cache(maxsize=8)
def compiled_talk(saver: Any) -> CompiledStateGraph[TalkState, TalkRun, Any, Any]:
    """The graph, bound to a checkpointer, or to none."""
    return talk_graph().compile(checkpointer=saver)


def talk_graph() -> StateGraph[TalkState, TalkRun, Any, Any]:
    """The graph of a conversation."""
    graph: StateGraph[TalkState, TalkRun, Any, Any] = StateGraph(TalkState, context_schema=TalkRun)
    for step in (open_session, player_turn, npc_responses, persist_turn_artifacts, close_session):
        graph.add_node(step.__name__, recorded(step))
    graph.add_edge(START, "open_session")
    graph.add_edge("open_session", "player_turn")
    graph.add_conditional_edges("player_turn", said_or_left)
    graph.add_edge("npc_responses", "persist_turn_artifacts")
    graph.add_edge("persist_turn_artifacts", "player_turn")
    graph.add_edge("close_session", END)
    return graph


class CloseTalk(Protocol):
    """`close_talk`, for those who load it late."""

    async def __call__(self, run: TalkRun, saver: Any, *, thread_id: str, resumed: bool) -> None: ...


class PlayTalk(Protocol):
    """`play_talk`, for those who load it late."""

    async def __call__(self, run: TalkRun, saver: Any, *, thread_id: str, resumed: bool) -> None: ...
