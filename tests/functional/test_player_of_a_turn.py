"""Who the player is belongs to the turn: the profile, the name in prompts and the list of sessions always agree."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.live import Client, RpcFailed, gate_session, live_server

from fabula.ports.errors import Cancelled
from fabula.ports.plays import NewTurn


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path) as client:
        for name in ("Ann", "Bea"):
            profile = {"player_profile_id": name.lower(), "display_name": name, "description": f"{name}, a courier."}
            await client.call("player_profile.create", **profile)
        yield client


async def player_of(client: Client, session_id: str) -> tuple[str | None, str]:
    """The profile that a session names, in every view alike, and the name that its prompts use."""
    shown = (await client.call("session.get", session_id))["player_profile_id"]
    listed = (await client.call("session.list"))["sessions"]
    assert {one["session_id"]: one["player_profile_id"] for one in listed}[session_id] == shown
    asked: dict[str, Any] = {"preset_id": "builtin", "agent": "actor", "character_id": "mara"}
    preview = await client.call("preset_preview.runtime", session_id, **asked)
    [name] = [name for name in ("Ann", "Bea", "User") if f"{name} stands before you" in str(preview)]
    return shown, name


async def played_by(client: Client, session_id: str, profile: str) -> str:
    """A turn that somebody plays; answers its id."""
    await client.call("session.set_player_profile", session_id, player_profile_id=profile)
    await client.turn(session_id, f"I am {profile}.")
    return str((await client.call("session.get", session_id))["head_turn_id"])


async def test_the_player_follows_backtrack_switch_and_fork(client: Client) -> None:
    session_id = await gate_session(client)
    first = await played_by(client, session_id, "ann")
    second = await played_by(client, session_id, "bea")
    await client.call("session.backtrack", session_id, turn_id=first)
    assert await player_of(client, session_id) == ("ann", "Ann")
    await client.call("session.switch_branch", session_id, turn_id=second)
    assert await player_of(client, session_id) == ("bea", "Bea")
    forked = await client.raw("session.fork", session_id, turn_id=first)
    assert forked["result"]["player_profile_id"] == "ann"
    assert await player_of(client, forked["session_id"]) == ("ann", "Ann")


async def test_a_turn_that_is_played_again_is_played_by_who_played_it(client: Client) -> None:
    session_id = await gate_session(client)
    await played_by(client, session_id, "ann")
    await client.call("session.set_player_profile", session_id, player_profile_id="bea")
    assert await player_of(client, session_id) == ("bea", "Bea")
    await client.turn(session_id, "", "session.regenerate")
    assert await player_of(client, session_id) == ("ann", "Ann")


async def test_one_can_go_back_to_a_turn_whose_profile_was_deleted(client: Client) -> None:
    session_id = await gate_session(client)
    turn_id = await played_by(client, session_id, "ann")
    with pytest.raises(RpcFailed, match="still used"):
        await client.call("player_profile.delete", player_profile_id="ann")
    await client.call("session.set_player_profile", session_id, player_profile_id="bea")
    await client.call("player_profile.delete", player_profile_id="ann")
    await client.call("session.backtrack", session_id, turn_id=turn_id)
    assert await player_of(client, session_id) == ("ann", "Ann")
    forked = await client.raw("session.fork", session_id)
    assert await player_of(client, forked["session_id"]) == ("ann", "Ann")


async def test_who_is_described_by_hand_has_no_name_of_a_profile(client: Client) -> None:
    session_id = await gate_session(client)
    await played_by(client, session_id, "ann")
    await client.call("session.update_player_description", session_id, player_description="Somebody else.")
    assert await player_of(client, session_id) == (None, "User")


async def test_a_session_ends_where_it_stands_at_an_ending(client: Client) -> None:
    session_id = await gate_session(client)
    ops = {"ops": [{"type": "SetState", "key": "gate_open", "value": True}]}
    await client.call("session.update_variables", session_id, update=ops)
    await client.turn(session_id, "I go in.")
    ending = await client.call("session.get", session_id)
    assert ending["status"] == "ended"
    await client.call("session.backtrack", session_id)
    assert await statuses(client) == {"open"}
    await client.call("session.switch_branch", session_id, turn_id=ending["head_turn_id"])
    await client.raw("session.fork", session_id)
    assert await statuses(client) == {"ended"}


async def statuses(client: Client) -> set[str]:
    """What lists and views say of all sessions."""
    listed = (await client.call("session.list"))["sessions"]
    shown = [(await client.call("session.get", one["session_id"]))["status"] for one in listed]
    return {*shown, *(one["status"] for one in listed)}


async def test_a_turn_that_failed_cannot_be_gone_to_and_the_refusal_says_so(client: Client) -> None:
    session_id = await gate_session(client)
    async with client.house.store.writing() as unit:
        play = await unit.plays.get(session_id)
        assert play is not None
        failed = NewTurn(
            turn_id="turn_f", session_id=session_id, parent_id=play.head_turn_id, turn_index=1, kind="play"
        )
        await unit.plays.begin(failed)
        await unit.plays.fail("turn_f", status="cancelled", error=Cancelled("Stopped.").value())
    for method in ("session.backtrack", "session.switch_branch", "session.fork"):
        with pytest.raises(RpcFailed, match="was not completed"):
            await client.call(method, session_id, turn_id="turn_f")
