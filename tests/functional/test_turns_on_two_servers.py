"""Two servers share one Postgres: a turn is one server's at a time, and can be followed and stopped from both."""

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
from fabula.testing.redis import RedisServer

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


@pytest.fixture(params=["postgres", "redis"])
def bus_environment(request: pytest.FixtureRequest) -> dict[str, str]:
    """What tells servers how to follow each other's turns; a test that asks for it, or for `linked`, runs twice."""
    if request.param == "postgres":
        return {}
    redis: RedisServer = request.getfixturevalue("redis_server")
    return {"FABULA_REDIS_URL": redis.url}


@pytest.fixture
async def linked(
    fork_server: ForkServer, postgres_place: Place, tmp_path: Path, bus_environment: dict[str, str]
) -> AsyncIterator[tuple[Victim, Victim]]:
    """Two servers on one Postgres, with Redis and without."""
    async with (
        victim(fork_server, tmp_path, environment={**postgres_place.environment, **bus_environment}) as one,
        second(one, tmp_path / "second") as two,
    ):
        yield one, two


@pytest.fixture
async def pair(fork_server: ForkServer, postgres_place: Place, tmp_path: Path) -> AsyncIterator[tuple[Victim, Victim]]:
    async with (
        victim(fork_server, tmp_path, environment=postgres_place.environment) as one,
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


async def keyed(it: Victim, session_id: str, words: str, key: str) -> list[dict[str, Any]]:
    request = it.client.request("session.run_turn", session_id, player_input=words, key=key)
    response = await it.client.http.post("/rpc", json=request)
    return [event["data"] for event in sse(response.text) if event["event"] == "message"]


async def test_words_with_one_key_are_played_once_whichever_server_they_are_sent_to(
    linked: tuple[Victim, Victim],
) -> None:
    one, two = linked
    session_id = await one.session("ensemble")
    one.troupe.pace = Pace(tokens_per_second=20)
    told = await asyncio.gather(*(keyed(it, session_id, "I knock.", "k1") for it in (one, two, one, two)))
    assert all(other == told[0] for other in told)
    assert (told[0][0]["frame"]["type"], told[0][-1]["frame"]["type"]) == ("started", "completed")
    for it in linked:
        assert await keyed(it, session_id, "I knock.", "k1") == [told[0][-1]]
        assert len((await it.client.call("session.branches", session_id))["turns"]) == 2


async def test_a_turn_is_cut_from_the_other_server_and_what_was_told_is_kept(linked: tuple[Victim, Victim]) -> None:
    one, two = linked
    session_id = await one.session("ensemble")
    words = " ".join(f"word{number}" for number in range(2000))
    one.troupe.misbehave("narrator", Say(text=words, pace=Pace(tokens_per_second=100)))
    playing = asyncio.create_task(one.client.turn(session_id, "I knock."))
    while "narrator" not in one.troupe.calls:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.5)
    answer = await two.client.call("session.cancel_turn", session_id, keep=True)
    assert answer["kept"] is True
    frames = await playing
    result = frames[-1]["response"]["result"]
    told = result["completed_beats"][0]["response"]["text"]
    assert result["cut"] is True and "word10" in told and not told.endswith("word1999")
    for it in linked:
        session = await it.client.call("session.get", session_id)
        assert session["history"][-1]["text"] == told
        assert (await it.client.call("session.branches", session_id))["turns"][-1]["status"] == "cut"


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


async def read_until(it: Victim, session_id: str, mark: str, **headers: str) -> list[dict[str, Any]]:
    """The events of the turn in flight, as far as the one in which the mark stands; then the client leaves."""
    text = ""
    async with it.client.http.stream("GET", f"/sessions/{session_id}/events", headers=headers) as response:
        async for chunk in response.aiter_text():
            text += chunk
            if mark in text and text.endswith("\n\n"):
                break
    return sse(text)


async def begun(it: Victim, session_id: str) -> asyncio.Task[list[dict[str, Any]]]:
    """A turn whose narrator takes his time, and that is known to be in flight; its task answers all its events."""
    it.troupe.pace = Pace(tokens_per_second=15)
    request = it.client.request("session.run_turn", session_id, player_input="I knock.")

    async def play() -> list[dict[str, Any]]:
        return sse((await it.client.http.post("/rpc", json=request)).text)

    playing = asyncio.create_task(play())
    while not (await it.client.call("session.get", session_id)).get("active_turn_id"):
        await asyncio.sleep(0.01)
    return playing


