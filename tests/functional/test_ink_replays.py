"""The same story, seed and inputs: the same play to the byte with no call upstream, after a restart, on Postgres."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conftest import Place
from tests.ink_live import GATE, play, publish
from tests.knot_theatre import decide, theatre
from tests.knot_troupe import KnotTroupe
from tests.live import Client, live_server

from fabula.story.values import JsonObject

STORY = GATE.replace(
    "Mordred waits",
    '~ generate("the well at night")\n{~A bat|An owl|A moth} passes.\n-> continue(-> well)\n=== well\nMordred waits',
)
MOVES: tuple[dict[str, Any], ...] = (
    {"choice": 1},
    {"player_input": "Who are you?"},
    {"player_input": "Tell me a secret."},
    {"player_input": "Let us go on."},
    {"choice": 0},
    {"player_input": "I look into the well."},
    {"player_input": "I go on."},
)
"""A talk with a rewritten reply, a bridge, a generated text, and a continue to the end."""


async def play_all(client: Client, story_id: str, seed: int = 4) -> bytes:
    """A whole play: every event of its streams and its transcript, as bytes."""
    session = str((await client.raw("story.start_session", story_id=story_id, seed=seed))["session_id"])
    frames = [frame for move in MOVES for frame in await play(client, session, **move) if frame["type"] == "event"]
    ended = await client.call("session.get", session)
    assert ended["status"] == "ended"
    transcript = [(one["kind"], one["speaker_id"], one["text"], one["sequence"]) for one in ended["history"]]
    return json.dumps([frames, transcript, ended["state_hash"], ended["ink"]]).encode()


def settings_of(place: Place) -> dict[str, Any]:
    return {"database_url": place.settings.database_url} if place.settings.database_url else {}


async def test_a_replay_asks_no_model_and_is_the_same_to_the_byte_also_after_a_restart(place: Place) -> None:
    folder, settings = place.settings.data_folder, settings_of(place)
    async with theatre(folder, KnotTroupe(), **settings) as (client, model):
        story_id = await publish(client, STORY)
        first = await play_all(client, story_id)
        asked = len(model.requests)
        assert asked >= len(MOVES) - 1
        assert await play_all(client, story_id) == first and len(model.requests) == asked
        address = model.base_url
    async with live_server(folder, **settings) as client:
        assert (await client.call("api.get", api_id="scripted"))["base_url"] == address
        assert await play_all(client, story_id) == first, "the model is gone; the memo is not"


async def test_another_seed_is_another_play_and_asks_anew(place: Place) -> None:
    async with theatre(place.settings.data_folder, KnotTroupe(), **settings_of(place)) as (client, model):
        story_id = await publish(client, STORY)
        await play_all(client, story_id)
        asked = len(model.requests)
        await play_all(client, story_id, seed=5)
        assert len(model.requests) == 2 * asked


async def test_a_decision_is_replayed_by_the_rest_route_too(place: Place) -> None:
    async with theatre(place.settings.data_folder, KnotTroupe(), **settings_of(place)) as (client, model):
        story_id = await publish(client, STORY)
        answers: list[JsonObject] = []
        for _ in range(2):
            session = str((await client.raw("story.start_session", story_id=story_id, seed=4))["session_id"])
            await play(client, session, choice=1)
            answers.append((await decide(client, session, "m1", "Who are you?")).json())
        assert answers[0]["reply"] == answers[1]["reply"] and len(model.requests) == 1


@pytest.mark.parametrize("words", ["Who are you?", "Tell me a secret."])
async def test_a_turn_that_is_played_again_after_going_back_is_the_same_and_free(place: Place, words: str) -> None:
    async with theatre(place.settings.data_folder, KnotTroupe(), **settings_of(place)) as (client, model):
        story_id = await publish(client, STORY)
        session = str((await client.raw("story.start_session", story_id=story_id, seed=4))["session_id"])
        await play(client, session, choice=1)
        await play(client, session, player_input="Hello there.")
        first = await play(client, session, player_input=words)
        asked = len(model.requests)
        await client.call("session.backtrack", session, turns=1)
        again = await play(client, session, player_input=words)
        assert [one for one in again if one["type"] == "event"] == [one for one in first if one["type"] == "event"]
        assert len(model.requests) == asked
