"""SIGKILL in the turns of an Ink play: at its nodes, at its model calls, in mid-reply. It resumes; nothing is twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.fork_server import ForkServer
from tests.ink_live import GATE, publish
from tests.knot_troupe import KnotTroupe
from tests.live import sse
from tests.turn_kills import Victim, lines, victim

pytestmark = pytest.mark.all

STORY = GATE.replace("The guard lifts the lantern,", '~ generate("the light")\nThe guard lifts the lantern,')

BOUNDARIES: dict[str, str | int] = {
    "turn_stream_accepted": 1,
    "turn_started": "Who are you, before decide?",
    "agent_reply_delta": "What do you say, in mid-reply?",
    "agent_outcome": "And the secret, after evaluate?",
    "generated_text": "I go on, and am cut in the midst of tell_on.",
    '"type":"completed"': 0,
}
"""Where the stream is when the server dies, and what the player does then."""

CALLS: list[tuple[int, str]] = [
    (0, "Hello, killed in decide."),
    (0, "A secret, killed in decide."),
    (1, "A secret, killed in evaluate."),
    (0, "Then go on, killed in decide."),
]
TELLING = (1, "Now go on, killed in tell_on.")
"""The call of the turn at which the server dies, and the words. A secret is asked for twice, a way on is told."""


@pytest.fixture
async def killed(fork_server: ForkServer, place: Place, tmp_path: Path) -> AsyncIterator[Victim]:
    async with victim(fork_server, tmp_path, KnotTroupe(), environment=place.environment) as it:
        await control_group(it)
        it.story_id = await publish(it.client, STORY)
        yield it


async def control_group(it: Victim) -> None:
    """The same model under another name: what one session was told, the memo does not tell the other."""
    address = (await it.client.call("api.get", api_id="troupe"))["base_url"]
    api = {"provider": "open_ai", "base_url": address, "api_key": "sk-troupe", "model": "scripted-control"}
    await it.client.call("api.create", api_id="control", display_name="Control", **api)
    group = await it.client.call("api_group.get", api_group_id="troupe")
    bindings = dict.fromkeys(group["bindings"], "control")
    await it.client.call("api_group.create", api_group_id="control", display_name="Control", bindings=bindings)


async def begin(it: Victim, group: str) -> str:
    answer = await it.client.raw("story.start_session", story_id=it.story_id, api_group_id=group, seed=7)
    return str(answer["session_id"])


async def control(it: Victim, moves: list[str | int]) -> list[dict[str, Any]]:
    """The same play without a kill: the session after each turn."""
    session_id, states = await begin(it, "control"), []
    for move in moves:
        seen = await it.play_until(session_id, move, "")
        assert seen[-1]["data"]["frame"]["type"] == "completed"
        states.append(await it.rested(session_id))
    return states


async def same_as(it: Victim, session_id: str, expected: dict[str, Any]) -> None:
    """After a kill and a restart the play stands exactly where the control stood."""
    session = await it.rested(session_id)
    assert session["turn_index"] == expected["turn_index"]
    assert session["state_hash"] == expected["state_hash"]
    assert (session["ink"], session["snapshot"]) == (expected["ink"], expected["snapshot"])
    assert lines(session) == lines(expected)
    turns = (await it.client.call("session.branches", session_id))["turns"]
    assert [turn["status"] for turn in turns] == ["committed"] * (expected["turn_index"] + 1)


async def test_an_ink_turn_that_is_killed_at_a_node_is_resumed_and_nothing_is_twice(killed: Victim) -> None:
    expected = await control(killed, list(BOUNDARIES.values()))
    session_id = await begin(killed, "troupe")
    for number, (mark, move) in enumerate(BOUNDARIES.items()):
        seen = await killed.play_until(session_id, move, mark)
        await killed.start()
        last = {"last-event-id": seen[-1]["id"]} if "id" in seen[-1] else {}
        told = await killed.client.http.get(f"/sessions/{session_id}/events", headers=last)
        if told.status_code == 200 and told.text:
            assert sse(told.text)[-1]["data"]["frame"]["type"] == "completed"
        await same_as(killed, session_id, expected[number])
    assert killed.kills == len(BOUNDARIES)


@pytest.mark.parametrize("last", [CALLS[-1], TELLING])
async def test_an_ink_turn_that_is_killed_at_a_model_call_asks_only_that_call_again(
    killed: Victim, last: tuple[int, str]
) -> None:
    calls = [*CALLS[:-1], last]
    expected = await control(killed, [1, *(words for _, words in calls)])
    session_id = await begin(killed, "troupe")
    await killed.play_until(session_id, 1, "")
    for number, (call, words) in enumerate(calls):
        asked = len(killed.troupe.calls)
        killed.kill_at_call(call)
        await killed.play_until(session_id, words, "")
        await killed.start()
        await same_as(killed, session_id, expected[number + 1])
        needed = 2 if "secret" in words or "go on" in words else 1
        assert len(killed.troupe.calls) - asked == needed + 1, "only the call that was cut is asked again"
    assert killed.kills == len(calls)
    assert "Mordred" not in str(lines(await killed.rested(session_id)))
