"""Conversations over the protocol: what is streamed, what a model may claim to feel, who fails, and who is killed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.fork_server import ForkServer
from tests.free_world import free_session
from tests.live import Client, RpcFailed, bodies, live_server, sse
from tests.scripted import Theatre, theatre
from tests.turn_kills import Victim, lines, victim

from fabula.story.events import SocialBeat
from fabula.story.player_views import event_for_players, result_for_players
from fabula.story.relations import Deltas
from fabula.testing.model_script import CutMidStream, Fail

FOUR = ("orr", "ilse", "tobias")


async def with_company(client: Client) -> None:
    """Three more in the scene of the gate."""
    for name in FOUR:
        content = {"id": name, "name": name.title(), "personality": "A traveller.", "style": "plain"}
        await client.call("character.create", content={**content, "schema_id": "gate-keeper", "system_prompt": ""})
    story = (await client.call("story.list"))["stories"][0]
    everyone = ["mara", *FOUR]
    await client.call("story_resources.update", resource_id=story["resource_id"], character_ids=everyone)
    graph = (await client.call("story.get", story_id=story["story_id"]))["graph"]
    graph["nodes"][0]["characters"] = everyone
    await client.call("story.update_graph", story_id=story["story_id"], graph=graph)


async def said(client: Client, session_id: str, words: str) -> list[dict[str, Any]]:
    request = client.request("conversation.say", session_id, text=words)
    response = await client.http.post("/rpc", json=request)
    return [event["data"]["frame"] for event in sse(response.text) if event["event"] == "message"]


def told(frames: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [body for body in bodies(frames) if body["type"] == kind]


def answer(words: str, **feels: Any) -> str:
    return f"<dialogue>{words}</dialogue><feels>{json.dumps(feels)}</feels>"


async def test_a_reply_is_streamed_with_its_social_beat_and_its_tag_is_shown_to_nobody(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        session_id = await stage.session()
        opened = await stage.client.call("conversation.open", session_id, character_ids=["mara"])
        assert opened["type"] == "conversation" and opened["turns"] == 0
        stage.troupe.misbehave("actor", answer("You are kind.", surface="joy", inner="fear", trust=0.1, reason="kind"))
        frames = await said(stage.client, session_id, "I brought you soup.")
        [beat] = told(frames, "social_beat")
        assert beat["character_id"] == "mara" and beat["towards"] == "player"
        assert (beat["surface"], beat["inner"]) == ("joy", "fear")
        assert beat["deltas"] == {"trust": 0.1, "affinity": 0.0, "fear": 0.0}
        spoken = "".join(body["delta"] for body in told(frames, "actor_dialogue_delta"))
        assert spoken == "You are kind."
        result = frames[-1]["response"]["result"]
        assert result["social_beats"][0]["reason"] == "kind"
        assert not any("feels" in line["text"] for line in (await history(stage, session_id)))
        assert stage.troupe.calls == ["actor"], "nobody else is asked"
        prompt = json.dumps(stage.models.requests[-1].body)
        assert "You talk with" in prompt and "letter by letter" in prompt


async def history(stage: Theatre, session_id: str) -> list[dict[str, Any]]:
    return list((await stage.client.call("session.get", session_id))["history"])


async def test_a_model_that_claims_too_much_is_held_to_the_limits(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        session_id = await stage.session()
        await stage.client.call("conversation.open", session_id, character_ids=["mara"])
        stage.troupe.misbehave(
            "actor",
            answer("Marry me.", trust=1, affinity=0.9, fear=-1, act="rescue", quote="you saved my life"),
            answer("You did!", trust="+0.9", affinity=0.4, act="rescue", quote="I saved your life"),
            "<dialogue>Hm.</dialogue><feels>{not json</feels>",
        )
        [beat] = told(await said(stage.client, session_id, "Good evening."), "social_beat")
        assert beat["deltas"] == {"trust": 0.15, "affinity": 0.15, "fear": 0.0}, "nothing of it was said"
        [beat] = told(await said(stage.client, session_id, "I saved your life, remember?"), "social_beat")
        assert beat["deltas"] == {"trust": 0.5, "affinity": 0.4, "fear": 0.0}
        [beat] = told(await said(stage.client, session_id, "You coward!"), "social_beat")
        assert beat["deltas"]["affinity"] < 0, "what cannot be read is decided by rule"


async def test_of_four_who_answer_one_fails_and_has_a_filler_line(tmp_path: Path) -> None:
    async with theatre(tmp_path, model_attempts=1) as stage:
        await with_company(stage.client)
        session_id = await stage.session()
        everyone = ["mara", *FOUR]
        await stage.client.call("conversation.open", session_id, character_ids=everyone)
        stage.troupe.misbehave("actor", None, Fail(status=500), CutMidStream(text="I think that it was the"), None)
        frames = await said(stage.client, session_id, "Who closed the gate?")
        assert frames[-1]["type"] == "completed"
        assert [body["speaker_id"] for body in told(frames, "actor_completed")] == everyone
        assert all(body["response"]["segments"] for body in told(frames, "actor_completed"))
        assert [body["character_id"] for body in told(frames, "social_beat")] == everyone
        assert told(frames, "agent_degraded")


async def test_four_are_asked_at_once(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        await with_company(stage.client)
        session_id = await stage.session()
        await stage.client.call("conversation.open", session_id, character_ids=["mara", *FOUR])
        waiting, all_there = list[object](), asyncio.Event()
        chat = stage.models._chat

        async def together(request: Any) -> Any:
            """Nobody is answered before all four have asked."""
            waiting.append(request)
            if len(waiting) == 4:
                all_there.set()
            await all_there.wait()
            return await chat(request)

        for route in stage.models._runner.app.router.routes():
            if route.handler == chat:
                route._handler = together
        frames = await said(stage.client, session_id, "Who closed the gate?")
        assert frames[-1]["type"] == "completed" and len(told(frames, "actor_completed")) == 4


async def test_who_is_addressed_answers_alone(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        await with_company(stage.client)
        session_id = await stage.session()
        await stage.client.call("conversation.open", session_id, character_ids=["mara", "orr"])
        frames = await said(stage.client, session_id, "Orr, what did you see?")
        assert [body["speaker_id"] for body in told(frames, "actor_completed")] == ["orr"]
        heard = (await stage.client.call("session.get_runtime_snapshot", session_id))["snapshot"]["world_state"]
        assert set(heard["active_characters"]) == {"mara", *FOUR}
        assert all(set(one["heard_by"]) <= {"mara", "orr"} for one in heard["actor_shared_history"])


async def test_in_free_play_no_scene_ends_while_somebody_is_talked_with(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id = await free_session(client, max_turns=2)
        await client.call("conversation.open", session_id, character_ids=["orr"])
        for number in range(3):
            frames = await said(client, session_id, f"Good evening, Orr. {number}")
            assert frames[-1]["type"] == "completed" and not told(frames, "scene_completed")
        with pytest.raises(RpcFailed, match="conversation"):
            await client.call("session.end_scene", session_id)
        await client.call("conversation.close", session_id)
        frames = await client.turn(session_id, "I look around.")
        assert told(frames, "scene_completed")


def test_players_are_not_told_what_is_only_felt() -> None:
    beat = SocialBeat(character_id="mara", towards="player", surface="joy", inner="fear", deltas=Deltas(), reason="so")
    shown = event_for_players(beat)
    assert isinstance(shown, SocialBeat) and (shown.surface, shown.inner) == ("joy", None)
    result = result_for_players({"social_beats": [{"character_id": "mara", "inner": "fear", "surface": "joy"}]})
    assert result["social_beats"] == [{"character_id": "mara", "surface": "joy"}]


@pytest.fixture
async def killed(fork_server: ForkServer, place: Place, tmp_path: Path) -> AsyncIterator[Victim]:
    async with victim(fork_server, tmp_path, environment=place.environment) as it:
        yield it


async def talking(it: Victim) -> str:
    session_id = await it.session("ensemble")
    await it.client.call("conversation.open", session_id, character_ids=["mara"])
    return session_id


WORDS = "Thank you, Mara. Number {0}."
MARKS = ("turn_stream_accepted", "player_input_recorded", "social_beat", "after_turn_outputs", '"type":"completed"')


async def test_a_conversation_that_is_killed_at_any_node_or_call_goes_on_and_nothing_is_twice(killed: Victim) -> None:
    expected = []
    control = await talking(killed)
    for number in range(len(MARKS) + 1):
        await killed.client.turn(control, WORDS.format(number))
        expected.append(await killed.rested(control))
    session_id = await talking(killed)
    for number in range(len(MARKS) + 1):
        if number == len(MARKS):
            killed.kill_at_call(0)
        await killed.play_until(session_id, WORDS.format(number), MARKS[number] if number < len(MARKS) else "")
        await killed.start()
        session = await killed.rested(session_id)
        assert session["conversation"]["turns"] == number + 1
        assert lines(session) == lines(expected[number])
        assert session["snapshot"] == expected[number]["snapshot"]
    assert killed.kills == len(MARKS) + 1
    closed = await killed.client.call("conversation.close", session_id)
    control_closed = await killed.client.call("conversation.close", control)
    assert closed["relations"] == control_closed["relations"]
    assert [one["sentence"] for one in closed["staged"]] == [one["sentence"] for one in control_closed["staged"]]
