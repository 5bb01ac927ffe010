"""Sessions over HTTP: turns are streamed in the contracted order, and going back is exact."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.live import Client, RpcFailed, bodies, gate_session, live_server, sse


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path) as client:
        yield client


async def test_a_session_starts_with_the_defaults_of_its_schemas(client: Client) -> None:
    session_id = await gate_session(client)
    session = await client.call("session.get", session_id)
    world = session["snapshot"]["world_state"]
    assert world["current_node"] == "gate" and world["active_characters"] == ["mara"]
    assert world["custom"] == {"gate_open": False} and world["character_state"] == {"mara": {"trust": 0}}
    assert session["history"] == [] and session["turn_index"] == 0 and session["status"] == "open"


async def test_a_turn_is_streamed_in_the_contracted_order(client: Client) -> None:
    session_id = await gate_session(client)
    request = client.request("session.run_turn", session_id, player_input="Hello, who are you?")
    response = await client.http.post("/rpc", json=request)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert b"\r" not in response.content and response.content.endswith(b"\n\n")
    events = sse(response.text)
    assert events[0]["event"] == "ack" and events[0]["data"]["result"] == {"type": "turn_stream_accepted"}
    frames = [event["data"]["frame"] for event in events[1:]]
    assert [event["data"]["sequence"] for event in events[1:]] == list(range(len(frames)))
    types = [body["type"] for body in bodies(frames)]
    order = ["turn_started", "player_input_recorded", "keeper_applied", "director_completed"]
    assert frames[0] == {"type": "started"} and types[:4] == order
    assert types[-1] == "keeper_applied" and frames[-1]["type"] == "completed"
    assert bodies(frames)[2]["snapshot"]["turn_index"] == 1


async def test_the_deltas_of_a_beat_are_its_text(client: Client) -> None:
    session_id = await gate_session(client)
    told = bodies(await client.turn(session_id, "I look at the gate."))
    for done in (body for body in told if body["type"] == "narrator_completed"):
        deltas = [
            body["delta"]
            for body in told
            if body["type"] == "narrator_text_delta" and body["beat_index"] == done["beat_index"]
        ]
        assert "".join(deltas).strip() == done["response"]["text"]
    for done in (body for body in told if body["type"] == "actor_completed"):
        spoken = "".join(body["delta"] for body in told if body["type"] == "actor_dialogue_delta")
        segments = [one["text"] for one in done["response"]["segments"] if one["kind"] == "dialogue"]
        assert spoken.strip() == "".join(segments)


async def test_the_transcript_holds_what_was_said_but_no_thoughts(client: Client) -> None:
    session_id = await gate_session(client)
    frames = await client.turn(session_id, "Hello there.")
    history = (await client.call("session.get", session_id))["history"]
    assert history[0]["kind"] == "player_input" and history[0]["text"] == "Hello there."
    assert {message["kind"] for message in history} <= {"player_input", "narration", "dialogue", "action"}
    assert [message["sequence"] for message in history] == list(range(len(history)))
    thoughts = [
        one["text"]
        for beat in frames[-1]["response"]["result"]["completed_beats"]
        if beat["type"] == "actor"
        for one in beat["response"]["segments"]
        if one["kind"] == "thought"
    ]
    assert not {message["text"] for message in history} & set(thoughts)


async def test_the_story_moves_on_and_ends(client: Client) -> None:
    session_id = await gate_session(client)
    for _ in range(8):
        told = bodies(await client.turn(session_id, "Please open the gate for me, Mara."))
        if any(body["type"] == "story_ended" for body in told):
            break
    session = await client.call("session.get", session_id)
    assert session["snapshot"]["world_state"]["current_node"] == "garden" and session["status"] == "ended"


async def test_the_dashboard_shows_the_sessions_that_were_played_last(client: Client) -> None:
    first = await gate_session(client)
    story_id = (await client.call("session.get", first))["story_id"]
    second = (await client.raw("story.start_session", story_id=story_id))["session_id"]
    await client.turn(first, "Hello.")
    recent = (await client.call("dashboard.get"))["recent_sessions"]
    assert [(one["session_id"], one["turn_index"]) for one in recent] == [(first, 1), (second, 0)]


async def test_a_turn_of_an_unknown_session_is_refused_with_404(client: Client) -> None:
    response = await client.http.post("/rpc", json=client.request("session.run_turn", "nobody", player_input="Hi"))
    assert response.status_code == 404 and response.json()["error"]["code"] == 40404


async def test_backtracking_restores_every_state_exactly(client: Client) -> None:
    session_id = await gate_session(client)
    hashes = [(await client.call("session.get", session_id))["state_hash"]]
    for number in range(6):
        await client.turn(session_id, f"I wait for a while, {number}.")
        hashes.append((await client.call("session.get", session_id))["state_hash"])
    branches = await client.call("session.branches", session_id)
    turns = [turn["turn_id"] for turn in branches["turns"]]
    for index in (3, 0, 6, 1, 5):
        back = await client.call("session.backtrack", session_id, turn_id=turns[index])
        assert back["state_hash"] == hashes[index] and back["turn_index"] == index
    await client.call("session.switch_branch", session_id, turn_id=turns[6])
    assert (await client.call("session.backtrack", session_id, turns=2))["state_hash"] == hashes[4]


async def test_a_line_that_was_left_stays_as_a_branch(client: Client) -> None:
    session_id = await gate_session(client)
    await client.turn(session_id, "I knock.")
    left = (await client.call("session.get", session_id))["head_turn_id"]
    await client.call("session.backtrack", session_id)
    await client.turn(session_id, "I sing.")
    texts = [message["text"] for message in (await client.call("session.get", session_id))["history"]]
    assert "I sing." in texts and "I knock." not in texts
    returned = await client.call("session.switch_branch", session_id, turn_id=left)
    assert returned["history"][0]["text"] == "I knock."


async def test_a_fork_goes_its_own_way(client: Client) -> None:
    session_id = await gate_session(client)
    await client.turn(session_id, "I knock.")
    answer = await client.raw("session.fork", session_id, display_name="What if")
    forked = answer["session_id"]
    assert forked != session_id and answer["result"]["display_name"] == "What if"
    await client.turn(forked, "I leave.")
    assert (await client.call("session.get", session_id))["turn_index"] == 1
    assert (await client.call("session.get", forked))["turn_index"] == 2
    await client.call("session.delete", session_id)
    assert (await client.call("session.get", forked))["history"][0]["text"] == "I knock."


async def test_regenerating_makes_a_sibling(client: Client) -> None:
    session_id = await gate_session(client)
    await client.turn(session_id, "I knock.")
    await client.turn(session_id, "", method="session.regenerate")
    turns = (await client.call("session.branches", session_id))["turns"]
    played = [turn for turn in turns if turn["kind"] == "play"]
    assert len(played) == 2 and len({turn["parent_id"] for turn in played}) == 1
    assert (await client.call("session.get", session_id))["turn_index"] == 1


async def test_variables_changed_by_hand_are_checked_and_can_be_undone(client: Client) -> None:
    session_id = await gate_session(client)
    await client.turn(session_id, "I wait.")
    ops: list[dict[str, Any]] = [{"type": "SetState", "key": "gate_open", "value": True}]
    changed = await client.call("session.update_variables", session_id, update={"ops": ops})
    assert changed["custom"] == {"gate_open": True}
    ops[0]["value"] = "yes"
    with pytest.raises(RpcFailed) as refused:
        await client.call("session.update_variables", session_id, update={"ops": ops})
    assert refused.value.code == -32600
    with pytest.raises(RpcFailed) as disallowed:
        moves = {"ops": [{"type": "SetCurrentNode", "node_id": "garden"}]}
        await client.call("session.update_variables", session_id, update=moves)
    assert disallowed.value.code == -32600
    await client.call("session.backtrack", session_id)
    assert (await client.call("session.get_variables", session_id))["custom"] == {"gate_open": False}


async def test_a_profile_can_be_switched_and_a_description_set_by_hand(client: Client) -> None:
    session_id = await gate_session(client)
    profile = {"player_profile_id": "ann", "display_name": "Ann", "description": "A tired courier."}
    await client.call("player_profile.create", **profile)
    bound = await client.call("session.set_player_profile", session_id, player_profile_id="ann")
    assert bound["player_profile_id"] == "ann"
    assert bound["snapshot"]["player_description"] == "A tired courier."
    with pytest.raises(RpcFailed) as used:
        await client.call("player_profile.delete", player_profile_id="ann")
    assert used.value.code == 40909
    await client.turn(session_id, "Hello.")
    assert (await client.call("session.get", session_id))["history"][0]["speaker_name"] == "Ann"
    await client.call("session.update_player_description", session_id, player_description="A king.")
    assert (await client.call("session.get", session_id))["player_profile_id"] is None


async def test_an_edited_message_is_what_later_prompts_see(client: Client) -> None:
    session_id = await gate_session(client)
    await client.turn(session_id, "I whisper.")
    first = (await client.call("session_message.list", session_id))["messages"][0]
    fields = {name: first[name] for name in ("message_id", "kind", "speaker_id", "speaker_name")}
    await client.call("session_message.update", session_id, **fields, text="I shout.")
    session = await client.call("session.get", session_id)
    remembered = [entry["text"] for entry in session["snapshot"]["world_state"]["actor_shared_history"]]
    assert session["history"][0]["text"] == "I shout." and "I shout." in remembered and "I whisper." not in remembered
    await client.call("session_message.delete", session_id, message_id=first["message_id"])
    assert "I shout." not in [one["text"] for one in (await client.call("session.get", session_id))["history"]]
    await client.call("session.backtrack", session_id)
    assert (await client.call("session.get", session_id))["turn_index"] == 0


async def test_guests_come_speak_and_go(client: Client) -> None:
    session_id = await gate_session(client)
    card = {"display_name": "A stray dog", "personality": "friendly", "style": "barks", "system_prompt": ""}
    guest = await client.call("session_character.create", session_id, **card)
    assert guest["in_scene"] is True
    name = {"session_character_id": guest["session_character_id"]}
    await client.turn(session_id, "Good dog!")
    assert (await client.call("session_character.leave_scene", session_id, **name))["in_scene"] is False
    await client.call("session_character.delete", session_id, **name)
    assert (await client.call("session_character.list", session_id))["session_characters"] == []
    await client.call("session.backtrack", session_id, turns=1)
    assert (await client.call("session_character.get", session_id, **name))["in_scene"] is True


async def test_a_session_keeps_the_graph_it_started_with_until_it_follows_the_story(client: Client) -> None:
    session_id = await gate_session(client)
    story_id = (await client.call("session.get", session_id))["story_id"]
    graph = (await client.call("story.get", story_id=story_id))["graph"]
    graph["nodes"][0]["transitions"] = [{"to": "garden", "condition": None}]
    await client.call("story.update_graph", story_id=story_id, graph=graph)
    await client.turn(session_id, "I wait.")
    assert (await client.call("session.get", session_id))["snapshot"]["world_state"]["current_node"] == "gate"
    await client.call("session.follow_story", session_id)
    await client.turn(session_id, "I wait.")
    assert (await client.call("session.get", session_id))["snapshot"]["world_state"]["current_node"] == "garden"


async def test_a_stream_is_resumed_from_the_last_event_seen(client: Client) -> None:
    session_id = await gate_session(client)
    request = client.request("session.run_turn", session_id, player_input="Hello.")
    events = sse((await client.http.post("/rpc", json=request)).text)
    seen = events[4]["id"]
    resumed = await client.http.get(f"/sessions/{session_id}/events", headers={"last-event-id": seen})
    assert sse(resumed.text) == events[5:]
    nothing = await client.http.get(f"/sessions/{session_id}/events")
    assert nothing.status_code == 204
    wrong = await client.http.get(f"/sessions/{session_id}/events", headers={"last-event-id": "turn_x:1"})
    assert wrong.status_code == 400


async def test_who_has_seen_a_turn_to_its_end_is_told_to_stop_asking(client: Client) -> None:
    session_id = await gate_session(client)
    request = client.request("session.run_turn", session_id, player_input="Hello.")
    events = sse((await client.http.post("/rpc", json=request)).text)
    path, seen = f"/sessions/{session_id}/events", {"last-event-id": events[-1]["id"]}
    for _ in range(2):
        over = await client.http.get(path, headers=seen)
        assert (over.status_code, over.text) == (204, "")


async def test_over_its_budget_a_session_is_refused(client: Client) -> None:
    session_id = await gate_session(client)
    await client.call("session.update_config", session_id, token_budget=1)
    await client.turn(session_id, "Hello.")
    with pytest.raises(RpcFailed) as refused:
        await client.turn(session_id, "Hello again.")
    assert refused.value.code == 40909 and "budget" in refused.value.message
    used = (await client.call("usage.list", session_id=session_id))["totals"]["total_tokens"]
    assert refused.value.data["used"] == used > 1
    lifted = await client.call("session.update_config", session_id, token_budget=0)
    assert "token_budget" not in lifted
