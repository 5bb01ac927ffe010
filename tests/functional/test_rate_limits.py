"""Rate limits: whoever asks too often is told when to come back, at every door, and nobody else notices."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from tests.functional.test_realtime import listener
from tests.game_client import game
from tests.live import Client, StandingClock, gate_story, live_server

from fabula.actions.care.tokens import create_token
from fabula.ports.actors import OPERATOR
from fabula.ports.store import TokenRole


@asynccontextmanager
async def person(client: Client, role: TokenRole = "player") -> AsyncIterator[tuple[Client, str]]:
    """Somebody with a token of their own, and the token."""
    secret = (await create_token(client.house, OPERATOR, role=role)).secret
    headers = {"authorization": f"Bearer {secret}"}
    async with httpx.AsyncClient(base_url=client.http.base_url, headers=headers, timeout=120) as http:
        yield Client(http, client.house), secret


async def test_over_the_limit_a_call_gets_429_and_when_to_come_back(tmp_path: Path) -> None:
    async with (
        live_server(tmp_path, StandingClock(), require_tokens=True, calls_per_minute=5) as client,
        person(client) as (one, token),
        person(client) as (two, _),
        person(client, "admin") as (admin, _),
    ):
        answers = [await one.http.post("/rpc", json=one.request("story.list")) for _ in range(6)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429]
        error: dict[str, Any] = answers[-1].json()["error"]
        assert error["code"] == 42929 and "Try again in" in error["message"]
        assert 1 <= int(answers[-1].headers["retry-after"]) == error["data"]["retry_after_s"] <= 12
        async with listener(client, {"token": token}) as it:
            assert (await it.ask("unwatch", session_id="s"))["error"]["code"] == 42929
        assert (await two.call("story.list"))["stories"] == []
        for _ in range(8):
            await admin.call("story.list")


async def test_what_npcs_are_asked_counts_as_calls(tmp_path: Path) -> None:
    async with (
        live_server(tmp_path, StandingClock(), require_tokens=True, calls_per_minute=5) as client,
        person(client) as (_, token),
        game(str(client.http.base_url), answers_state=False) as mine,
    ):
        await mine.send("hello", token=token)
        for number in range(8):
            await mine.say("Good day.", agent_id=f"npc{number}")
        await mine.send("notification_event", agent_ids=["npc0"], event_type="x", text="It rains.")
        await mine.send("ping", id="last")
        frames = [await mine.next()]
        while frames[-1]["type"] != "pong":
            frames.append(await mine.next())
        asked = {frame["agent_id"] for frame in frames if frame["type"] == "get_agent_state"}
        refused = [frame for frame in frames if frame["type"] == "error"]
        assert asked == {f"npc{number}" for number in range(len(asked))} and 4 <= len(asked) <= 5
        assert {frame["agent_id"] for frame in refused} == {f"npc{number}" for number in range(len(asked), 8)}
        assert {frame["code"] for frame in refused} == {"busy"} and "Try again in" in refused[0]["message"]


async def test_turns_are_limited_by_caller_and_by_session_at_every_door(tmp_path: Path) -> None:
    limits = {"turns_per_minute": 3, "session_turns_per_minute": 2}
    async with (
        live_server(tmp_path, StandingClock(), require_tokens=True, **limits) as client,
        person(client, "admin") as (admin, _),
        person(client) as (player, token),
    ):
        story_id = await gate_story(admin)
        sessions = [str((await player.raw("story.start_session", story_id=story_id))["session_id"]) for _ in range(2)]
        for words in ("I knock.", "I knock again."):
            assert (await player.turn(sessions[0], words))[-1]["type"] == "completed"
        request = player.request("session.run_turn", sessions[0], player_input="Once more.", key="k1")
        refused = await player.http.post("/rpc", json=request)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, 42929)
        assert int(refused.headers["retry-after"]) >= 1
        async with listener(client, {"token": token}) as it:
            beat = {"session_id": sessions[1], "input": "Hello."}
            assert (await it.ask("storybeat", request_id="r1", **beat))["ok"]
            await it.until("done")
            over = await it.ask("storybeat", request_id="r2", **beat)
            assert over["error"]["code"] == 42929 and over["error"]["data"]["retry_after_s"] >= 1
            assert (await it.ask("storybeat", request_id="r1", **beat))["ok"], "a repeat is no other turn"
        assert (await player.call("session.get", sessions[0]))["turn_index"] == 2


async def test_a_server_that_asks_for_no_tokens_has_no_limits(tmp_path: Path) -> None:
    async with live_server(tmp_path, calls_per_minute=1) as client:
        for _ in range(5):
            await client.call("story.list")
