"""The turn stream as clients read it: order, names and casing of events, in both paces."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from tests.live import GATE_GRAPH, bodies, sse
from tests.scripted import PACES, Theatre, theatre

from fabula.testing.model_script import say_json

FIELDS = {
    "turn_started": "next_turn_index player_input",
    "player_input_recorded": "entry snapshot",
    "keeper_applied": "phase update snapshot",
    "director_completed": "result snapshot",
    "session_character_created": "session_character snapshot",
    "session_character_entered_scene": "session_character_id snapshot",
    "session_character_left_scene": "session_character_id snapshot",
    "narrator_started": "beat_index purpose",
    "narrator_text_delta": "beat_index purpose delta",
    "narrator_completed": "beat_index purpose response",
    "actor_started": "beat_index speaker_id purpose",
    "actor_thought_delta": "beat_index speaker_id delta",
    "actor_action_complete": "beat_index speaker_id text",
    "actor_dialogue_delta": "beat_index speaker_id delta",
    "actor_completed": "beat_index speaker_id purpose response",
    "story_ended": "node_id title",
    "scene_completed": "scene_id title outcome summary",
}
BEGINNING = ["turn_started", "player_input_recorded", "keeper_applied", "director_completed"]
NARRATOR = ["narrator_started", "narrator_text_delta", "narrator_completed"]
ACTOR = ["actor_started", "actor_thought_delta", "actor_action_complete", "actor_dialogue_delta", "actor_completed"]
DOG = {
    "session_character_id": "stray_dog",
    "display_name": "A stray dog",
    "personality": "kind",
    "style": "barks",
    "system_prompt": "",
}
COMES: dict[str, Any] = {
    "role_actions": [{"type": "create_and_enter", **DOG}],
    "beats": [
        {"type": "Narrator", "purpose": "DescribeScene"},
        {"type": "Actor", "speaker_id": "stray_dog", "purpose": "CommentOnScene"},
    ],
}
GOES: dict[str, Any] = {
    "role_actions": [{"type": "leave_scene", "session_character_id": "stray_dog"}],
    "beats": [{"type": "Actor", "speaker_id": "mara", "purpose": "AdvanceGoal"}],
}
OUTPUT = {"message", "model", "finish_reason", "usage", "structured_output"}


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Theatre]:
    async with theatre(tmp_path) as opened:
        yield opened


def kinds(told: list[dict[str, Any]]) -> list[str]:
    """The kinds of events in order, each run of the same kind once."""
    return [kind for kind, _ in groupby(body["type"] for body in told)]


def assert_contracted(told: list[dict[str, Any]]) -> None:
    for body in told:
        assert body.keys() == {"type", *FIELDS[body["type"]].split()}


async def test_a_guest_comes_speaks_and_goes_in_contracted_events(house: Theatre) -> None:
    session_id = await house.session()
    house.troupe.misbehave("director", say_json(COMES), say_json(GOES))
    came = bodies(frames := await house.client.turn(session_id, "Hello?"))
    assert_contracted(came)
    arrival = ["session_character_created", "session_character_entered_scene"]
    assert kinds(came) == [*BEGINNING, *arrival, *NARRATOR, *ACTOR, "keeper_applied"]
    by_kind = {body["type"]: body for body in came}
    created = by_kind["session_character_created"]
    assert created["session_character"].keys() == {*DOG, "in_scene", "created_at_ms", "updated_at_ms"}
    assert "stray_dog" not in created["snapshot"]["world_state"]["active_characters"]
    entered = by_kind["session_character_entered_scene"]["snapshot"]["world_state"]
    assert entered["active_characters"] == ["mara", "stray_dog"]
    assert by_kind["director_completed"]["result"]["response_plan"] == COMES
    assert by_kind["narrator_started"]["purpose"] == "DescribeScene"
    assert by_kind["actor_started"]["purpose"] == "CommentOnScene"
    assert [body["phase"] for body in came if body["type"] == "keeper_applied"] == [
        "after_player_input",
        "after_turn_outputs",
    ]
    assert [beat["type"] for beat in frames[-1]["response"]["result"]["completed_beats"]] == ["narrator", "actor"]
    gone = bodies(await house.client.turn(session_id, "Bye, dog."))
    assert_contracted(gone)
    assert kinds(gone) == [*BEGINNING, "session_character_left_scene", *ACTOR, "keeper_applied"]


@pytest.mark.parametrize("pace", PACES)
async def test_both_paces_tell_the_same_kinds_of_events_and_the_same_result(house: Theatre, pace: str) -> None:
    frames = await house.client.turn(await house.session(pace), "Who are you?")
    told, result = bodies(frames), frames[-1]["response"]["result"]
    assert_contracted(told)
    acted = [kind for kind in ACTOR if pace == "ensemble" or kind != "actor_action_complete"]
    assert kinds(told) == [*BEGINNING, *NARRATOR, *acted, "keeper_applied"]
    assert frames[-1]["response"]["type"] == "turn_completed"
    for keeper in (result["first_keeper"], result["second_keeper"]):
        assert keeper.keys() == {"update", "output"} and keeper["output"].keys() == OUTPUT
        assert keeper["output"]["usage"].keys() == {"prompt_tokens", "completion_tokens", "total_tokens"}
        assert keeper["output"]["message"].keys() == {"role", "content"}
    assert result["director"].keys() == {"previous_node_id", "current_node_id", "transitioned", "response_plan"}
    narrator, actor = result["completed_beats"]
    assert narrator.keys() == {"type", "beat_index", "purpose", "response"}
    assert narrator["response"].keys() == {"text", "raw_output"}
    assert actor.keys() == {"type", "beat_index", "speaker_id", "purpose", "response"}
    assert actor["response"].keys() == {"speaker_id", "speaker_name", "segments", "raw_output"}
    assert all(segment.keys() == {"kind", "text"} for segment in actor["response"]["segments"])
    assert result["snapshot"].keys() == {"story_id", "player_description", "world_state", "turn_index"}


async def test_every_frame_carries_its_request_session_and_place(house: Theatre) -> None:
    session_id = await house.session()
    request = {**house.client.request("session.run_turn", session_id, player_input="Hello."), "id": "turn-1"}
    response = await house.client.http.post("/rpc", json=request)
    ack, *messages = sse(response.text)
    accepted = {"type": "turn_stream_accepted"}
    assert ack["event"] == "ack"
    assert ack["data"] == {"jsonrpc": "2.0", "id": "turn-1", "session_id": session_id, "result": accepted}
    assert {message["event"] for message in messages} == {"message"}
    for place, message in enumerate(messages):
        frame = message["data"]
        assert frame.keys() == {"message_type", "request_id", "session_id", "sequence", "frame"}
        assert frame["message_type"] == "stream" and frame["request_id"] == "turn-1"
        assert frame["session_id"] == session_id and frame["sequence"] == place


@pytest.mark.parametrize("pace", PACES)
async def test_reaching_a_node_without_a_way_on_ends_the_story_and_is_told(house: Theatre, pace: str) -> None:
    session_id = await house.session(pace)
    told: list[dict[str, Any]] = []
    while not any(body["type"] == "story_ended" for body in told):
        told = bodies(await house.client.turn(session_id, "Please, go on."))
        assert_contracted(told)
    assert told[-1] == {"type": "story_ended", "node_id": "garden", "title": "The Garden"}
    assert (await house.client.call("session.get", session_id))["status"] == "ended"


async def test_a_story_that_begins_at_its_ending_says_so_once(house: Theatre) -> None:
    graph = copy.deepcopy(GATE_GRAPH)
    await house.client.call("story.update_graph", story_id=house.story_id, graph={**graph, "start_node": "garden"})
    session_id = await house.session()
    turns = [bodies(await house.client.turn(session_id, "I rest.")) for _ in range(2)]
    assert [sum(body["type"] == "story_ended" for body in told) for told in turns] == [1, 0]
