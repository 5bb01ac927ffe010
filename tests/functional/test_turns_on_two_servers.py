"""Two servers share one Postgres: a turn is one server's at a time, and can be seen and stopped from both."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.fork_server import ForkServer
from tests.live import RpcFailed, sse
from tests.turn_kills import Victim, victim

from fabula.testing.model_script import Pace, Say

NEVER = Say(text="too late", pace=Pace(first_token_ms=600_000))


@asynccontextmanager
async def second(first: Victim, folder: Path) -> AsyncIterator[Victim]:
    """Another server on the same store, with the same models and the same key."""
    folder.mkdir()
    other = Victim(fork_server=first.fork_server, folder=folder, environment=first.environment, troupe=first.troupe)
    other.story_id = first.story_id
    await other.start()
    yield other
    await other.stop()


@pytest.fixture
async def pair(fork_server: ForkServer, postgres_place: Place, tmp_path: Path) -> AsyncIterator[tuple[Victim, Victim]]:
    async with (
        victim(fork_server, tmp_path, **postgres_place.environment) as one,
        second(one, tmp_path / "second") as two,
    ):
        yield one, two


async def waiting(it: Victim, session_id: str) -> asyncio.Task[list[dict[str, Any]]]:
    """A turn on a server that waits for its narrator for ever."""
    it.troupe.misbehave("narrator", NEVER)
    asked = it.troupe.calls.count("narrator")
    playing = asyncio.create_task(it.client.turn(session_id, "I knock."))
    while it.troupe.calls.count("narrator") == asked:
        await asyncio.sleep(0.01)
    return playing


async def test_a_second_turn_is_refused_by_either_server(pair: tuple[Victim, Victim]) -> None:
    one, two = pair
    session_id = await one.session("ensemble")
    playing = await waiting(one, session_id)
    for it in pair:
        with pytest.raises(RpcFailed) as refused:
            await it.client.turn(session_id, "I kick the gate.")
        assert refused.value.code == 40909 and refused.value.data["active_turn_id"].startswith("turn_")
    await two.client.call("session.cancel_turn", session_id)
    assert (await playing)[-1]["type"] == "failed"


async def test_a_turn_is_cancelled_from_the_other_server_and_its_words_are_kept(pair: tuple[Victim, Victim]) -> None:
    one, two = pair
    session_id = await one.session("ensemble")
    playing = await waiting(one, session_id)
    assert (await two.client.call("session.cancel_turn", session_id))["type"] == "turn_cancelled"
    last = (await playing)[-1]
    assert last["type"] == "failed" and "cancelled" in last["error"]["message"]
    assert (await two.client.call("session.get", session_id))["turn_index"] == 0
    again = await two.client.turn(session_id, "", method="session.retry_turn")
    assert again[-1]["response"]["result"]["player_input"] == "I knock."


async def test_a_session_is_deleted_from_the_other_server(pair: tuple[Victim, Victim]) -> None:
    one, two = pair
    session_id = await one.session("ensemble")
    playing = await waiting(one, session_id)
    await two.client.call("session.delete", session_id)
    last = (await playing)[-1]
    assert last["type"] == "failed" and "deleted" in last["error"]["message"]


async def test_the_end_of_a_turn_is_seen_from_the_other_server(pair: tuple[Victim, Victim]) -> None:
    one, two = pair
    session_id = await one.session("ensemble")
    one.troupe.pace = Pace(tokens_per_second=20)
    playing = asyncio.create_task(one.client.turn(session_id, "I knock."))
    while not (await two.client.call("session.get", session_id)).get("active_turn_id"):
        await asyncio.sleep(0.01)
    seen = sse((await two.client.http.get(f"/sessions/{session_id}/events")).text)
    assert seen[-1]["data"]["frame"] == (await playing)[-1]


async def test_the_turns_of_a_server_that_is_killed_are_taken_up_by_the_other(pair: tuple[Victim, Victim]) -> None:
    one, two = pair
    session_id = await one.session("ensemble")
    playing = await waiting(one, session_id)
    one.kill()
    await asyncio.wait([playing])
    session = await two.rested(session_id)
    assert session["turn_index"] == 1 and session["history"][0]["text"] == "I knock."
    assert [one["kind"] for one in session["history"]].count("player_input") == 1


async def test_a_server_that_is_asked_to_stop_leaves_its_turn_to_the_next(
    fork_server: ForkServer, tmp_path: Path
) -> None:
    async with victim(fork_server, tmp_path) as it:
        session_id = await it.session("ensemble")
        playing = await waiting(it, session_id)
        it.kill(signal.SIGTERM)
        await it.start()
        await asyncio.wait([playing])
        session = await it.rested(session_id)
        assert session["turn_index"] == 1 and session["history"][0]["text"] == "I knock."
