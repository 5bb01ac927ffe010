"""The session feed: whoever has a play open learns what others do there, on every server, and misses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.functional.test_turns_on_two_servers import bus_environment, linked  # noqa: F401
from tests.live import Client, gate_session, live_server, sse
from tests.scripted import theatre
from tests.turn_kills import Victim

from fabula.actions.turns.watch_feed import MOST_FEEDS, watch_feed
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, NotFound
from fabula.ports.store import Token
from fabula.story.feed_events import SeatHere
from fabula.testing.model_script import Fail, Pace, Say


class Feed:
    """A feed that is read as it comes."""

    def __init__(self, client: Client, session_id: str, last: str = "", **who: str) -> None:
        self._client, self._path, self._who = client, f"/sessions/{session_id}/feed", who
        self._headers = {"last-event-id": last} if last else {}
        self.text, self.status = "", 0
        self.task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        with suppress(httpx.ReadError):
            async with self._client.http.stream("GET", self._path, params=self._who, headers=self._headers) as response:
                self.status = response.status_code
                async for chunk in response.aiter_text():
                    self.text += chunk

    @property
    def messages(self) -> list[dict[str, Any]]:
        return sse(self.text[: self.text.rfind("\n\n") + 2])

    @property
    def events(self) -> list[dict[str, Any]]:
        return [one["data"] for one in self.messages]

    async def until(self, type: str, times: int = 1) -> list[dict[str, Any]]:
        """The events up to one of a type."""
        async with asyncio.timeout(120):
            while sum(one["type"] == type for one in self.events) < times:
                await asyncio.sleep(0.01)
        return self.events

    async def until_here(self, *names: str) -> None:
        """Waits until exactly these are told to be here."""
        async with asyncio.timeout(120):
            while self.here != list(names):
                await asyncio.sleep(0.01)

    @property
    def here(self) -> list[str]:
        told = [one for one in self.events if one["type"] == "presence"]
        return [seat["name"] for seat in told[-1]["seats"]] if told else []

    async def close(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])


@asynccontextmanager
async def feed(client: Client, session_id: str, last: str = "", **who: str) -> AsyncIterator[Feed]:
    opened = Feed(client, session_id, last, **who)
    try:
        yield opened
    finally:
        await opened.close()


async def test_turns_moves_and_changes_are_told_as_they_happen(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id = await gate_session(client)
        start = (await client.call("session.get", session_id))["head_turn_id"]
        async with feed(client, session_id) as told:
            await told.until("snapshot")
            assert told.events == [{"type": "snapshot", "head_turn_id": start, "active_turn_id": None}]
            await client.turn(session_id, "I knock.")
            await told.until("head_moved")
            session = await client.call("session.get", session_id)
            turn_id = session["head_turn_id"]
            assert told.events[1:] == [
                {"type": "turn_began", "turn_id": turn_id, "by": None},
                {"type": "turn_over", "turn_id": turn_id, "status": "committed"},
                {"type": "head_moved", "turn_id": turn_id, "by": None},
            ]
            line = session["history"][-1]
            fields = {name: line[name] for name in ("message_id", "kind", "speaker_id", "speaker_name")}
            await client.call("session_message.update", session_id, **fields, text="It is late.")
            ops = [{"type": "SetState", "key": "gate_open", "value": True}]
            await client.call("session.update_variables", session_id, update={"ops": ops})
            await client.call("session.update", session_id, display_name="Another name")
            await client.call("session.backtrack", session_id, turn_id=start)
            await told.until("head_moved", 4)
            assert [one["type"] for one in told.events[4:]] == [
                *("head_moved", "messages_changed", "head_moved", "variables_changed", "config_changed", "head_moved"),
            ]
            assert told.events[5]["message_ids"] == [line["message_id"]] and told.events[-1]["turn_id"] == start
            await client.call("session.delete", session_id)
            await told.until("session_deleted")
            async with asyncio.timeout(120):
                await told.task


async def test_a_turn_that_failed_was_cut_or_cancelled_says_so(tmp_path: Path) -> None:
    words = " ".join(f"word{number}." for number in range(3000))
    slowly = Say(text=words, pace=Pace(tokens_per_second=100))
    async with theatre(tmp_path) as house:
        session_id = await house.session("ensemble")
        async with feed(house.client, session_id) as told:
            await told.until("snapshot")
            house.troupe.misbehave("narrator", Fail(status=500), Fail(status=500), slowly, slowly)
            assert (await house.client.turn(session_id, "I knock."))[-1]["type"] == "failed"
            for number, keep in ((2, True), (3, False)):
                playing = asyncio.create_task(house.client.turn(session_id, "I wait."))
                await told.until("turn_began", number)
                while house.troupe.calls.count("narrator") < number + 1:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.3)
                await house.client.call("session.cancel_turn", session_id, keep=keep)
                await playing
            await told.until("turn_over", 3)
            over = [one["status"] for one in told.events if one["type"] == "turn_over"]
            assert over == ["failed", "cut", "cancelled"]


async def test_who_comes_back_goes_on_after_the_last_event_and_hears_nothing_twice(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id = await gate_session(client)
        async with feed(client, session_id) as told:
            await told.until("snapshot")
            await client.turn(session_id, "I knock.")
            await told.until("head_moved")
            seen = told.messages
        await client.turn(session_id, "I wait.")
        for place in (0, 1, len(seen) - 1):
            async with feed(client, session_id, seen[place]["id"]) as again:
                moves = sum(one["data"]["type"] == "head_moved" for one in seen[place + 1 :])
                await again.until("head_moved", moves + 1)
                assert [one["id"] for one in again.messages[: len(seen) - 1 - place]] == [
                    one["id"] for one in seen[place + 1 :]
                ]
                assert [one["type"] for one in again.events[-3:]] == ["turn_began", "turn_over", "head_moved"]
        async with feed(client, session_id, "somewhere.7") as elsewhere:
            assert (await elsewhere.until("snapshot"))[0]["type"] == "snapshot"


async def test_only_who_reaches_the_session_is_told_and_no_longer_than_the_token_holds(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id, house = await gate_session(client), client.house
        async with house.store.writing() as unit:
            token = Token(token_id="guest", label="g", role="player", hash="h", created_at_ms=1)
            await unit.tokens.add(token)
        guest = Actor(role="player", token_id="guest")
        with pytest.raises(NotFound):
            await watch_feed(house, guest, session_id, "")
        async with house.store.writing() as unit:
            await unit.plays.invite(session_id, "guest")
        told = await watch_feed(house, guest, session_id, "", look_every_s=0.05)
        assert (await anext(told)).event.type == "snapshot"
        async with house.store.writing() as unit:
            await unit.tokens.revoke("guest")
        async with asyncio.timeout(120):
            assert [one async for one in told] == []
        missing = await client.http.get("/sessions/session_unknown/feed")
        assert missing.status_code == 404


async def test_feeds_are_bounded_for_each_caller(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id, house = await gate_session(client), client.house
        actor = Actor(role="admin")
        opened = [await watch_feed(house, actor, session_id, "") for _ in range(MOST_FEEDS)]
        for one in opened:
            await anext(one)
        with pytest.raises(Conflict):
            await watch_feed(house, actor, session_id, "")
        await opened[0].aclose()
        await (await watch_feed(house, actor, session_id, "")).aclose()
        for one in opened[1:]:
            await one.aclose()


async def test_servers_on_one_postgres_hear_each_other(linked: tuple[Victim, Victim]) -> None:  # noqa: F811
    one, two = linked
    session_id = await one.session("ensemble")
    async with feed(two.client, session_id) as told:
        await told.until("snapshot")
        # The way between the servers takes a moment to be there: what is done meanwhile is told by the next snapshot.
        await asyncio.sleep(1.0)
        await one.client.turn(session_id, "I knock.")
        await told.until("head_moved")
        assert [event["type"] for event in told.events[-3:]] == ["turn_began", "turn_over", "head_moved"]
        await one.client.call("session.update", session_id, display_name="Another name")
        await told.until("config_changed")


async def test_those_who_have_a_play_open_see_each_other_come_and_go(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id = await gate_session(client)
        story_id = (await client.call("session.get", session_id))["story_id"]
        elsewhere = (await client.call("story.start_session", story_id=story_id))["session_id"]
        async with (
            feed(client, session_id, seat="a", name="Ada") as ada,
            feed(client, session_id) as silent,
            feed(client, elsewhere, seat="c", name="Cleo") as cleo,
        ):
            await ada.until_here("Ada")
            async with feed(client, session_id, seat="b", name="Ben\u202e\n") as ben:
                await ada.until_here("Ada", "Ben")
                await ben.until_here("Ada", "Ben")
                seats = ben.events[-1]["seats"]
                assert [one["seat_id"] for one in seats if one["name"] == "Ben"] == [ben.events[-1]["you"]]
                async with feed(client, session_id, seat="b", name="Ben"):
                    await asyncio.sleep(0.1)
                # Ben closed one of two pages: he is still here, and nobody saw him leave.
                await asyncio.sleep(0.1)
                assert ada.here == ["Ada", "Ben"]
            await ada.until_here("Ada")
            assert [one["type"] for one in silent.events] == ["snapshot"]
            assert cleo.here == ["Cleo"]


async def test_a_seat_without_a_name_has_that_of_its_token_and_no_token_takes_anothers_seat(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id, house = await gate_session(client), client.house
        found = []
        for guest in ("g1", "g2"):
            async with house.store.writing() as unit:
                await unit.tokens.add(
                    Token(token_id=guest, label=f"Guest {guest}", role="player", hash=guest, created_at_ms=1)
                )
                await unit.plays.invite(session_id, guest)
            told = await watch_feed(house, Actor(role="player", token_id=guest), session_id, "", seat="same")
            found.append([(await anext(told)).event, (await anext(told)).event][1])
            await told.aclose()
        assert [one.type for one in found] == ["presence", "presence"]
        assert found[0].you != found[1].you
        assert [seat.name for seat in found[0].seats] == ["Guest g1"]


async def test_on_two_servers_they_see_each_other_too(linked: tuple[Victim, Victim]) -> None:  # noqa: F811
    one, two = linked
    session_id = await one.session("ensemble")
    async with (
        feed(one.client, session_id, seat="a", name="Ada") as ada,
        feed(two.client, session_id, seat="b", name="Ben") as ben,
    ):
        await ada.until_here("Ada", "Ben")
        await ben.until_here("Ada", "Ben")


async def test_a_note_of_a_seat_that_somebody_wrote_among_those_of_a_session_ends_no_feed(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id = await gate_session(client)
        async with feed(client, session_id) as one:
            await one.until("snapshot")
            client.house.feeds.publish(session_id, SeatHere(seat_id="forged", name="Eve", asks=False))
            await client.turn(session_id, "Hello.")
            await one.until("turn_over")
            assert one.status == 200 and "Eve" not in one.text
