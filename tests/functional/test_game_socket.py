"""Every message of the game socket, good and bad, over a real socket, with the understudy and a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import websockets
from tests.game_client import Game, closed, game, spoken
from tests.live import Client, live_server

from fabula.actions.care.tokens import create_token
from fabula.loops.npc.speech import LONGEST_REPLY
from fabula.ports.actors import OPERATOR
from fabula.testing.model_script import Fail, Pace, Say, Script
from fabula.testing.model_server import ModelServer

SLOW = Pace(tokens_per_second=40)
LONG = "<say>" + " ".join(f"word{number}" for number in range(200)) + "</say>"


@asynccontextmanager
async def playing(tmp_path: Path, **settings: Any) -> AsyncIterator[tuple[Game, Client]]:
    """A game that plays with the understudy."""
    async with live_server(tmp_path / "data", **settings) as client, game(address(client)) as connected:
        yield connected, client


@asynccontextmanager
async def scripted(
    tmp_path: Path, script: Script, *, pace: Pace | None = None
) -> AsyncIterator[tuple[Game, ModelServer, Client]]:
    """A game whose NPCs say what the script says."""
    async with ModelServer(script, pace=pace or Pace()) as model:
        settings = {"openai_api_base": model.base_url, "llm_model": "scripted-small", "openai_api_key": "sk-secret"}
        async with playing(tmp_path, **settings) as (connected, client):
            yield connected, model, client


def address(client: Client) -> str:
    return str(client.http.base_url).rstrip("/")


async def test_hello_is_welcomed_and_ping_answered(tmp_path: Path) -> None:
    async with playing(tmp_path) as (mine, _):
        await mine.send("hello", protocol=1, client="my-game")
        welcome = await mine.next("welcome")
        assert (welcome["protocol"], welcome["resume"]) == (1, None)
        assert welcome["connection_id"].startswith("connection_")
        await mine.send("ping", id="p1")
        pong = await mine.next("pong")
        assert pong["id"] == "p1" and isinstance(pong["ts_ms"], int)
        await mine.send("ping")
        assert "id" not in await mine.next("pong")


async def test_a_turn_is_streamed_tag_by_tag_without_hello_and_with_fields_in_payload(tmp_path: Path) -> None:
    async with playing(tmp_path) as (mine, _):
        payload = {"agent_id": "mara", "event_id": "e1", "text": "Hello!", "unknown": [1, 2]}
        await mine.raw(json.dumps({"type": "interaction_event", "payload": payload}))
        asked = await mine.next("get_agent_state")
        assert (asked["agent_id"], asked["event_id"]) == ("mara", "e1")
        started = await mine.next("agent_turn_started")
        assert (started["event_id"], started["model"]) == ("e1", "understudy")
        finished = await mine.next("agent_turn_finished")
        of_turn = [frame for frame in mine.seen if frame.get("turn_id") == started["turn_id"]]
        opened = [frame for frame in of_turn if frame["type"] == "agent_tag_open"]
        assert [frame["index"] for frame in opened] == list(range(finished["tag_count"]))
        for tag in closed(of_turn):
            chunks = [
                frame["text"]
                for frame in of_turn
                if frame["type"] == "agent_tag_chunk" and frame["tag_id"] == tag["tag_id"]
            ]
            assert "".join(chunks) == tag["text"] and tag["complete"] is True
        assert finished["reason"] == "stop" and finished["usage"]["completion_tokens"] > 0


async def test_the_understudy_answers_from_the_spec(tmp_path: Path) -> None:
    async with playing(tmp_path) as (mine, _):
        assert spoken(await mine.turn("Hello there!"))
        assert "bridge fell into the river" in spoken(await mine.turn("What happened to the bridge?"))
        assert "dagger" in spoken(await mine.turn("What do you sell?"))
        threatened = await mine.turn("Give me the gold or I'll kill you!")
        assert [tag["tag"] for tag in closed(threatened)] == ["emote", "say"]
        assert [tag["tag"] for tag in closed(await mine.turn("", event_type="timer"))] == ["silence"]


async def test_what_was_played_is_remembered_on_another_connection_and_by_that_npc_alone(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data") as client:
        async with game(address(client)) as first:
            await first.send("hello", client="my-game")
            await first.turn("My name is Ann and I seek the lost crown.")
            await first.settled()
        async with game(address(client)) as second:
            await second.send("hello", client="my-game")
            assert "lost crown" in spoken(await second.turn("Do you remember what I said?"))
            assert "lost crown" not in spoken(await second.turn("Do you remember what I said?", agent_id="orr"))
        async with game(address(client)) as other:
            await other.send("hello", client="another-game")
            assert "lost crown" not in spoken(await other.turn("Do you remember what I said?"))


async def test_a_newer_event_interrupts_and_nothing_of_the_old_turn_follows(tmp_path: Path) -> None:
    async with scripted(tmp_path, [LONG, "<say>Yes?</say>"], pace=SLOW) as (mine, model, _):
        await mine.say("Tell me everything.", event_id="e1")
        old = (await mine.next("agent_turn_started"))["turn_id"]
        await mine.next("agent_tag_chunk")
        await mine.say("Stop!", event_id="e2")
        interrupted = await mine.next("agent_turn_interrupted")
        assert (interrupted["turn_id"], interrupted["reason"]) == (old, "newer_event")
        assert (interrupted["by_event_id"], interrupted["open_tag_id"]) == ("e2", f"{old}.0")
        await asyncio.wait_for(model.left.wait(), 120)
        after = len(mine.seen)
        started = await mine.next("agent_turn_started")
        assert started["event_id"] == "e2"
        await mine.next("agent_turn_finished")
        assert all(frame.get("turn_id") != old for frame in mine.seen[after:])
        assert model.cancelled == 1


async def test_one_npc_talking_over_itself_leaves_others_untouched(tmp_path: Path) -> None:
    async with scripted(tmp_path, [Say(text=LONG, pace=SLOW)]) as (mine, _, _client):
        await mine.say("Hello.", "mara")
        await mine.say("Hello.", "orr")
        turns = {(await mine.next("agent_turn_started"))["agent_id"] for _ in range(2)}
        assert turns == {"mara", "orr"}
        await mine.send("cancel_turn", agent_id="mara")
        assert (await mine.next("agent_turn_interrupted"))["agent_id"] == "mara"
        chunk = await mine.next("agent_tag_chunk")
        assert chunk["agent_id"] == "orr"


async def test_events_that_do_not_interrupt_queue_up_to_sixteen(tmp_path: Path) -> None:
    async with scripted(tmp_path, [Say(text=LONG, pace=SLOW), "<say>Next.</say>"]) as (mine, _, _client):
        await mine.say("Hello.", event_id="first")
        await mine.next("agent_tag_chunk")
        for number in range(17):
            await mine.say("And?", event_id=f"q{number}", interrupt=False)
        assert (await mine.next("error"))["code"] == "busy"
        await mine.send("cancel_turn", agent_id="mara")
        order = [(await mine.next("agent_turn_started"))["event_id"] for _ in range(3)]
        assert order == ["q0", "q1", "q2"]


async def test_cancel_turn_ends_the_turn_and_another_turns_id_is_unknown(tmp_path: Path) -> None:
    async with scripted(tmp_path, [Say(text=LONG, pace=SLOW)]) as (mine, _, _client):
        await mine.say("Hello.")
        turn = (await mine.next("agent_turn_started"))["turn_id"]
        await mine.send("cancel_turn", agent_id="mara", turn_id="turn_other")
        assert (await mine.next("error"))["code"] == "unknown_turn"
        await mine.send("cancel_turn", agent_id="mara", turn_id=turn)
        assert (await mine.next("agent_turn_interrupted"))["reason"] == "client_cancel"
        await mine.send("cancel_turn", agent_id="nobody")
        assert (await mine.next("error"))["code"] == "unknown_agent"


async def test_a_missing_state_is_a_timeout_and_later_the_last_one_serves(tmp_path: Path) -> None:
    async with playing(tmp_path) as (mine, _):
        mine.answers_state = False
        await mine.say("Hello.")
        asked = await mine.next("get_agent_state")
        problem = await mine.next("error")
        assert (problem["code"], problem["request_id"]) == ("agent_state_timeout", asked["request_id"])
        await mine.snapshot("mara")
        await mine.say("Hello.")
        assert (await mine.next("agent_turn_started"))["agent_id"] == "mara"


async def test_notifications_become_context_and_start_no_turn(tmp_path: Path) -> None:
    async with scripted(tmp_path, ["<say>Ah.</say>"]) as (mine, model, _):
        await mine.turn("Hello.", "mara")
        await mine.turn("Hello.", "orr")
        await mine.send("notification_event", agent_ids="*", event_type="weather", text="It begins to rain.")
        await mine.send("notification_event", agent_id="orr", event_type="noise", text="A bell rings.")
        await mine.send("notification_event", event_type="noise", text="For nobody.")
        assert (await mine.next("error"))["code"] == "missing_field"
        before = len(model.requests)
        await mine.turn("What now?", "mara")
        told = json.dumps(model.requests[before].body)
        assert len(model.requests) == before + 1
        assert "It begins to rain." in told and "A bell rings." not in told


async def test_only_what_the_game_confirms_enters_the_next_prompt(tmp_path: Path) -> None:
    replies = ["<say>The first half. The second half.</say>", "<say>Hm.</say>"]
    async with scripted(tmp_path, replies) as (mine, model, _):
        await mine.say("Hello.")
        turn = (await mine.next("agent_turn_finished"))["turn_id"]
        half = [{"tag": "say", "text": "The first half.", "status": "partial"}]
        result = {"agent_id": "mara", "turn_id": turn, "status": "interrupted", "tags": half}
        for _ in range(2):
            await mine.send("agent_turn_result", **result)
        await mine.send("agent_turn_result", **{**result, "tags": []})
        assert (await mine.next("error"))["code"] == "duplicate_turn"
        await mine.send("agent_turn_result", **{**result, "turn_id": "turn_nobody"})
        assert (await mine.next("error"))["code"] == "unknown_turn"
        await mine.turn("And?")
        told = json.dumps(model.requests[-1].body)
        assert "The first half." in told and "The second half." not in told
        assert [frame["code"] for frame in mine.seen if frame["type"] == "error"] == ["duplicate_turn", "unknown_turn"]


async def test_an_unconfirmed_turn_is_kept_after_two_seconds_and_a_late_word_replaces_it(tmp_path: Path) -> None:
    async with scripted(tmp_path, ["<say>All of it was said.</say>", "<say>Hm.</say>"]) as (mine, model, client):
        await mine.say("Hello.")
        turn = (await mine.next("agent_turn_finished"))["turn_id"]
        entries = []
        for _ in range(200):
            entries = await history(client)
            if entries:
                break
            await asyncio.sleep(0.05)
        assert [(one.said(), one.unconfirmed) for one in entries] == [("All of it was said.", True)]
        tags = [{"tag": "say", "text": "All", "status": "partial"}]
        await mine.send("agent_turn_result", agent_id="mara", turn_id=turn, status="interrupted", tags=tags)
        await mine.turn("And?")
        told = json.dumps(model.requests[-1].body)
        assert "(say): All [cut off]" in told and "was said" not in told


async def history(client: Client, agent_id: str = "mara") -> list[Any]:
    from fabula.ports.npcs import NpcKey

    async with client.house.store.reading() as unit:
        found = await unit.npcs.recent(NpcKey(game_id="default", agent_id=agent_id), limit=50)
    return [one.lived for one in found]


async def test_tools_are_tags_and_their_results_may_start_a_turn(tmp_path: Path) -> None:
    replies = ['<say>Let me see.</say><tool name="open_door">{"door": "<north>"}</tool>', "<say>It is open.</say>"]
    async with scripted(tmp_path, replies) as (mine, model, _):
        mine.state = {**mine.state, "tools": [{"name": "open_door", "description": "Opens a door.", "parameters": {}}]}
        frames = await mine.turn("Open the door.")
        [tool] = [tag for tag in closed(frames) if tag["tag"] == "tool"]
        assert json.loads(tool["text"]) == {"door": "<north>"}
        chunks = [one for one in frames if one["type"] == "agent_tag_chunk" and one["tag"] == "tool"]
        assert len(chunks) == 1
        result = {"call_id": tool["tag_id"], "name": "open_door", "ok": True, "result": {"state": "creaks open"}}
        told = {"agent_id": "mara", "turn_id": tool["turn_id"], "results": [result]}
        await mine.send("tool_results", **{**told, "turn_id": "turn_nobody"})
        assert (await mine.next("error"))["code"] == "unknown_turn"
        await mine.send("tool_results", **told, **{"continue": True})
        await mine.next("agent_turn_finished")
        assert "creaks open" in json.dumps(model.requests[-1].body)


async def test_the_game_may_bring_its_own_tags_and_hidden_ones_are_never_sent(tmp_path: Path) -> None:
    reply = "<plot>They must not know.</plot><wave hand='left'>slowly</wave><say>Well <i>met</i>.</say>"
    async with scripted(tmp_path, [reply]) as (mine, _, _client):
        tags = [
            {"name": "say"},
            {"name": "wave", "mode": "atomic", "attrs": ["hand"]},
            {"name": "plot", "visible": False},
        ]
        mine.state = {**mine.state, "tags": tags}
        frames = await mine.turn("Hello.")
        assert [(tag["tag"], tag["text"]) for tag in closed(frames)] == [("wave", "slowly"), ("say", "Well met.")]
        assert "They must not know" not in json.dumps(mine.seen)


async def test_a_failing_model_is_an_error_and_the_npc_can_be_spoken_to_again(tmp_path: Path) -> None:
    async with scripted(tmp_path, [Fail(status=400), "<say>Better now.</say>"]) as (mine, _, _client):
        await mine.say("Hello.")
        problem = await mine.next("error")
        assert problem["code"] == "model_error" and problem["agent_id"] == "mara"
        assert (await mine.next("agent_turn_interrupted"))["reason"] == "error"
        assert spoken(await mine.turn("Hello?")) == "Better now."


async def test_an_npc_whose_model_does_not_stop_is_ended(tmp_path: Path) -> None:
    words = "<say>" + " ".join(f"word{number}" for number in range(LONGEST_REPLY // 5)) + "</say>"
    async with scripted(tmp_path, lambda _: words) as (mine, _, _):
        await mine.say("Hello.")
        assert "grew too long" in (await mine.next("error"))["message"]


async def test_an_answer_that_is_cut_at_its_length_says_so(tmp_path: Path) -> None:
    async with scripted(tmp_path, [Say(text="<say>I was going to", finish_reason="length")]) as (mine, _, _client):
        frames = await mine.turn("Hello.")
        assert frames[-1]["reason"] == "length" and closed(frames)[0]["complete"] is False


async def test_an_npc_that_repeats_itself_is_asked_again_and_then_stays_silent(tmp_path: Path) -> None:
    async with scripted(tmp_path, ["<say>The bridge is out, my friend.</say>"]) as (mine, model, _):
        assert spoken(await mine.turn("Hello.")) == "The bridge is out, my friend."
        frames = await mine.turn("Yes, but what else?")
        assert [tag["tag"] for tag in closed(frames)] == ["silence"]
        assert len(model.requests) == 3
        assert "word for word" in json.dumps(model.requests[-1].body)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("{", "invalid_json"),
        ("[1]", "invalid_json"),
        ('"text"', "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        ('{"no": "type"}', "missing_field"),
        ('{"type": "dance"}', "unknown_type"),
        ('{"type": 7}', "unknown_type"),
        ('{"type": "interaction_event"}', "missing_field"),
        ('{"type": "interaction_event", "agent_id": ""}', "missing_field"),
        ('{"type": "agent_turn_result", "agent_id": "mara", "turn_id": "t"}', "unknown_agent"),
        ('{"type": "tool_results", "agent_id": "mara", "turn_id": "t"}', "unknown_agent"),
        ('{"type": "agent_state_snapshot", "agent_id": "a", "tags": [{"name": "<b>"}]}', "missing_field"),
        ('{"type": "ping", "id": "' + "x" * 300_000 + '"}', "too_large"),
        ('{"type": "ping", "id": ' + "[" * 100 + "]" * 100 + "}", "too_large"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_bad_frame_is_answered_with_an_error_and_the_connection_stays(
    tmp_path: Path, frame: str | bytes, code: str
) -> None:
    async with playing(tmp_path) as (mine, _):
        await mine.raw(frame)
        problem = await mine.next("error")
        assert problem["code"] == code and problem["message"].endswith(".")
        await mine.send("ping", id=1)
        assert (await mine.next("pong"))["id"] == 1


async def test_a_token_opens_the_door_in_the_handshake_or_in_hello(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data", require_tokens=True) as client:
        secret = (await create_token(client.house, OPERATOR, role="player")).secret
        async with game(address(client)) as late:
            await late.send("ping")
            assert (await late.next("error"))["code"] == "unauthorized"
            await late.send("hello", token="fabula_wrong")
            assert (await late.next("error"))["code"] == "unauthorized"
            await late.send("hello", token=secret, client="my-game")
            assert (await late.next("welcome"))["protocol"] == 1
            assert spoken(await late.turn("Hello there!"))
        async with game(address(client), additional_headers={"Authorization": f"Bearer {secret}"}) as early:
            await early.send("ping", id=2)
            assert (await early.next("pong"))["id"] == 2
        with pytest.raises(websockets.InvalidStatus):
            async with game(address(client), additional_headers={"Authorization": "Bearer wrong"}):
                pass


async def test_logs_are_written_when_the_connection_ends_and_hold_no_secret(tmp_path: Path) -> None:
    async with scripted(tmp_path, ["<say>Good day.</say>"]) as (mine, _, client):
        await mine.send("hello", client="my-game", token="fabula_secret")
        connection = (await mine.next("welcome"))["connection_id"]
        await mine.turn("Hello.")
        await mine.socket.close()
        folder = client.house.settings.log_folder
        files = [folder / f"{connection}.conversation.jsonl", folder / f"{connection}.model-inputs.jsonl"]
        for _ in range(200):
            if all(file.exists() for file in files):
                break
            await asyncio.sleep(0.05)
        conversation, inputs = ([json.loads(line) for line in file.read_text().splitlines()] for file in files)
        assert [line["type"] for line in conversation][:4] == [
            "hello",
            "welcome",
            "interaction_event",
            "get_agent_state",
        ]
        assert any(line.get("text") == "Good day." for line in conversation)
        assert inputs[0]["agent_id"] == "mara" and inputs[0]["messages"][0]["role"] == "system"
        everything = "".join(file.read_text() for file in files)
        assert "fabula_secret" not in everything and "sk-secret" not in everything


async def test_the_old_address_of_the_page_for_trying_an_npc_leads_to_the_app(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data", require_tokens=True) as client:
        moved = await client.http.get("/play/npc", follow_redirects=False)
        assert (moved.status_code, moved.headers["location"]) == (308, "/app/npc")
        page = await client.http.get("/app/npc")
        assert page.status_code == 200 and "onclick" not in page.text
        assert "default-src 'self'" in page.headers["content-security-policy"]
