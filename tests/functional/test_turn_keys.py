"""Keys: a client that does not know what became of its request sends it again, and nothing is played twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import Place
from tests.fork_server import ForkServer
from tests.ink_live import begin
from tests.live import Client, RpcFailed, gate_session, live_server, sse
from tests.scripted import PACES, Theatre, theatre
from tests.turn_kills import Victim, lines, victim

from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.ports.actors import Actor
from fabula.ports.errors import NotFound
from fabula.testing.model_script import Fail, Pace, Say

SLOWLY = Say(text=" ".join(f"word{number}" for number in range(120)), pace=Pace(tokens_per_second=200))
CHOICES = "A door.\n* [Knock] You knock.\n* [Leave] You leave.\n- Later.\n* [On] On.\n- The end.\n-> END\n"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Theatre]:
    async with theatre(tmp_path) as opened:
        yield opened


async def sent(
    client: Client, session_id: str, method: str = "session.run_turn", **params: Any
) -> list[dict[str, Any]]:
    """The messages of a stream, each with its id."""
    response = await client.http.post("/rpc", json=client.request(method, session_id, **params))
    if response.headers["content-type"] == "application/json":
        raise RpcFailed(response.json()["error"])
    return [event for event in sse(response.text) if event["event"] == "message"]


def frames(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message["data"]["frame"] for message in messages]


async def played(client: Client, session_id: str) -> list[dict[str, Any]]:
    """The turns of a session without its beginning."""
    turns: list[dict[str, Any]] = (await client.call("session.branches", session_id))["turns"]
    return turns[1:]


@pytest.mark.parametrize("pace", PACES)
async def test_the_same_request_attaches_to_the_stream_of_the_turn_that_runs(house: Theatre, pace: str) -> None:
    session_id = await house.session(pace)
    house.troupe.misbehave("swift" if pace == "swift" else "narrator", SLOWLY)
    asked = [asyncio.create_task(sent(house.client, session_id, player_input="I knock.", key="k1")) for _ in range(4)]
    told = await asyncio.gather(*asked)
    assert frames(told[0])[0] == {"type": "started"} and frames(told[0])[-1]["type"] == "completed"
    assert all([one["data"] for one in other] == [one["data"] for one in told[0]] for other in told)
    assert len(await played(house.client, session_id)) == 1


async def test_of_a_turn_that_is_over_only_the_last_frame_is_told_with_its_own_number(house: Theatre) -> None:
    session_id = await house.session()
    first = await sent(house.client, session_id, player_input="I knock.", key="k1")
    again = await sent(house.client, session_id, player_input="I knock.", key="k1")
    assert again == [first[-1]]
    assert len(await played(house.client, session_id)) == 1


async def test_a_key_with_other_words_is_refused_and_says_so(house: Theatre) -> None:
    session_id = await house.session()
    await sent(house.client, session_id, player_input="I knock.", key="k1")
    turn_id = (await played(house.client, session_id))[0]["turn_id"]
    for method, params in (
        ("session.run_turn", {"player_input": "I kick the gate."}),
        ("session.regenerate", {}),
    ):
        with pytest.raises(RpcFailed) as refused:
            await sent(house.client, session_id, method, **params, key="k1")
        assert refused.value.code == 40909 and "new key" in refused.value.message
        assert refused.value.data["turn_id"] == turn_id
    assert len(await played(house.client, session_id)) == 1


async def test_the_key_of_a_failed_turn_tells_the_failure_and_a_retry_has_a_key_of_its_own(house: Theatre) -> None:
    session_id = await house.session()
    for _ in range(2):
        house.troupe.misbehave("narrator", Fail(status=500))
    failed = await sent(house.client, session_id, player_input="I knock.", key="k1")
    assert frames(failed)[-1]["type"] == "failed"
    assert await sent(house.client, session_id, player_input="I knock.", key="k1") == [failed[-1]]
    retried = await sent(house.client, session_id, "session.retry_turn", key="k2")
    assert frames(retried)[-1]["type"] == "completed"
    assert await sent(house.client, session_id, "session.retry_turn", key="k2") == [retried[-1]]
    assert [turn["status"] for turn in await played(house.client, session_id)] == ["failed", "committed"]


async def test_a_turn_is_told_again_once_under_one_key(house: Theatre) -> None:
    session_id = await house.session()
    await sent(house.client, session_id, player_input="I knock.")
    told = [await sent(house.client, session_id, "session.regenerate", key="again") for _ in range(3)]
    assert told[1] == told[2] == [told[0][-1]]
    assert len(await played(house.client, session_id)) == 2


async def test_the_same_key_names_another_turn_in_another_session(house: Theatre) -> None:
    for session_id in (await house.session(), await house.session()):
        assert (
            frames(await sent(house.client, session_id, player_input="I knock.", key="k1"))[-1]["type"] == "completed"
        )
        assert len(await played(house.client, session_id)) == 1


@pytest.mark.parametrize("key", ["", "x" * 129, "a key", "k\u0000", "schlüssel", 7])
async def test_what_is_no_key_is_refused(house: Theatre, key: object) -> None:
    with pytest.raises(RpcFailed) as refused:
        await sent(house.client, await house.session(), player_input="I knock.", key=key)
    assert refused.value.code in (-32600, -32602)


async def test_a_choice_is_taken_once_although_it_is_no_longer_on_offer(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id, _ = await begin(client, CHOICES)
        first = await sent(client, session_id, choice=1, key="k1")
        assert await sent(client, session_id, choice=1, key="k1") == [first[-1]]
        assert len(await played(client, session_id)) == 1


async def test_a_refused_request_leaves_its_key_free(house: Theatre) -> None:
    session_id = await house.session()
    with pytest.raises(RpcFailed):
        await sent(house.client, session_id, "session.retry_turn", key="k1")
    assert frames(await sent(house.client, session_id, player_input="I knock.", key="k1"))[-1]["type"] == "completed"


async def test_a_key_holds_after_a_restart(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id = await gate_session(client)
        first = await sent(client, session_id, player_input="I knock.", key="k1")
    async with live_server(tmp_path) as client:
        again = await sent(client, session_id, player_input="I knock.", key="k1")
        assert frames(again) == [frames(first)[-1]]
        assert len(await played(client, session_id)) == 1


async def test_nobody_learns_of_a_turn_of_others_by_guessing_its_key(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id = await gate_session(client)
        await sent(client, session_id, player_input="I knock.", key="k1")
        stranger = Actor(role="player", token_id="stranger")
        with pytest.raises(NotFound):
            words = RunTurn(player_input="I knock.", key="k1")
            await run_turn(client.house, stranger, session_id, words, request_id="r")


@pytest.fixture
async def killed(fork_server: ForkServer, place: Place, tmp_path: Path) -> AsyncIterator[Victim]:
    async with victim(fork_server, tmp_path, environment=place.environment) as it:
        yield it


async def sent_until(it: Victim, session_id: str, words: str, key: str, mark: str) -> None:
    """Sends words with a key, and kills the server when their stream shows the mark."""
    request = it.client.request("session.run_turn", session_id, player_input=words, key=key)
    text = ""
    try:
        async with it.client.http.stream("POST", "/rpc", json=request) as response:
            async for chunk in response.aiter_text():
                text += chunk
                if mark and mark in text:
                    it.kill()
                    mark = ""
    except httpx.HTTPError:
        pass


@pytest.mark.parametrize("pace", ["ensemble", pytest.param("swift", marks=pytest.mark.all)])
async def test_words_that_are_sent_again_after_a_kill_are_played_once(killed: Victim, pace: str) -> None:
    session_id = await killed.session(pace)
    marks = ["turn_stream_accepted", "player_input_recorded", "narrator_text_delta", '"type":"completed"']
    for number, mark in enumerate(marks):
        words, key = f"I try door number {number}.", f"key-{number}"
        await sent_until(killed, session_id, words, key, mark)
        await killed.start()
        told = await sent(killed.client, session_id, player_input=words, key=key)
        if frames(told)[-1]["type"] != "completed":
            await killed.rested(session_id)
            told = await sent(killed.client, session_id, player_input=words, key=key)
        assert frames(told)[-1]["type"] == "completed"
        session = await killed.rested(session_id)
        assert session["turn_index"] == number + 1
        assert [text for kind, _, text, _ in lines(session) if kind == "player_input"][-1] == words
    assert killed.kills == len(marks)
    assert [turn["status"] for turn in await played(killed.client, session_id)] == ["committed"] * len(marks)
