"""Consolidation in a play: what comes to mind after it, going back, forgetting, and being interrupted."""

from __future__ import annotations

import pytest
from tests.unit.actions.conftest import Stage
from tests.unit.actions.test_memories import found, played, texts

from fabula.actions.followers.consolidation import LATELY, begin_consolidations, consolidate_at
from fabula.actions.plays.branches import Backtrack, backtrack
from fabula.actions.plays.play_memories import (
    ListMemories,
    NameMemory,
    PinMemory,
    delete_memory,
    list_memories,
    pin_memory,
)
from fabula.actions.plays.sessions import ShowSession, get_session
from fabula.actions.turns.explain_turn import ExplainTurn, explain_turn

MILL = "Beware of the old mill in the dark forest."


async def mill_session(stage: Stage) -> str:
    """A play in which the same was said three times, long ago."""
    session_id = await played(stage, MILL, MILL, MILL)
    return await played(stage, *(f"I count to {number}." for number in range(LATELY)), session_id=session_id)


async def head_of(stage: Stage, session_id: str) -> str:
    return (await stage.play(session_id, get_session, ShowSession())).head_turn_id


async def summaries(stage: Stage, session_id: str, owner: str = "mara") -> list[str]:
    return await texts(stage, session_id, owner, kind="summary")


async def test_what_was_said_often_comes_to_mind_once_and_stays_to_be_read(stage: Stage) -> None:
    session_id = await mill_session(stage)
    assert (await found(stage, session_id, "dark mill forest", "mara")).count(MILL) == 3
    assert await consolidate_at(stage.house, await head_of(stage, session_id)) >= 2
    assert await summaries(stage, session_id) == [f"(three times) {MILL}"]
    came = await found(stage, session_id, "dark mill forest", "mara")
    assert f"(three times) {MILL}" in came and MILL not in came
    assert (await texts(stage, session_id, "mara", limit=500)).count(MILL) == 3


async def test_consolidating_again_changes_nothing(stage: Stage) -> None:
    session_id = await mill_session(stage)
    head = await head_of(stage, session_id)
    await consolidate_at(stage.house, head)
    before = await found(stage, session_id, "dark mill forest", "mara")
    assert await consolidate_at(stage.house, head) == 0
    assert await found(stage, session_id, "dark mill forest", "mara") == before


async def test_going_back_to_before_brings_back_what_was_covered(stage: Stage) -> None:
    session_id = await mill_session(stage)
    await stage.play(session_id, backtrack, Backtrack(turns=1))
    before = await found(stage, session_id, "dark mill forest", "mara")
    await played(stage, "I count once more.", session_id=session_id)
    await consolidate_at(stage.house, await head_of(stage, session_id))
    assert await found(stage, session_id, "dark mill forest", "mara") != before
    await stage.play(session_id, backtrack, Backtrack(turns=1))
    assert await found(stage, session_id, "dark mill forest", "mara") == before


async def test_what_is_pinned_comes_to_mind_beside_its_summary(stage: Stage) -> None:
    session_id = await mill_session(stage)
    await consolidate_at(stage.house, await head_of(stage, session_id))
    listed = await stage.play(session_id, list_memories, ListMemories(owner_id="mara", order="oldest"))
    first = next(one for one in listed.memories if one.text == MILL)
    await stage.play(session_id, pin_memory, PinMemory(memory_id=first.memory_id))
    assert MILL in await found(stage, session_id, "dark mill forest", "mara")


async def test_a_summary_that_is_forgotten_takes_along_what_it_covers(stage: Stage) -> None:
    session_id = await mill_session(stage)
    await consolidate_at(stage.house, await head_of(stage, session_id))
    listed = await stage.play(session_id, list_memories, ListMemories(owner_id="mara", kind="summary"))
    await stage.play(session_id, delete_memory, NameMemory(memory_id=listed.memories[0].memory_id))
    assert not any("old mill" in text for text in await found(stage, session_id, "dark mill forest", "mara"))
    await stage.play(session_id, backtrack, Backtrack(turns=5))
    assert not any("old mill" in text for text in await found(stage, session_id, "dark mill forest", "mara"))


async def test_one_that_is_forgotten_takes_its_summary_along_and_the_others_come_back(stage: Stage) -> None:
    session_id = await mill_session(stage)
    await consolidate_at(stage.house, await head_of(stage, session_id))
    listed = await stage.play(session_id, list_memories, ListMemories(owner_id="mara", order="oldest"))
    first = next(one for one in listed.memories if one.text == MILL)
    await stage.play(session_id, delete_memory, NameMemory(memory_id=first.memory_id))
    assert await summaries(stage, session_id) == []
    assert (await found(stage, session_id, "dark mill forest", "mara")).count(MILL) == 2


async def test_plays_that_went_on_are_consolidated_now_and_then_and_each_head_once(stage: Stage) -> None:
    session_id = await mill_session(stage)
    assert await begin_consolidations(stage.house) == 1
    await stage.house.work.take_up()
    for work_id in stage.house.work.ids():
        await stage.house.work.wait(work_id)
    assert await summaries(stage, session_id) == [f"(three times) {MILL}"]
    assert await begin_consolidations(stage.house) == 0


async def test_a_short_play_is_left_as_it_is(stage: Stage) -> None:
    await played(stage, MILL, MILL, MILL)
    assert await begin_consolidations(stage.house) == 0


@pytest.mark.all
async def test_an_actor_has_its_own_summaries_in_place_of_what_prompts_leave_out(stage: Stage) -> None:
    session_id = await mill_session(stage)
    await consolidate_at(stage.house, await head_of(stage, session_id))
    await played(stage, *(f"I count on to {number}." for number in range(75)), session_id=session_id)
    told = await stage.play(session_id, explain_turn, ExplainTurn(turn_id=await head_of(stage, session_id)))
    assert told.memories is not None
    brought = [(one.owner, one.text) for one in told.memories if one.reasons[0].part == "summary"]
    assert brought == [("mara", f"User: (three times) {MILL}")]
