"""SIGKILL at every node of a turn, at every model call and in mid-stream: the turn is resumed, and nothing is twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.fork_server import ForkServer
from tests.live import sse
from tests.turn_kills import Victim, lines, victim

from fabula.testing.model_script import Pace

BOUNDARIES = {
    "turn_stream_accepted": "as soon as the turn is accepted",
    "player_input_recorded": "after load_context",
    "director_completed": "after resolve",
    "after_turn_outputs": "before the commit",
    '"type":"completed"': "after the commit",
}
MID_STREAM = {"ensemble": ["narrator_text_delta", "actor_dialogue_delta"], "swift": ["narrator_text_delta"]}
CALLS = {"ensemble": 5, "swift": 1}
"""How many model calls a turn makes: keeper, director, narrator, actor, keeper; or one."""


@pytest.fixture
async def killed(fork_server: ForkServer, place: Place, tmp_path: Path) -> AsyncIterator[Victim]:
    async with victim(fork_server, tmp_path, environment=place.environment) as it:
        yield it


async def control(it: Victim, pace: str, turns: int) -> list[dict[str, Any]]:
    """The same play without a kill: the session after each turn."""
    session_id = await it.session(pace)
    states = []
    for number in range(turns):
        assert (await it.client.turn(session_id, words(number)))[-1]["type"] == "completed"
        states.append(await it.rested(session_id))
    return states


def words(number: int) -> str:
    return f"I try door number {number}."


async def same_as(it: Victim, session_id: str, expected: dict[str, Any]) -> None:
    """After a kill and a restart the session stands exactly where the control stood."""
    session = await it.rested(session_id)
    assert session["turn_index"] == expected["turn_index"]
    assert session["state_hash"] == expected["state_hash"]
    assert session["snapshot"] == expected["snapshot"]
    assert lines(session) == lines(expected)
    turns = (await it.client.call("session.branches", session_id))["turns"]
    assert [turn["status"] for turn in turns] == ["committed"] * (expected["turn_index"] + 1)


@pytest.mark.parametrize("pace", [pytest.param("ensemble", marks=pytest.mark.all), "swift"])
async def test_a_turn_that_is_killed_at_a_node_is_resumed_and_nothing_is_twice(killed: Victim, pace: str) -> None:
    marks = [*BOUNDARIES, *MID_STREAM[pace]]
    expected = await control(killed, pace, len(marks))
    session_id = await killed.session(pace)
    for number, mark in enumerate(marks):
        # Word by word, so that the kill finds the tale half told.
        killed.troupe.pace = Pace(tokens_per_second=60) if mark in MID_STREAM[pace] else None
        seen = await killed.play_until(session_id, words(number), mark)
        await killed.start()
        last = {"last-event-id": seen[-1]["id"]} if "id" in seen[-1] else {}
        told = await killed.client.http.get(f"/sessions/{session_id}/events", headers=last)
        if told.status_code == 200 and told.text:
            assert sse(told.text)[-1]["data"]["frame"]["type"] == "completed"
        await same_as(killed, session_id, expected[number])
    assert killed.kills == len(marks)


@pytest.mark.parametrize("pace", ["ensemble", pytest.param("swift", marks=pytest.mark.all)])
async def test_a_turn_that_is_killed_at_a_model_call_asks_only_that_call_again(killed: Victim, pace: str) -> None:
    expected = await control(killed, pace, CALLS[pace])
    session_id = await killed.session(pace)
    for number in range(CALLS[pace]):
        asked = len(killed.troupe.calls)
        killed.kill_at_call(number)
        await killed.play_until(session_id, words(number), "")
        await killed.start()
        await same_as(killed, session_id, expected[number])
        assert len(killed.troupe.calls) - asked == CALLS[pace] + 1
    assert killed.kills == CALLS[pace]
    request = {**killed.client.request("usage.list"), "params": {"session_id": session_id}}
    usage = (await killed.client.http.post("/rpc", json=request)).json()["result"]["calls"]
    paid = [call for call in usage if not call["memo_hit"] and call["outcome"] == "ok"]
    # Records are written a moment after their calls, so a kill may lose those of its turn; the last one is never lost.
    assert 1 <= len(paid) <= CALLS[pace] ** 2, "no call is paid for twice"
