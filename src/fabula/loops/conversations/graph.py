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
from fabula.loops.conversations.conversation_run import ConversationRun
from fabula.loops.conversations.outcome import Played, persist_conversation, played
from fabula.loops.conversations.replies import answer_player
from fabula.loops.scene.beats import is_told
from fabula.loops.turns.cut import CutShort
from fabula.loops.turns.turn_recorder import recorded
from fabula.loops.untraced import untraced
from fabula.story.values import JsonObject

VERSION = loop_version(1, "play_state")
"""Raise the number when `ConversationState` changes."""

WAITS = "the player"


class ConversationState(TypedDict, total=False):
    """What is handed from node to node, as plain JSON. `turn_id` is the turn that the player waits for, if any."""

    v: str
    conversation_id: str
    turn_id: str
    closing: bool
    played: JsonObject


async def open_session(state: ConversationState, runtime: Runtime[ConversationRun]) -> ConversationState:
    """The conversation as the play has it is taken up."""
    return {"conversation_id": runtime.context.conversation.conversation_id}


async def player_turn(state: ConversationState, runtime: Runtime[ConversationRun]) -> ConversationState:
    """Waits until the player has said something, or wants to leave."""
    if not state.get("turn_id") and not state.get("closing"):
        interrupt(WAITS)
    return {}


def said_or_left(state: ConversationState) -> Literal["npc_responses", "close_session"]:
    return "close_session" if state.get("closing") else "npc_responses"


async def npc_responses(state: ConversationState, runtime: Runtime[ConversationRun]) -> ConversationState:
    """Those who are spoken to answer. A turn that is cut before anything was told ends here, with nothing."""
    answered = await answer_player(runtime.context)
    if runtime.context.turn.cut.asked and not is_told(answered.beats):
        raise CutShort
    return {"played": played(runtime.context, answered).as_json()}


async def persist_turn_artifacts(state: ConversationState, runtime: Runtime[ConversationRun]) -> ConversationState:
    """One transaction for the turn, how everybody stands now, and the end of the work."""
    await persist_conversation(runtime.context, Played.model_validate(state["played"]))
    return {"turn_id": "", "played": {}}


async def close_session(state: ConversationState, runtime: Runtime[ConversationRun]) -> ConversationState:
    """The conversation is summed up and left; what moved far is proposed as canon."""
    close = runtime.context.close
    assert close is not None, "who closes says how"
    await close()
    return {}


async def play_conversation(run: ConversationRun, saver: Any, *, thread_id: str, resumed: bool) -> None:
    """Plays one turn of a conversation, up to where it waits for the player; a resumed one goes on at its node."""
    await _run(run, saver, {"v": VERSION, "turn_id": run.turn.turn.turn_id}, thread_id=thread_id, resumed=resumed)


async def leave_conversation(run: ConversationRun, saver: Any, *, thread_id: str, resumed: bool) -> None:
    """Leaves a conversation; one that is resumed goes on at its node."""
    await _run(run, saver, {"v": VERSION, "closing": True}, thread_id=thread_id, resumed=resumed)


async def _run(run: ConversationRun, saver: Any, start: ConversationState, *, thread_id: str, resumed: bool) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    known = resumed and await can_go_on(saver, config, VERSION)
    with untraced():
        await compiled_conversation(saver).ainvoke(None if known else start, config, context=run, durability="async")


@lru_cache(maxsize=8)
def compiled_conversation(saver: Any) -> CompiledStateGraph[ConversationState, ConversationRun, Any, Any]:
    """The graph, bound to a checkpointer, or to none."""
    return conversation_graph().compile(checkpointer=saver)


def conversation_graph() -> StateGraph[ConversationState, ConversationRun, Any, Any]:
    """The graph of a conversation."""
    graph: StateGraph[ConversationState, ConversationRun, Any, Any] = StateGraph(
        ConversationState, context_schema=ConversationRun
    )
    for step in (open_session, player_turn, npc_responses, persist_turn_artifacts, close_session):
        graph.add_node(step.__name__, recorded(step))
    graph.add_edge(START, "open_session")
    graph.add_edge("open_session", "player_turn")
    graph.add_conditional_edges("player_turn", said_or_left)
    graph.add_edge("npc_responses", "persist_turn_artifacts")
    graph.add_edge("persist_turn_artifacts", "player_turn")
    graph.add_edge("close_session", END)
    return graph


class LeaveConversation(Protocol):
    """`leave_conversation`, for those who load it late."""

    async def __call__(self, run: ConversationRun, saver: Any, *, thread_id: str, resumed: bool) -> None: ...


class PlayConversation(Protocol):
    """`play_conversation`, for those who load it late."""

    async def __call__(self, run: ConversationRun, saver: Any, *, thread_id: str, resumed: bool) -> None: ...
