"""Stopping a turn and keeping what was told: the turn is what its player read, exactly, and can be undone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.fork_server import ForkServer
from tests.knot_theatre import at_the_guard
from tests.knot_theatre import theatre as knot_theatre
from tests.live import RpcFailed, bodies, sse
from tests.mass import Mass
from tests.scripted import PACES, Theatre, theatre
from tests.turn_kills import Victim, victim

from fabula.agents.presets.templates import PromptRole
from fabula.testing.model_script import Pace, Say

NEVER = Say(text="too late", pace=Pace(first_token_ms=60_000))
WORDS = " ".join(f"word{number}{'.' if number % 8 == 7 else ''}" for number in range(4000))
"""So many that nobody hears the end of them."""
SLOWLY: dict[str, tuple[PromptRole, Say]] = {
    "ensemble": ("narrator", Say(text=WORDS, pace=Pace(tokens_per_second=150))),
    "swift": ("swift", Say(text=f"<narration>{WORDS}</narration>", pace=Pace(tokens_per_second=150))),
}


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Theatre]:
    async with theatre(tmp_path) as opened:
        yield opened


class Playing:
    """A turn whose frames are read as they come."""

    def __init__(self, client: Any, session_id: str, words: str = "I knock.") -> None:
        self._client, self._request = client, client.request("session.run_turn", session_id, player_input=words)
        self.text = ""
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async with self._client.http.stream("POST", "/rpc", json=self._request) as response:
            async for chunk in response.aiter_text():
                self.text += chunk

    async def until(self, mark: str) -> None:
        async with asyncio.timeout(120):
            while mark not in self.text:
                await asyncio.sleep(0.005)

    async def frames(self) -> list[dict[str, Any]]:
        """All of them, to the end."""
        async with asyncio.timeout(120):
            await self._task
        return [event["data"]["frame"] for event in sse(self.text) if event["event"] == "message"]


def told_in(frames: list[dict[str, Any]]) -> str:
    """What a client was told of the narrator, piece by piece."""
    return "".join(body["delta"] for body in bodies(frames) if body["type"] == "narrator_text_delta")


def narrated(session: dict[str, Any]) -> list[str]:
    return [line["text"] for line in session["history"] if line["kind"] == "narration"]


async def statuses(client: Any, session_id: str) -> list[str]:
    return [turn["status"] for turn in (await client.call("session.branches", session_id))["turns"][1:]]


@pytest.mark.parametrize("pace", PACES)
async def test_what_was_told_by_then_is_the_turn(house: Theatre, pace: str) -> None:
    session_id = await house.session(pace)
    before = await house.client.call("session.get", session_id)
    house.troupe.misbehave(*SLOWLY[pace])
    playing = Playing(house.client, session_id)
    await playing.until("word20")
    answer = await house.client.call("session.cancel_turn", session_id, keep=True)
    frames = await playing.frames()
    session = await house.client.call("session.get", session_id)
    result = frames[-1]["response"]["result"]
    assert answer == {"type": "turn_cancelled", "turn_id": result["turn_id"], "kept": True}
    assert frames[-1]["type"] == "completed" and result["cut"] is True
    told = told_in(frames).strip()
    assert "word20" in told and "word3999" not in told
    assert [beat["response"]["text"] for beat in result["completed_beats"]] == [told] == narrated(session)
    assert session["turn_index"] == 1 and session["history"][0]["text"] == "I knock."
    assert session["snapshot"] == result["snapshot"]
    assert await statuses(house.client, session_id) == ["cut"]
    back = await house.client.call("session.backtrack", session_id)
    assert (back["snapshot"], back["state_hash"]) == (before["snapshot"], before["state_hash"])


@pytest.mark.parametrize("pace", PACES)
async def test_the_story_goes_on_from_a_turn_that_was_cut(house: Theatre, pace: str) -> None:
    session_id = await house.session(pace)
    house.troupe.misbehave(*SLOWLY[pace])
    playing = Playing(house.client, session_id)
    await playing.until("word20")
    await house.client.call("session.cancel_turn", session_id, keep=True)
    await playing.frames()
    assert (await house.client.turn(session_id, "I wait."))[-1]["type"] == "completed"
    assert (await house.client.turn(session_id, "", method="session.regenerate"))[-1]["type"] == "completed"
    assert await statuses(house.client, session_id) == ["cut", "committed", "committed"]
    assert "word20" in str(house.models.requests[-1]), "what was told is part of the history"


async def test_finished_beats_are_whole_and_the_one_that_was_cut_ends_where_it_was(house: Theatre) -> None:
    session_id = await house.session("ensemble")
    speech = "<action>She looks up.</action><dialogue>" + WORDS + "</dialogue>"
    house.troupe.misbehave("actor", Say(text=speech, pace=Pace(tokens_per_second=150)))
    playing = Playing(house.client, session_id)
    await playing.until("word20")
    asked = len(house.troupe.calls)
    await house.client.call("session.cancel_turn", session_id, keep=True)
    frames = await playing.frames()
    result = frames[-1]["response"]["result"]
    narrator, actor = result["completed_beats"]
    whole = next(body for body in bodies(frames) if body["type"] == "narrator_completed")
    assert narrator["response"] == whole["response"]
    spoken = "".join(body["delta"] for body in bodies(frames) if body["type"] == "actor_dialogue_delta")
    assert [segment["kind"] for segment in actor["response"]["segments"]] == ["action", "dialogue"]
    assert actor["response"]["segments"][1]["text"] == spoken.strip()
    assert len(house.troupe.calls) == asked, "the second keeper is not asked"


async def test_an_action_that_was_not_whole_was_not_told_and_is_not_kept(house: Theatre) -> None:
    session_id = await house.session("ensemble")
    done = f"<dialogue>Halt.</dialogue><action>{WORDS}</action>"
    house.troupe.misbehave("actor", Say(text=done, pace=Pace(tokens_per_second=150)))
    playing = Playing(house.client, session_id)
    await playing.until("Halt")
    await asyncio.sleep(0.2)
    await house.client.call("session.cancel_turn", session_id, keep=True)
    result = (await playing.frames())[-1]["response"]["result"]
    assert [one["text"] for one in result["completed_beats"][1]["response"]["segments"]] == ["Halt."]


async def test_the_updates_of_a_swift_turn_that_were_whole_by_then_count(house: Theatre) -> None:
    session_id = await house.session("swift")
    update = '{"ops": [{"type": "SetCharacterState", "character": "mara", "key": "trust", "value": 1}]}'
    text = f"<narration>Mara nods. She trusts you.</narration><update>{update}</update><narration>{WORDS}</narration>"
    house.troupe.misbehave("swift", Say(text=text, pace=Pace(tokens_per_second=150)))
    playing = Playing(house.client, session_id)
    await playing.until("word20")
    await house.client.call("session.cancel_turn", session_id, keep=True)
    result = (await playing.frames())[-1]["response"]["result"]
    assert [op["type"] for op in result["second_keeper"]["update"]["ops"]] == ["SetCharacterState"]
    assert result["snapshot"]["world_state"]["character_state"]["mara"]["trust"] == 1


async def test_while_the_second_keeper_thinks_all_that_was_told_is_kept_without_it(house: Theatre) -> None:
    session_id = await house.session("ensemble")
    playing_first = Playing(house.client, session_id)
    whole = await playing_first.frames()
    house.troupe.misbehave("keeper", Say(text='{"ops": []}'), NEVER)
    playing = Playing(house.client, session_id, "I wait.")
    await playing.until("actor_completed")
    await house.client.call("session.cancel_turn", session_id, keep=True)
    result = (await playing.frames())[-1]["response"]["result"]
    assert len(result["completed_beats"]) == len(whole[-1]["response"]["result"]["completed_beats"])
    assert result["cut"] is True and result["second_keeper"]["update"]["ops"] == []
    assert await statuses(house.client, session_id) == ["committed", "cut"]


@pytest.mark.parametrize("pace", PACES)
async def test_where_nothing_was_told_yet_it_is_a_plain_cancel_and_the_words_are_kept(
    house: Theatre, pace: str
) -> None:
    session_id = await house.session(pace)
    role = SLOWLY[pace][0]
    house.troupe.misbehave(role, NEVER)
    playing = Playing(house.client, session_id)
    while role not in house.troupe.calls:
        await asyncio.sleep(0.01)
    answer = await house.client.call("session.cancel_turn", session_id, keep=True)
    assert answer["kept"] is False
    assert (await playing.frames())[-1]["type"] == "failed"
    assert await statuses(house.client, session_id) == ["cancelled"]
    assert (await house.client.call("session.get", session_id))["turn_index"] == 0
    assert (await house.client.turn(session_id, "", method="session.retry_turn"))[-1]["type"] == "completed"


async def test_in_an_ink_play_there_is_nothing_to_keep(tmp_path: Path) -> None:
    async with knot_theatre(tmp_path, lambda _: NEVER) as (client, model):
        session_id = await at_the_guard(client, api_group_id="scripted")
        playing = Playing(client, session_id)
        while not model.requests:
            await asyncio.sleep(0.01)
        assert (await client.call("session.cancel_turn", session_id, keep=True))["kept"] is False
        assert (await playing.frames())[-1]["type"] == "failed"
        assert await statuses(client, session_id) == ["committed", "cancelled"]


async def test_with_no_turn_in_flight_there_is_nothing_to_stop(house: Theatre) -> None:
    with pytest.raises(RpcFailed) as refused:
        await house.client.call("session.cancel_turn", await house.session(), keep=True)
    assert refused.value.code == 40909


@pytest.mark.parametrize("pace", PACES)
async def test_whenever_a_turn_is_cut_it_is_what_was_told(house: Theatre, pace: str, mass: Mass) -> None:
    """At any moment, the end included: the answer, the last frame, the status and the transcript say the same."""
    session_id = await house.session(pace)
    for number in range(mass(60)):
        before = await house.client.call("session.get", session_id)
        house.troupe.pace = Pace(tokens_per_second=400)
        playing = Playing(house.client, session_id, f"I try door number {number}.")
        await playing.until("turn_started")
        await asyncio.sleep(0.03 * (number % 12))
        answer = await house.client.raw("session.cancel_turn", session_id, keep=True)
        frames = await playing.frames()
        house.troupe.pace = None
        session = await house.client.call("session.get", session_id)
        status = (await statuses(house.client, session_id))[-1]
        if "error" in answer:
            assert answer["error"]["code"] == 40909 and (frames[-1]["type"], status) == ("completed", "committed")
        elif answer["result"]["kept"]:
            result = frames[-1]["response"]["result"]
            assert (frames[-1]["type"], status, result["cut"]) == ("completed", "cut", True)
            assert session["snapshot"] == result["snapshot"]
            lines = [line["text"] for line in session["history"] if line["turn_index"] == session["turn_index"]]
            assert lines[0] == f"I try door number {number}." and len(lines) > 1
            for beat in result["completed_beats"]:
                if beat["type"] == "narrator":
                    assert beat["response"]["text"] in lines and beat["response"]["text"] in told_in(frames)
        else:
            assert (frames[-1]["type"], status) == ("failed", "cancelled")
            assert session["snapshot"] == before["snapshot"]
        if frames[-1]["type"] == "completed":
            back = await house.client.call("session.backtrack", session_id)
            assert back["state_hash"] == before["state_hash"]


@pytest.fixture
async def killed(fork_server: ForkServer, place: Place, tmp_path: Path) -> AsyncIterator[Victim]:
    async with victim(fork_server, tmp_path, environment=place.environment) as it:
        yield it


@pytest.mark.parametrize("pace", [pytest.param("ensemble", marks=pytest.mark.all), "swift"])
async def test_a_server_that_is_killed_when_it_was_asked_to_stop_leaves_a_turn_that_is_whole_or_not_there(
    killed: Victim, pace: str
) -> None:
    session_id = await killed.session(pace)
    for wait_ms in (0, 2, 5, 10, 20):
        before = await killed.rested(session_id)
        killed.troupe.misbehave(*SLOWLY[pace])
        playing = Playing(killed.client, session_id)
        await playing.until("word20")
        stopping = asyncio.create_task(killed.client.raw("session.cancel_turn", session_id, keep=True))
        await asyncio.sleep(wait_ms / 1000)
        killed.kill()
        await asyncio.wait([stopping])
        kept = stopping.exception() is None and stopping.result()["result"]["kept"]
        await asyncio.gather(playing.frames(), return_exceptions=True)
        killed.troupe.forgive()
        await killed.start()
        session = await killed.rested(session_id)
        status = (await statuses(killed.client, session_id))[-1]
        if kept:
            assert status == "cut", "what was answered is true"
        if session["turn_index"] == before["turn_index"]:
            assert status == "cancelled" and session["state_hash"] == before["state_hash"]
        else:
            # A kill that came before the wish to stop left a turn that was played to its end.
            assert status == "committed" or (status == "cut" and "word20" in narrated(session)[-1])
            await killed.client.call("session.backtrack", session_id)
