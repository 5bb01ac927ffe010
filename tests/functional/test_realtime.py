"""The Socket.IO door: words stream as the model says them, sessions are watched in one order, and nothing gets in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import socketio
from tests.live import Client, gate_session, live_server
from tests.scripted import theatre

from fabula.actions.care.tokens import create_token, revoke_token
from fabula.ports.actors import OPERATOR
from fabula.testing.model_script import Pace, Say

PATIENCE_S = 120.0


class Listener:
    """A client of the official Python library that writes down what it hears."""

    def __init__(self) -> None:
        self.sio = socketio.AsyncClient(reconnection=False)
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self.sio.on("*", self._hear)
        self._news = asyncio.Event()

    async def _hear(self, event: str, data: dict[str, Any]) -> None:
        self.heard.append((event, data))
        self._news.set()

    async def ask(self, event: str, **data: Any) -> dict[str, Any]:
        """Sends an event; answers its acknowledgement."""
        answer: dict[str, Any] = await self.sio.call(event, data, timeout=PATIENCE_S)
        return answer

    async def until(self, *events: str, times: int = 1) -> dict[str, Any]:
        """The first of these events, once that many have come."""
        async with asyncio.timeout(PATIENCE_S):
            while len(found := [data for event, data in self.heard if event in events]) < times:
                self._news.clear()
                await self._news.wait()
        return found[times - 1]

    def all(self, event: str) -> list[dict[str, Any]]:
        return [data for name, data in self.heard if name == event]

    def tokens(self) -> str:
        return "".join(data["token"] for data in self.all("new_token"))


@asynccontextmanager
async def listener(client: Client, auth: dict[str, Any] | None = None, **options: Any) -> AsyncIterator[Listener]:
    it = Listener()
    await it.sio.connect(str(client.http.base_url), auth=auth, transports=["websocket"], **options)
    try:
        yield it
    finally:
        await it.sio.disconnect()


async def test_words_stream_while_the_model_still_speaks(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        session_id = await stage.session()
        words = " ".join(f"word{number}" for number in range(60))
        stage.troupe.misbehave("narrator", Say(text=words, pace=Pace(tokens_per_second=60)))
        async with listener(stage.client) as it:
            begun = await it.ask("storybeat", request_id="r1", session_id=session_id, input="I knock.")
            assert begun["ok"] is True
            first = await it.until("new_token")
            assert "word59" not in it.tokens() and not it.all("done"), "the first words came before the last were said"
            done = await it.until("done")
            assert it.heard[0] == (
                "processing",
                {"request_id": "r1", "session_id": session_id, "turn_id": begun["turn_id"]},
            )
            assert first["request_id"] == "r1" and len(it.all("new_token")) > 5
            assert done["full_text"] == it.tokens() and words in done["full_text"]
            assert (done["request_id"], done["success"]) == ("r1", True)
            assert done["metadata"]["result"]["player_input"] == "I knock."
            assert it.heard[-1][0] == "done"


@pytest.mark.parametrize("pace", ["ensemble", "swift"])
async def test_all_tokens_joined_are_the_text_of_the_turn(tmp_path: Path, pace: str) -> None:
    async with theatre(tmp_path) as stage:
        session_id = await stage.session(pace)
        async with listener(stage.client) as it:
            await it.ask("storybeat", request_id="r1", session_id=session_id, input="I knock.")
            done = await it.until("done")
            history = (await stage.client.call("session.get", session_id))["history"]
            told = [line["text"] for line in history if line["kind"] != "player_input"]
            assert done["full_text"] == it.tokens() == "\n\n".join(told[-len(done["full_text"].split("\n\n")) :])


async def test_a_request_that_comes_twice_is_played_once(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        session_id = await stage.session()
        stage.troupe.pace = Pace(tokens_per_second=100)
        beat = {"request_id": "r1", "session_id": session_id, "input": "I knock."}
        async with listener(stage.client) as one, listener(stage.client) as two:
            begun = await asyncio.gather(one.ask("storybeat", **beat), two.ask("storybeat", **beat))
            assert begun[0] == begun[1] and begun[0]["ok"]
            done = await one.until("done"), await two.until("done")
            assert done[0] == done[1] and one.tokens() == two.tokens() == done[0]["full_text"]
            late = await one.ask("storybeat", **beat)
            assert late == begun[0] and await one.until("done", times=2) == done[0]
            other = await one.ask("storybeat", **{**beat, "input": "I kick the gate."})
            assert other["error"]["code"] == 40909 and one.heard[-1][0] == "error"
            assert (await stage.client.call("session.get", session_id))["turn_index"] == 1


async def test_a_turn_is_stopped_and_what_was_told_is_kept(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        session_id = await stage.session()
        words = " ".join(f"word{number}" for number in range(3000))
        stage.troupe.misbehave("narrator", Say(text=words, pace=Pace(tokens_per_second=100)))
        async with listener(stage.client) as it:
            await it.ask("storybeat", request_id="r1", session_id=session_id, input="I knock.")
            await it.until("new_token", times=3)
            stopped = await it.ask("cancel", session_id=session_id, keep=True)
            assert stopped["ok"] and stopped["kept"] is True
            done = await it.until("done")
            assert done["metadata"]["result"]["cut"] is True and done["full_text"] == it.tokens()
            nothing = await it.ask("cancel", session_id=session_id)
            assert nothing["error"]["code"] == 40909


async def test_a_turn_that_fails_is_told_with_its_code_and_its_request(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        session_id = await stage.session()
        stage.troupe.misbehave("narrator", Say(text="Late.", pace=Pace(first_token_ms=600_000)))
        async with listener(stage.client) as it:
            await it.ask("storybeat", request_id="r1", session_id=session_id, input="I knock.")
            while "narrator" not in stage.troupe.calls:
                await asyncio.sleep(0.01)
            await it.ask("cancel", session_id=session_id)
            failed = await it.until("error")
            assert (failed["request_id"], failed["code"]) == ("r1", 50002) and "cancelled" in failed["message"]
            assert not it.all("done")


def rows(it: Listener) -> list[tuple[str, str, str]]:
    """What somebody who watches heard, in short: the event, the turn, and what it was."""
    return [
        (event, data["turn_id"], f"{data['sequence']} {data['frame']['type']}")
        if event == "turn"
        else (event, data["event"].get("turn_id", ""), data["event"]["type"])
        for event, data in it.heard
        if event in ("turn", "feed")
    ]


async def test_all_who_watch_see_feed_and_turns_in_one_order_and_who_comes_back_hears_what_was_missed(
    tmp_path: Path,
) -> None:
    async with theatre(tmp_path) as stage:
        session_id = await stage.session()
        async with listener(stage.client) as one, listener(stage.client) as two:
            for it in (one, two):
                assert (await it.ask("watch", session_id=session_id))["ok"]
                await it.until("feed")
            await stage.client.turn(session_id, "I knock.")
            await two.until("feed", times=4)
            place = two.heard[len(two.heard) // 2][1]["id"]
            missed = two.heard[len(two.heard) // 2 + 1 :]
            await stage.client.turn(session_id, "I knock again.")
            await one.until("feed", times=7)
            assert [row[2] for row in rows(one) if row[0] == "feed"] == [
                *("snapshot", "turn_began", "turn_over", "head_moved", "turn_began", "turn_over", "head_moved"),
            ]
            assert [row[0] for row in rows(one)[:3]] == ["feed", "feed", "turn"]
            async with listener(stage.client) as back:
                await back.ask("watch", session_id=session_id, after=place)
                await back.until("feed", times=5)
                assert back.heard[: len(missed)] == missed
                assert rows(one)[-len(rows(back)) :] == rows(back)
            await two.until("feed", times=7)
            assert rows(one) == rows(two)
            assert (await one.ask("unwatch", session_id=session_id))["ok"]


async def test_nobody_watches_a_session_that_is_not_theirs(tmp_path: Path) -> None:
    async with live_server(tmp_path, require_tokens=True) as client:
        tokens = [await create_token(client.house, OPERATOR, role=role) for role in ("admin", "player")]
        client.http.headers["authorization"] = f"Bearer {tokens[0].secret}"
        session_id = await gate_session(client)
        async with listener(client, {"token": tokens[1].secret}) as it:
            for event, more in (("watch", {}), ("storybeat", {"request_id": "r", "input": "Hi."}), ("cancel", {})):
                refused = await it.ask(event, session_id=session_id, **more)
                assert refused["error"]["code"] == 40404
        async with listener(client, {"token": tokens[0].secret}) as it:
            assert (await it.ask("watch", session_id=session_id))["ok"]


async def test_without_a_token_that_works_nobody_comes_in_by_socket_io(tmp_path: Path) -> None:
    async with live_server(tmp_path, require_tokens=True) as client:
        revoked = await create_token(client.house, OPERATOR, role="admin")
        await revoke_token(client.house, OPERATOR, revoked.token.token_id)
        for auth in (None, {}, {"token": "fabula_none"}, {"token": revoked.secret}, {"token": 7}, {"token": "x" * 999}):
            stranger = Listener()
            refusals: list[dict[str, Any]] = []
            stranger.sio.on("connect_error", refusals.append)
            with pytest.raises(socketio.exceptions.ConnectionError):
                await stranger.sio.connect(str(client.http.base_url), auth=auth, transports=["websocket"])
            assert refusals[0]["data"]["code"] == 40101 and "token" in refusals[0]["message"]
        headers = {"Authorization": f"Bearer {revoked.secret}"}
        stranger = Listener()
        with pytest.raises(socketio.exceptions.ConnectionError):
            await stranger.sio.connect(str(client.http.base_url), headers=headers, transports=["websocket"])


async def test_a_socket_io_connection_ends_soon_after_its_token_was_revoked(tmp_path: Path) -> None:
    async with live_server(tmp_path, require_tokens=True) as client:
        made = await create_token(client.house, OPERATOR, role="player")
        async with listener(client, {"token": made.secret}) as it:
            await revoke_token(client.house, OPERATOR, made.token.token_id)
            assert (await it.until("error"))["code"] == 40101
            async with asyncio.timeout(PATIENCE_S):
                await it.sio.wait()


async def test_pages_of_other_origins_and_strange_hosts_do_not_reach_socket_io(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        address = "/socket.io/?EIO=4&transport=polling"
        assert (await client.http.get(address, headers={"origin": "https://evil.example"})).status_code == 403
        assert (await client.http.get(address, headers={"host": "evil.example"})).status_code == 403
        assert (await client.http.get(f"{address}&j=0")).status_code == 400
        assert (await client.http.get("/socket.io/other")).status_code == 404
        page = Listener()
        with pytest.raises(socketio.exceptions.ConnectionError):
            await page.sio.connect(
                str(client.http.base_url), headers={"Origin": "https://evil.example"}, transports=["websocket"]
            )


async def test_polling_plays_as_well(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        session_id = await stage.session("swift")
        it = Listener()
        await it.sio.connect(str(stage.client.http.base_url), transports=["polling"])
        await it.ask("storybeat", request_id="r1", session_id=session_id, input="I knock.")
        assert (await it.until("done"))["full_text"] == it.tokens()
        await it.sio.disconnect()
