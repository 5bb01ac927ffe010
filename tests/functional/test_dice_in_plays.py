"""Dice in a play: the code rolls, the roll stands in the transcript, and it falls the same again."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fork_server import PROGRAM
from tests.live import Client, RpcFailed, gate_session, gate_story, live_server

SYSTEM = {
    "system_id": "coins",
    "display_name": "Coins",
    "core": {"formula": "3d2 + stat", "bands": [{"level": "success", "at_least": 5}, {"level": "failure"}]},
    "attributes": {"luck": {"display_name": "Luck"}},
}


def fabula(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path) as client:
        yield client


async def rolled(client: Client, session: str, formula: str = "10d20", **more: Any) -> dict[str, Any]:
    return await client.call("session.roll", session, formula=formula, **more)


async def test_a_roll_stands_in_the_transcript_with_its_reason(client: Client) -> None:
    session = await gate_session(client)
    roll = await rolled(client, session, "2d6 + 1", reason="courage")
    assert roll["roll"]["total"] == sum(roll["roll"]["raw"]) + 1
    lines = (await client.call("session_message.list", session))["messages"]
    assert (lines[-1]["text"], lines[-1]["message_id"]) == (roll["sentence"], roll["message_id"])
    assert roll["sentence"].startswith("User rolls 2d6 + 1 for courage: ")


async def test_going_back_takes_a_roll_back_and_the_same_dice_fall_again(client: Client) -> None:
    session = await gate_session(client)
    start = (await client.call("session.branches", session))["head_turn_id"]
    first, second = await rolled(client, session), await rolled(client, session)
    await client.call("session.switch_branch", session, turn_id=start)
    assert (await client.call("session_message.list", session))["messages"] == []
    again = [await rolled(client, session), await rolled(client, session)]
    assert [one["roll"] for one in again] == [first["roll"], second["roll"]]
    assert first["roll"]["raw"] != second["roll"]["raw"]


async def test_two_plays_with_one_seed_roll_alike_and_others_do_not(client: Client) -> None:
    story = await gate_story(client)

    async def first_roll(**seed: int) -> Any:
        session = (await client.call("story.start_session", story_id=story, **seed))["session_id"]
        return (await rolled(client, session))["roll"]["raw"]

    assert await first_roll(seed=7) == await first_roll(seed=7)
    assert len({tuple(await first_roll()), tuple(await first_roll()), tuple(await first_roll(seed=7))}) == 3


async def test_a_restart_does_not_change_what_falls_next(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
        start = (await client.call("session.branches", session))["head_turn_id"]
        rolls = [await rolled(client, session) for _ in range(2)]
        await client.call("session.switch_branch", session, turn_id=start)
        await rolled(client, session)
    async with live_server(tmp_path) as client:
        assert (await rolled(client, session))["roll"] == rolls[1]["roll"]


@pytest.mark.parametrize("formula", ["", "2d", "1/0", "1001d6", "luck+1", "2d6; drop"])
async def test_what_cannot_be_rolled_is_refused_and_leaves_no_line(client: Client, formula: str) -> None:
    session = await gate_session(client)
    with pytest.raises(RpcFailed, match="This cannot be rolled"):
        await rolled(client, session, formula)
    assert (await client.call("session_message.list", session))["messages"] == []


async def test_authors_keep_systems_of_their_own_beside_those_that_are_built_in(client: Client) -> None:
    made = await client.call("game_system.create", **SYSTEM)
    assert made["built_in"] is False
    listed = (await client.call("game_system.list"))["game_systems"]
    assert [one["system_id"] for one in listed] == ["d20", "fate", "narrative", "pbta", "coins"]
    changed = await client.call("game_system.update", system_id="coins", description="Toss.")
    assert (changed["description"], changed["core"]) == ("Toss.", made["core"])
    with pytest.raises(RpcFailed, match="names 'fortune'"):
        core = {**SYSTEM["core"], "formula": "1d2 + fortune"}  # type: ignore[dict-item]
        await client.call("game_system.update", system_id="coins", core=core)
    with pytest.raises(RpcFailed, match="is built in"):
        await client.call("game_system.delete", system_id="d20")
    await client.call("game_system.delete", system_id="coins")
    with pytest.raises(RpcFailed, match="no game system named 'coins'"):
        await client.call("game_system.get", system_id="coins")


def test_a_system_is_checked_and_brought_in_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "coins.toml"
    file.write_text(
        'system_id = "coins"\ndisplay_name = "Coins"\n[core]\nformula = "3d2 + luck"\nbands = [{ level = "success" }]\n'
    )
    refused = fabula("rules", "check", str(file))
    assert (refused.returncode, "names 'luck'" in refused.stdout) == (1, True)
    file.write_text(file.read_text().replace("luck", "stat"))
    assert "is fine" in fabula("rules", "check", str(file)).stdout
    data = ("--data-dir", str(tmp_path / "data"))
    assert fabula("rules", "add", str(file), *data).returncode == 0
    assert "coins" in fabula("rules", "list", *data).stdout