async def test_a_stream_begun_on_one_server_is_read_on_at_the_other_with_no_gap_and_no_repeat(
    linked: tuple[Victim, Victim],
) -> None:
    one, two = linked
    session_id = await one.session("ensemble")
    one.troupe.misbehave("narrator", Say(text="word " * 150, pace=Pace(tokens_per_second=15)))
    playing = await begun(one, session_id)
    seen = await read_until(one, session_id, "narrator_text_delta")
    last = seen[-1]["id"]
    for it in (two, one, two):
        more = await read_until(it, session_id, "\n\n", **{"last-event-id": last})
        seen, last = seen + more, more[-1]["id"]
    assert not playing.done(), "all of that was read while the turn was told"
    one.troupe.pace = Pace()
    rest = await two.client.http.get(f"/sessions/{session_id}/events", headers={"last-event-id": last})
    told = [event for event in await playing if event["event"] == "message"]
    assert seen + sse(rest.text) == told


async def test_a_turn_that_is_over_is_read_again_at_the_other_server(linked: tuple[Victim, Victim]) -> None:
    one, two = linked
    session_id = await one.session("ensemble")
    path = f"/sessions/{session_id}/events"
    for turn in range(5):
        request = one.client.request("session.run_turn", session_id, player_input=f"I knock {turn} times.")
        answer = await one.client.http.post("/rpc", json=request)
        told = [event for event in sse(answer.text) if event["event"] == "message"]
        rest = await two.client.http.get(path, headers={"last-event-id": told[0]["id"]})
        assert sse(rest.text) == told[1:], "also in the moment in which its last events cross"
    nothing = await two.client.http.get(path, headers={"last-event-id": told[-1]["id"]})
    assert nothing.status_code == 204, "who has seen the last frame is not told it again"


async def test_who_follows_a_turn_at_the_other_server_hears_how_it_ends_when_its_own_dies(
    linked: tuple[Victim, Victim],
) -> None:
    one, two = linked
    session_id = await one.session("ensemble")
    playing = await waiting(one, session_id)
    following = asyncio.create_task(two.client.http.get(f"/sessions/{session_id}/events"))
    one.kill()
    await asyncio.wait([playing])
    seen = sse((await following).text)
    while seen[-1]["data"]["frame"]["type"] not in ("completed", "failed"):
        headers = {"last-event-id": seen[-1]["id"]}
        seen += sse((await two.client.http.get(f"/sessions/{session_id}/events", headers=headers)).text)
    assert seen[-1]["data"]["frame"]["type"] == "completed"
    again = [event for event in seen if "~2:" in event["id"]]
    assert [event["data"]["sequence"] for event in again] == list(range(len(again))), "told anew from its first frame"


async def test_killing_redis_in_mid_stream_does_not_fail_the_turn_and_the_next_one_is_followed_again(
    fork_server: ForkServer, postgres_place: Place, tmp_path: Path, redis_server: RedisServer
) -> None:
    environment = {**postgres_place.environment, "FABULA_REDIS_URL": redis_server.url}
    async with (
        victim(fork_server, tmp_path, environment=environment) as one,
        second(one, tmp_path / "second") as two,
    ):
        session_id = await one.session("ensemble")
        playing = await begun(one, session_id)
        following = asyncio.create_task(two.client.http.get(f"/sessions/{session_id}/events"))
        await read_until(two, session_id, "narrator_text_delta")
        await asyncio.to_thread(redis_server.kill)
        told = [event for event in await playing if event["event"] == "message"]
        assert told[-1]["data"]["frame"]["type"] == "completed"
        assert [event["data"]["sequence"] for event in told] == list(range(len(told)))
        seen = sse((await following).text)
        assert seen[-1]["data"]["frame"] == told[-1]["data"]["frame"], "its end is known from the store"
        await asyncio.to_thread(redis_server.start)
        playing = await begun(one, session_id)
        seen = await read_until(two, session_id, "narrator_text_delta")
        rest = await two.client.http.get(f"/sessions/{session_id}/events", headers={"last-event-id": seen[-1]["id"]})
        assert seen + sse(rest.text) == [event for event in await playing if event["event"] == "message"]
        warnings = [line for line in (tmp_path / "server.log").read_text().splitlines() if "is away" in line]
        assert len(warnings) == 1


async def test_sixteen_sessions_are_played_at_once_on_two_servers_with_no_lost_update(
    linked: tuple[Victim, Victim],
) -> None:
    sessions = [await linked[0].session("ensemble") for _ in range(16)]

    async def play(number: int, session_id: str) -> None:
        for turn in range(3):
            it = linked[(number + turn) % 2]
            frames = await it.client.turn(session_id, f"I knock {turn} times.")
            assert frames[-1]["type"] == "completed", frames[-1]

    await asyncio.gather(*(play(number, session_id) for number, session_id in enumerate(sessions)))
    for session_id in sessions:
        for it in linked:
            session = await it.client.call("session.get", session_id)
            words = [one["text"] for one in session["history"] if one["kind"] == "player_input"]
            assert session["turn_index"] == 3 and words == [f"I knock {turn} times." for turn in range(3)]


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
        last = (await playing)[-1]
        assert last["type"] == "failed" and last["error"]["code"] == 50002, "whoever listened is not left waiting"
        await it.start()
        session = await it.rested(session_id)
        assert session["turn_index"] == 1 and session["history"][0]["text"] == "I knock."
