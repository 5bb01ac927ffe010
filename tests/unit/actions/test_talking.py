"""Conversations with the cast: opened, held and left in a play, by themselves, and outside of the story."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.unit.actions.conftest import Stage

from fabula.actions.canon.changes import ListChanges
from fabula.actions.canon.play_canon import list_canon_changes
from fabula.actions.conversations.close_conversation import close_conversation
from fabula.actions.conversations.open_conversation import (
    OpenConversation,
    SayInConversation,
    open_conversation,
    say_in_conversation,
)
from fabula.actions.followers.memories import remember_line
from fabula.actions.plays.amend import Amendment, amend
from fabula.actions.plays.branches import Backtrack, Fork, SwitchBranch, backtrack, fork, switch_branch
from fabula.actions.plays.play_memories import ListMemories, list_memories
from fabula.actions.plays.play_states import head_state
from fabula.actions.plays.sessions import ShowSession, get_session
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.actions.views import Nothing
from fabula.ports.actors import OPERATOR, Actor
from fabula.ports.errors import Conflict, Denied, InvalidRequest, NotFound
from fabula.story.conversations import MOST_TURNS
from fabula.story.plays import PlayState


async def opened(stage: Stage, session_id: str | None, *ids: str, **given: Any) -> str:
    """Opens a conversation; answers the session in which it is held."""
    command = OpenConversation(character_ids=list(ids) or ["mara"], **given)
    return (await open_conversation(stage.house, OPERATOR, session_id, command)).session_id


async def say(stage: Stage, session_id: str, words: str) -> None:
    turn = await say_in_conversation(stage.house, OPERATOR, session_id, SayInConversation(text=words), request_id=words)
    await stage.house.work.wait(turn.turn_id)


async def state_of(stage: Stage, session_id: str) -> PlayState:
    async with stage.house.store.reading() as unit:
        return (await head_state(unit, OPERATOR, session_id))[1]


async def test_somebody_in_the_scene_is_talked_with_and_answers(stage: Stage) -> None:
    session_id = await stage.session()
    await opened(stage, session_id)
    await say(stage, session_id, "Good evening. Who are you?")
    view = await stage.play(session_id, get_session, ShowSession())
    assert view.conversation is not None and view.conversation.turns == 1
    assert [line.speaker_id for line in view.history if line.kind == "dialogue"] == ["mara"]
    assert view.turn_index == 1 and view.status == "open"


async def test_any_turn_of_a_play_in_a_conversation_is_part_of_it(stage: Stage) -> None:
    session_id = await stage.session()
    await opened(stage, session_id)
    view = await stage.say(session_id, "Thank you for waiting.")
    assert view.conversation is not None and view.conversation.turns == 1
    assert {line.kind for line in view.history} <= {"player_input", "dialogue", "action"}


async def test_kind_words_and_threats_move_how_somebody_stands_and_going_back_undoes_it(stage: Stage) -> None:
    session_id = await stage.session()
    await opened(stage, session_id)
    await say(stage, session_id, "Thank you, Mara.")
    kind = (await state_of(stage, session_id)).relations["mara"]["player"]
    await say(stage, session_id, "I'll kill you, Mara.")
    cruel = (await state_of(stage, session_id)).relations["mara"]["player"]
    assert 0 < kind.affinity <= 0.15 and cruel.fear > 0.15 and cruel.trust < kind.trust
    before = await state_of(stage, session_id)
    await stage.play(session_id, backtrack, Backtrack(turns=1))
    assert (await state_of(stage, session_id)).relations["mara"]["player"] == kind
    await say(stage, session_id, "I'll kill you, Mara.")
    assert (await state_of(stage, session_id)).relations == before.relations


async def test_what_moved_far_is_proposed_when_the_conversation_is_left_and_only_then(stage: Stage) -> None:
    session_id = await stage.session()
    opened_id = await open_conversation(stage.house, OPERATOR, session_id, OpenConversation(character_ids=["mara"]))
    await say(stage, session_id, "I betrayed you, Mara. I told the guard where you sleep.")
    listed = await list_canon_changes(stage.house, OPERATOR, session_id, ListChanges())
    assert listed.changes == []
    closed = await stage.play(session_id, close_conversation, Nothing())
    assert {one.sentence for one in closed.staged} == {
        "Mara distrusts User.",
        "Mara despises User.",
        "Mara dislikes User.",
    }
    assert "talked with Mara" in closed.summary
    listed = await list_canon_changes(stage.house, OPERATOR, session_id, ListChanges())
    assert {one.status for one in listed.changes} == {"pending"} and len(listed.changes) == 3
    evidence = listed.changes[0].evidence[0]
    assert (evidence.type, evidence.ref) == ("conversation", opened_id.conversation_id)
    assert (await state_of(stage, session_id)).conversation is None


async def test_copies_of_a_play_leave_the_same_talk_at_once_and_each_proposes_its_own(stage: Stage) -> None:
    session_id = await stage.session()
    await opened(stage, session_id)
    await say(stage, session_id, "I betrayed you, Mara.")
    copy_id = (await stage.play(session_id, fork, Fork())).session_id
    left = await asyncio.gather(*(stage.play(id, close_conversation, Nothing()) for id in (session_id, copy_id)))
    assert [len(one.staged) for one in left] == [3, 3]
    for id in (session_id, copy_id):
        assert len((await list_canon_changes(stage.house, OPERATOR, id, ListChanges())).changes) == 3


async def test_who_asks_twice_at_once_to_leave_is_told_the_same_and_the_talk_is_left_once(stage: Stage) -> None:
    session_id = await stage.session()
    await opened(stage, session_id)
    await say(stage, session_id, "I betrayed you, Mara.")
    first, second = await asyncio.gather(*(stage.play(session_id, close_conversation, Nothing()) for _ in range(2)))
    assert first == second
    assert len((await list_canon_changes(stage.house, OPERATOR, session_id, ListChanges())).changes) == 3


async def test_who_went_back_leaves_the_same_talk_again(stage: Stage) -> None:
    session_id = await stage.session()
    await opened(stage, session_id)
    await say(stage, session_id, "I betrayed you, Mara.")
    talking = (await stage.play(session_id, get_session, ShowSession())).head_turn_id
    first = await stage.play(session_id, close_conversation, Nothing())
    await stage.play(session_id, switch_branch, SwitchBranch(turn_id=talking))
    again = await stage.play(session_id, close_conversation, Nothing())
    assert [one.sentence for one in again.staged] == [one.sentence for one in first.staged]
    assert (await state_of(stage, session_id)).conversation is None


async def test_what_was_proposed_is_not_proposed_again(stage: Stage) -> None:
    session_id = await stage.session()
    await opened(stage, session_id)
    await say(stage, session_id, "I betrayed you, Mara.")
    await stage.play(session_id, close_conversation, Nothing())
    await opened(stage, session_id)
    await say(stage, session_id, "Good evening.")
    assert (await stage.play(session_id, close_conversation, Nothing())).staged == []


async def test_small_kindnesses_over_several_conversations_add_up(stage: Stage) -> None:
    session_id = await stage.session()
    for _ in range(2):
        await opened(stage, session_id)
        await say(stage, session_id, "Thank you.")
        assert (await stage.play(session_id, close_conversation, Nothing())).staged == []
    await opened(stage, session_id)
    await say(stage, session_id, "Thank you.")
    closed = await stage.play(session_id, close_conversation, Nothing())
    assert {one.sentence for one in closed.staged} == {"Mara trusts User.", "Mara likes User."}


async def test_those_who_talked_remember_it_and_the_others_in_the_scene_do_not(stage: Stage) -> None:
    session_id = await stage.session()
    await opened(stage, session_id)
    for number in range(4):
        await say(stage, session_id, f"The password is heron, number {number}.")
    await stage.play(session_id, close_conversation, Nothing())
    view = await stage.play(session_id, get_session, ShowSession())
    await remember_line(stage.house, view.head_turn_id)
    told = (await stage.play(session_id, list_memories, ListMemories(owner_id="mara", limit=50))).memories
    assert any("heron" in one.text for one in told)


async def test_nobody_is_talked_with_who_is_not_there_or_while_others_are_talked_with(stage: Stage) -> None:
    session_id = await stage.session()
    with pytest.raises(NotFound):
        await opened(stage, session_id, "nobody")
    with pytest.raises(Conflict):
        await say(stage, session_id, "Is anybody listening?")
    with pytest.raises(Conflict):
        await stage.play(session_id, close_conversation, Nothing())
    await opened(stage, session_id)
    with pytest.raises(Conflict):
        await opened(stage, session_id)


async def test_a_conversation_has_at_most_a_hundred_turns(stage: Stage) -> None:
    session_id = await stage.session()
    await opened(stage, session_id)
    state = await state_of(stage, session_id)
    assert state.conversation is not None
    worn = state.conversation.model_copy(update={"turns": MOST_TURNS})

    async def change(at: Any) -> tuple[Amendment, None]:
        return Amendment(state=at.state.model_copy(update={"conversation": worn})), None

    await amend(stage.house, OPERATOR, session_id, change)
    with pytest.raises(InvalidRequest, match="100 turns"):
        await say(stage, session_id, "One more thing.")
    closed = await stage.play(session_id, close_conversation, Nothing())
    assert closed.staged == [] and closed.summary == ""


async def test_without_a_session_a_conversation_is_a_play_of_its_own(stage: Stage) -> None:
    await stage.story()
    session_id = await opened(stage, None)
    await say(stage, session_id, "Who are you?")
    view = await stage.play(session_id, get_session, ShowSession())
    assert view.display_name == "A talk" and view.status == "open"
    with pytest.raises(NotFound, match="no story"):
        await opened(stage, None, "stranger")


async def test_an_interview_leaves_the_play_as_it_is_and_nobody_remembers_it(stage: Stage) -> None:
    played = await stage.session()
    before = await stage.say(played, "Good evening.")
    session_id = await opened(stage, played, mode="interview")
    assert session_id != played
    for number in range(4):
        await say(stage, session_id, f"What do you fear most, Mara? {number}")
    after = await stage.play(played, get_session, ShowSession())
    assert (after.state_hash, after.head_turn_id) == (before.state_hash, before.head_turn_id)
    state = await state_of(stage, session_id)
    view = await stage.play(session_id, get_session, ShowSession())
    await remember_line(stage.house, view.head_turn_id)
    assert state.relations == (await state_of(stage, played)).relations
    told = await stage.play(session_id, list_memories, ListMemories(owner_id="mara", limit=50))
    assert not any("fear most" in one.text for one in told.memories)
    closed = await stage.play(session_id, close_conversation, Nothing())
    assert closed.staged == []


async def test_only_authors_interview(stage: Stage) -> None:
    session_id = await stage.session()
    command = OpenConversation(character_ids=["mara"], mode="interview")
    with pytest.raises(Denied):
        await open_conversation(stage.house, Actor(role="player", token_id="t"), session_id, command)


async def test_dice_are_not_rolled_for_words(stage: Stage) -> None:
    story_id = await stage.story(rules="d20")
    session_id = (await stage.do(start_session, StartSession(story_id=story_id, seed=7))).session_id
    await opened(stage, session_id)
    turn = await run_turn(
        stage.house, OPERATOR, session_id, RunTurn(player_input="I try to persuade Mara to climb."), request_id="r"
    )
    await stage.house.work.wait(turn.turn_id)
    assert (await state_of(stage, session_id)).dice_cursor == 0
