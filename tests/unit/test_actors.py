"""Who acts: what belongs to whom, and what an action has to say before anybody may do it."""

from __future__ import annotations

from typing import Any

import pytest

from fabula.actions.authority import allowed, least_role
from fabula.actions.house import House
from fabula.actions.npcs.address_npc import game_id
from fabula.actions.plays.reached_turns import turns_of
from fabula.actions.views import Nothing, View
from fabula.ports.actors import OPERATOR, Actor
from fabula.ports.errors import Denied
from fabula.ports.plays import Play, Turn
from fabula.server.rpc.method import method

ADA, ADMIN = Actor(role="player", token_id="ada"), Actor(role="admin", token_id="root")


def test_a_player_owns_what_is_theirs_and_nothing_that_has_no_owner() -> None:
    assert ADA.owns("ada") and not ADA.owns("bea") and not ADA.owns(None)
    assert all(one.owns(owner) for one in (ADMIN, OPERATOR) for owner in ("ada", None))


def test_somebody_without_a_token_who_is_no_admin_sees_nothing() -> None:
    stranger = Actor(role="player")
    assert not stranger.owns(None) and stranger.sees_only == ""
    assert ADA.sees_only == "ada" and ADMIN.sees_only is None


async def test_an_action_refuses_whoever_acts_below_its_role() -> None:
    @allowed("author")
    async def publish(house: House, actor: Actor, command: Nothing) -> str:
        return "done"

    house: Any = None
    assert least_role(publish) == "author"
    assert await publish(house, ADMIN, Nothing()) == "done"
    with pytest.raises(Denied, match="role author; yours has the role player"):
        await publish(house, ADA, Nothing())


def test_an_action_that_does_not_say_who_may_do_it_cannot_become_a_method() -> None:
    async def forgotten(house: House, actor: Actor, command: Nothing) -> View:
        """Does something."""
        return View()

    with pytest.raises(ValueError, match="does not say who may do it"):
        method("x.y", Nothing, forgotten, View)


def test_npcs_remember_for_a_token_whatever_its_game_calls_itself() -> None:
    bea = Actor(role="player", token_id="bea")
    names = [game_id(ADA, "quest"), game_id(bea, "quest"), game_id(ADA, ""), game_id(bea, "token:ada/quest")]
    assert len(set(names)) == 4
    assert (game_id(OPERATOR, "quest"), game_id(OPERATOR, "")) == ("quest", "default")


def turn(turn_id: str, parent_id: str | None, session_id: str) -> Turn:
    return Turn(
        turn_id=turn_id,
        tree_id="t0",
        session_id=session_id,
        parent_id=parent_id,
        jump_id=None,
        depth=0,
        turn_index=0,
        kind="play",
        status="committed",
        player_input="",
        request_id="",
        seed=0,
        created_at_ms=0,
    )


def test_of_a_shared_tree_one_sees_what_one_played_and_what_led_there() -> None:
    tree = [turn("t0", None, "a"), turn("t1", "t0", "a"), turn("t2", "t1", "b"), turn("t3", "t1", "a")]
    mine = [Play(session_id="b", tree_id="t0", head_turn_id="t0")]
    assert [one.turn_id for one in turns_of(tree, mine)] == ["t0", "t1", "t2"]
    theirs = [Play(session_id="a", tree_id="t0", head_turn_id="t3")]
    assert [one.turn_id for one in turns_of(tree, theirs)] == ["t0", "t1", "t3"]
