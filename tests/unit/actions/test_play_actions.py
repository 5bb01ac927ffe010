"""A play: begun, spoken in, gone back in, forked, changed by hand and deleted."""

from __future__ import annotations

import pytest
from tests.unit.actions.conftest import Stage

from fabula.actions.plays.branches import (
    Backtrack,
    Fork,
    ListBranches,
    SwitchBranch,
    backtrack,
    fork,
    list_branches,
    switch_branch,
)
from fabula.actions.plays.sessions import (
    ListSessions,
    RenameSession,
    ShowSession,
    delete_session,
    get_session,
    list_sessions,
    update_session,
)
from fabula.actions.views import Nothing
from fabula.ports.errors import FabulaError, NotFound


async def test_a_session_begins_at_the_start_of_its_story(stage: Stage) -> None:
    session = await stage.play(await stage.session(), get_session, ShowSession())
    assert (session.turn_index, session.status) == (0, "open")


async def test_the_players_words_stand_first_in_the_turn(stage: Stage) -> None:
    session = await stage.say(await stage.session(), "Good evening, Mara.")
    assert session.turn_index == 1
    assert (session.history[0].kind, session.history[0].text) == ("player_input", "Good evening, Mara.")
    assert {line.speaker_id for line in session.history} >= {"mara"}


async def test_going_back_restores_the_state_and_loses_no_line(stage: Stage) -> None:
    session_id = await stage.session()
    first = await stage.say(session_id, "I knock.")
    second = await stage.say(session_id, "I wait.")
    back = await stage.play(session_id, backtrack, Backtrack(turns=1))
    assert (back.state_hash, back.history) == (first.state_hash, first.history)
    again = await stage.play(session_id, switch_branch, SwitchBranch(turn_id=second.head_turn_id))
    assert (again.state_hash, again.history) == (second.state_hash, second.history)


async def test_nobody_goes_back_beyond_the_beginning(stage: Stage) -> None:
    session_id = await stage.session()
    with pytest.raises(FabulaError):
        await stage.play(session_id, backtrack, Backtrack(turns=1))
    assert (await stage.play(session_id, get_session, ShowSession())).turn_index == 0


async def test_a_fork_goes_on_by_itself(stage: Stage) -> None:
    session_id = await stage.session()
    before = await stage.say(session_id, "I knock.")
    copy = await stage.play(session_id, fork, Fork(display_name="What if"))
    await stage.say(copy.session_id, "I climb over.")
    here = await stage.play(session_id, get_session, ShowSession())
    assert (here.turn_index, here.state_hash) == (1, before.state_hash)
    heads = (await stage.play(session_id, list_branches, ListBranches())).heads
    assert {head.session_id for head in heads} == {session_id, copy.session_id}


async def test_a_play_is_named_and_listed_under_its_name(stage: Stage) -> None:
    session_id = await stage.session()
    await stage.play(session_id, update_session, RenameSession(display_name="Rainy evening"))
    listed = (await stage.do(list_sessions, ListSessions())).sessions
    assert [(one.session_id, one.display_name) for one in listed] == [(session_id, "Rainy evening")]


async def test_a_deleted_play_is_gone(stage: Stage) -> None:
    session_id = await stage.session()
    await stage.play(session_id, delete_session, Nothing())
    with pytest.raises(NotFound):
        await stage.play(session_id, get_session, ShowSession())
