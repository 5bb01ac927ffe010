"""Memories of a play: who remembers what, on which line, and what users do with it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.actions.conftest import Stage

from fabula.actions.followers.memories import remember_line
from fabula.actions.plays.branches import Backtrack, backtrack
from fabula.actions.plays.play_memories import (
    AddMemory,
    AskKnowledge,
    ListBeliefs,
    ListMemories,
    NameMemory,
    PinMemory,
    SearchMemories,
    UpdateMemory,
    add_memory,
    ask_knowledge,
    delete_memory,
    get_memory,
    list_beliefs,
    list_memories,
    pin_memory,
    search_memories,
    update_memory,
)
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.turns.explain_turn import ExplainTurn, explain_turn
from fabula.ports.actors import Actor
from fabula.ports.errors import Denied, InvalidRequest, NotFound
from fabula.ports.memories import LONGEST_RENDITIONS, MOST_RENDITIONS, NewMemory


async def played(stage: Stage, *lines: str, session_id: str = "") -> str:
    """A play with these turns, all of them written down."""
    session_id = session_id or await stage.session()
    for line in lines:
        session = await stage.say(session_id, line)
        await remember_line(stage.house, session.head_turn_id)
    return session_id


async def texts(stage: Stage, session_id: str, owner: str = "player", **more: Any) -> list[str]:
    listed = await stage.play(session_id, list_memories, ListMemories(owner_id=owner, order="oldest", **more))
    return [one.text for one in listed.memories]


async def found(stage: Stage, session_id: str, query: str, owner: str = "player") -> list[str]:
    asked = SearchMemories(owner_id=owner, query=query)
    return [one.memory.text for one in (await stage.play(session_id, search_memories, asked)).found]


async def test_who_is_in_the_scene_remembers_what_was_said_there(stage: Stage) -> None:
    session_id = await played(stage, "My brother drowned in the harbour.", "I look at the gate.")
    for owner in ("player", "mara"):
        assert (await found(stage, session_id, "What happened to the brother?", owner))[0] == (
            "My brother drowned in the harbour."
        )
    assert await texts(stage, session_id, "nobody") == []


async def test_turns_that_are_remembered_together_are_kept_as_if_each_had_been_by_itself(stage: Stage) -> None:
    lines = ["My brother drowned in the harbour.", "The king is dead.", "I look at the gate."]
    start = StartSession(story_id=await stage.story(), seed=7)
    one_by_one, session_id = [(await stage.do(start_session, start)).session_id for _ in range(2)]
    await played(stage, *lines, session_id=one_by_one)
    for line in lines:
        session = await stage.say(session_id, line)
    await remember_line(stage.house, session.head_turn_id)

    async def kept(session_id: str, owner: str) -> list[tuple[Any, ...]]:
        listed = await stage.play(session_id, list_memories, ListMemories(owner_id=owner, order="oldest"))
        turns = {id: number for number, id in enumerate(dict.fromkeys(one.turn_id for one in listed.memories))}
        return [
            (turns[one.turn_id], one.kind, one.text, one.importance, one.told_by)
            for one in listed.memories
            # What Mara says may differ, because in one of the plays she remembers while it is played.
            if one.text in lines or (one.kind == "belief" and one.told_by != "Mara")
        ]

    for owner in ("player", "mara"):
        together = await kept(session_id, owner)
        assert together == await kept(one_by_one, owner)
        said = {text: turn for turn, kind, text, *_ in together if kind == "observation"}
        assert [said[line] for line in lines] == sorted({said[line] for line in lines})
    assert (await found(stage, session_id, "What happened to the brother?"))[0] == lines[0]


async def test_a_whisper_stays_with_those_it_names(stage: Stage) -> None:
    session_id = await played(
        stage, "I whisper to the horse: the key is under the stone.", "I whisper to Mara: the king is dead."
    )
    mara = await texts(stage, session_id, "mara")
    assert not any("key is under" in text for text in mara)
    assert "I whisper to Mara: the king is dead." in mara
    assert any("key is under" in text for text in await texts(stage, session_id))


async def test_going_back_restores_recall_and_an_abandoned_line_never_comes_up(stage: Stage) -> None:
    session_id = await played(stage, "I found a lantern.", "I look at the gate.")
    before = await found(stage, session_id, "lantern")
    await played(stage, "The lantern broke on the stones.", session_id=session_id)
    assert "The lantern broke on the stones." in await found(stage, session_id, "lantern")
    await stage.play(session_id, backtrack, Backtrack(turns=1))
    assert await found(stage, session_id, "lantern") == before
    await played(stage, "I sold the lantern.", session_id=session_id)
    there = await found(stage, session_id, "lantern")
    assert "I sold the lantern." in there and "The lantern broke on the stones." not in there


async def test_what_is_remembered_of_a_weighty_moment_is_felt_and_matters_more(stage: Stage) -> None:
    session_id = await played(stage, "I scream: the murderer killed my friend, I am afraid!", "I look at the gate.")
    listed = await stage.play(session_id, list_memories, ListMemories(order="oldest"))
    said = {one.text: one for one in listed.memories}
    heavy, light = said["I scream: the murderer killed my friend, I am afraid!"], said["I look at the gate."]
    assert (heavy.emotion, light.emotion) == ("fear", None)
    assert heavy.importance > light.importance and heavy.valence < 0


async def test_a_user_adds_corrects_pins_and_forgets_memories(stage: Stage) -> None:
    session_id = await played(stage, "I look at the gate.")
    added = await stage.play(session_id, add_memory, AddMemory(owner_id="mara", text="The duke wears a red ring."))
    change = UpdateMemory(memory_id=added.memory_id, text="The duke wears a green ring.", importance=5)
    changed = await stage.play(session_id, update_memory, change)
    assert (changed.text, changed.original, changed.importance) == (
        "The duke wears a green ring.",
        "The duke wears a red ring.",
        5,
    )
    assert (await found(stage, session_id, "green ring", "mara"))[0] == "The duke wears a green ring."
    assert (await stage.play(session_id, pin_memory, PinMemory(memory_id=added.memory_id))).pinned
    known = await stage.play(session_id, ask_knowledge, AskKnowledge(owner_id="mara", about="the duke"))
    assert (known.known[0].how, known.known[0].memory_id) == ("saw", added.memory_id)
    await stage.play(session_id, delete_memory, NameMemory(memory_id=added.memory_id))
    assert await found(stage, session_id, "duke ring", "mara") == []
    with pytest.raises(NotFound):
        await stage.play(session_id, get_memory, NameMemory(memory_id=added.memory_id))


async def test_players_read_what_the_player_remembers_and_not_what_characters_do(stage: Stage) -> None:
    session_id = await played(stage, "I look at the gate.")
    with pytest.raises(Denied, match="author"):
        await list_memories(stage.house, Actor(role="player", token_id="t"), session_id, ListMemories(owner_id="mara"))


async def test_what_prompts_leave_out_comes_to_mind_when_it_is_asked_for(stage: Stage) -> None:
    session_id = await played(stage, "My brother Joss drowned in the harbour.")
    for number in range(69):
        session = await stage.say(session_id, f"I look at the gate, number {number}.")
    await remember_line(stage.house, session.head_turn_id)
    async with stage.house.store.reading() as unit:
        assert await unit.memories.unplaced(session.head_turn_id, within=100) == [], "all of them, in several parts"
    session = await stage.say(session_id, "Do you remember who drowned in the harbour?")
    told = await stage.play(session_id, explain_turn, ExplainTurn(turn_id=session.head_turn_id))
    assert told.memories is not None
    recalled = {(one.owner, one.text) for one in told.memories}
    assert {owner for owner, text in recalled if "Joss drowned" in text} == {"player", "mara"}
    assert all(one.reasons for one in told.memories)
    await remember_line(stage.house, session.head_turn_id)
    first = await stage.play(session_id, list_memories, ListMemories(owner_id="mara", order="oldest", limit=1))
    assert first.memories[0].recalls >= 1


async def beliefs(stage: Stage, session_id: str, owner: str = "mara") -> list[tuple[str, float]]:
    listed = await stage.play(session_id, list_beliefs, ListBeliefs(owner_id=owner))
    return [(one.text, one.confidence) for one in listed.beliefs if "king" in one.text or "poisoned" in one.text]


async def test_what_is_told_is_believed_and_evidence_against_it_overturns_it(stage: Stage) -> None:
    session_id = await played(stage, "The king is dead.")
    assert await beliefs(stage, session_id) == [("The king is dead.", 0.75)]
    assert await beliefs(stage, session_id, "player") == []
    await played(stage, "The king is alive.", "Believe me, the king is alive.", session_id=session_id)
    [(text, confidence)] = await beliefs(stage, session_id)
    assert (text, confidence > 0.5) == ("The king is alive.", True)
    listed = await stage.play(session_id, list_beliefs, ListBeliefs(owner_id="mara"))
    assert (len(listed.beliefs[0].evidence), len(listed.beliefs[0].against)) == (2, 1)


async def test_going_back_restores_what_was_believed(stage: Stage) -> None:
    session_id = await played(stage, "The king is dead.")
    before = await beliefs(stage, session_id)
    await played(stage, "The king is alive.", "The king is alive.", session_id=session_id)
    await stage.play(session_id, backtrack, Backtrack(turns=2))
    assert await beliefs(stage, session_id) == before


async def test_who_is_asked_what_they_know_tells_how_they_know_it_and_how_surely(stage: Stage) -> None:
    session_id = await played(stage, "The well is poisoned.", "I look at the gate.")
    known = await stage.play(session_id, ask_knowledge, AskKnowledge(owner_id="mara", about="the poisoned well"))
    concluded = [one for one in known.known if one.how == "concluded"]
    assert [(one.text, one.certainty, one.from_whom) for one in concluded] == [("The well is poisoned.", 0.75, "User")]
    assert concluded[0].evidence and concluded[0].turn_id == concluded[0].evidence[0]


async def test_a_memory_that_is_forgotten_takes_what_was_concluded_from_it_along(stage: Stage) -> None:
    session_id = await played(stage, "The well is poisoned.", "I look at the gate.")
    listed = await stage.play(session_id, list_memories, ListMemories(owner_id="mara", order="oldest"))
    [seen] = [one for one in listed.memories if one.kind == "observation" and "well" in one.text]
    await stage.play(session_id, delete_memory, NameMemory(memory_id=seen.memory_id))
    assert not any("poisoned" in text for text, _ in await beliefs(stage, session_id))
    assert not any("poisoned" in text for text in await found(stage, session_id, "poisoned well", "mara"))


async def test_every_twelfth_turn_somebody_makes_something_of_what_keeps_coming_up(stage: Stage) -> None:
    lines = [f"I shout in rage and threaten the murderer with fire, number {number}!" for number in range(12)]
    session_id = await played(stage, *lines)
    listed = await stage.play(session_id, list_memories, ListMemories(owner_id="mara", kind="reflection"))
    assert listed.memories and all(one.evidence for one in listed.memories)
    await stage.play(session_id, backtrack, Backtrack(turns=1))
    again = await stage.play(session_id, list_memories, ListMemories(owner_id="mara", kind="reflection"))
    assert again.memories == []


async def test_a_memory_that_is_corrected_again_and_again_does_not_grow(stage: Stage) -> None:
    session_id = await played(stage, "It rains.")
    memory = await stage.play(session_id, add_memory, AddMemory(text="The bell rang."))
    for number in range(MOST_RENDITIONS + 5):
        text = f"It rang {number} times."
        shown = await stage.play(session_id, update_memory, UpdateMemory(memory_id=memory.memory_id, text=text))
        assert (shown.text, shown.original) == (text, "The bell rang.")
    assert len(shown.renditions) == MOST_RENDITIONS
    for number in range(6):
        text = f"{number} " + "ding dong " * 390
        shown = await stage.play(session_id, update_memory, UpdateMemory(memory_id=memory.memory_id, text=text))
    assert shown.text == text
    assert sum(map(len, shown.renditions)) <= LONGEST_RENDITIONS


async def test_who_has_as_many_memories_of_a_turn_as_fit_is_told_so(stage: Stage) -> None:
    session_id = await played(stage, "It rains.")
    async with stage.house.store.writing() as unit:
        play = await unit.plays.get(session_id)
        assert play is not None
        many = [NewMemory(memory_id=f"m{number}", owner="player", text="Rain.") for number in range(1100)]
        await unit.memories.add(play.tree_id, play.head_turn_id, many)
    with pytest.raises(InvalidRequest, match="Play on, or forget something"):
        await stage.play(session_id, add_memory, AddMemory(text="The bell rang."))
