"""The conformance kit of checkpoints: the law in `fabula.ports.checkpoints`, sentence by sentence.

An adapter's test module says `class TestMine(CheckpointsKit)` and gives a fixture `checkpoints`, newly made on a place
that is empty.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypedDict

from fabula.ports.checkpoints import Checkpoints


class Counted(TypedDict):
    count: int


async def nothing() -> None:
    """What happens between the steps of a loop, unless a test says otherwise."""


async def run_loop(
    checkpoints: Checkpoints, thread_id: str, *, between: Callable[[], Awaitable[None]] = nothing, look: bool = True
) -> dict[str, Any]:
    """Runs a loop of two steps to its end; answers where it stands, if that is to be looked at."""
    from langgraph.graph import END, START, StateGraph

    async def one_more(state: Counted) -> Counted:
        return {"count": state["count"] + 1}

    async def another(state: Counted) -> Counted:
        await between()
        return await one_more(state)

    graph: StateGraph[Counted, None, Any, Any] = StateGraph(Counted)
    graph.add_node("first", one_more)
    graph.add_node("second", another)
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    graph.add_edge("second", END)
    loop = graph.compile(checkpointer=await checkpoints.saver())
    config: Any = {"configurable": {"thread_id": thread_id}}
    await loop.ainvoke({"count": 0}, config, durability="async")
    return dict((await loop.aget_state(config)).values) if look else {}


class CheckpointsKit:
    """The whole law."""

    async def test_saver_answers_a_checkpointer_opened_at_the_first_question_the_same_one_ever_after(
        self, checkpoints: Checkpoints
    ) -> None:
        savers = await asyncio.gather(*(checkpoints.saver() for _ in range(5)))
        assert all(saver is savers[0] for saver in savers)
        assert await run_loop(checkpoints, "s:turn_1") == {"count": 2}

    async def test_forget_removes_all_checkpoints_of_a_thread_and_leaves_the_others(
        self, checkpoints: Checkpoints
    ) -> None:
        for thread in ("s:turn_1", "s:turn_2"):
            await run_loop(checkpoints, thread)
        await checkpoints.forget("s:turn_1")
        saver = await checkpoints.saver()
        found = [
            await saver.aget_tuple({"configurable": {"thread_id": thread}}) is not None
            for thread in ("s:turn_1", "s:turn_2")
        ]
        assert found == [False, True]

    async def test_forget_does_nothing_for_an_unknown_thread(self, checkpoints: Checkpoints) -> None:
        await checkpoints.forget("s:never")
        assert await checkpoints.threads() == set()

    async def test_threads_names_every_thread_of_which_there_are_checkpoints(self, checkpoints: Checkpoints) -> None:
        for thread in ("a:turn_1", "b:turn_1", "draft_1"):
            await run_loop(checkpoints, thread)
        await checkpoints.forget("b:turn_1")
        assert await checkpoints.threads() == {"a:turn_1", "draft_1"}
