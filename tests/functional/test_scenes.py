"""Scenes of a play: each ends with a turn, is summed up, and belongs to the line on which it was played."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.live import Client, RpcFailed, bodies, live_server

SHORE, HUT, TOWER = "The Shore", "The Hut", "The Tower"


def _node(id: str, title: str, goal: str, *ways: tuple[str, str]) -> dict[str, Any]:
    return {
        "id": id,
        "title": title,
        "scene": f"{title} lies in the rain. Nobody has swept here for a year.",
        "goal": goal,
        "characters": [],
        "transitions": [
            {"to": to, "condition": {"key": "at", "op": "eq", "value": to}, "means": [means]} for to, means in ways
        ],
    }


GRAPH = {
    "start_node": "shore",
    "nodes": [
        _node("shore", SHORE, "Find shelter.", ("hut", "go to the hut"), ("tower", "go to the tower")),
        _node("hut", HUT, "Dry your coat.", ("tower", "go to the tower")),
        _node("tower", TOWER, "See the sea."),
    ],
}


@pytest.fixture
async def client(tmp_path: Path, place: Place) -> AsyncIterator[Client]:
    async with live_server(tmp_path, database_url=place.settings.database_url) as opened:
        yield opened


async def started(client: Client) -> str:
    values = ["shore", "hut", "tower"]
    field = {"value_type": "string", "default": "shore", "description": "Where.", "enum_values": values}
    await client.call("schema.create", schema_id="coast", display_name="Coast", fields={"at": field})
    await client.call("schema.create", schema_id="nobody", display_name="Nobody", fields={})
    dog = {"id": "dog", "name": "Dog", "personality": "A dog.", "style": "", "schema_id": "nobody", "system_prompt": ""}
    await client.call("character.create", content=dog)
    resource = await client.call("story_resources.create", story_concept="A walk.", character_ids=["dog"])
    story = await client.call(
        "story.create",
        resource_id=resource["resource_id"],
        display_name="Coast",
        graph=GRAPH,
        world_schema_id="coast",
        player_schema_id="nobody",
        introduction="It rains.",
    )
    return str((await client.raw("story.start_session", story_id=story["story_id"], seed=3))["session_id"])


async def scenes(client: Client, session: str, **params: Any) -> list[dict[str, Any]]:
    return list((await client.call("scene.list", session, **params))["scenes"])


def completed(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [body for body in bodies(frames) if body["type"] == "scene_completed"]


async def test_leaving_a_node_completes_its_scene_and_the_stream_says_so(client: Client) -> None:
    session = await started(client)
    (now,) = await scenes(client, session)
    assert (now["scene_id"], now["status"], now["title"], now["purpose"]) == ("scene-0", "open", SHORE, "Find shelter.")
    assert completed(await client.turn(session, "I look around.")) == []
    (told,) = completed(await client.turn(session, "I go to the hut."))
    assert (told["scene_id"], told["title"], told["outcome"]) == ("scene-0", SHORE, "left")
    assert "You go to the hut." in told["summary"] and "The Hut lies" not in told["summary"]
    here, left = await scenes(client, session)
    assert (here["title"], here["status"], here["began_turn"], here["began_minute"]) == (HUT, "open", 2, 20)
    assert (left["status"], left["ended_turn"], left["ended_minute"]) == ("completed", 2, 20)
    assert left["summary"] == told["summary"]


async def test_the_last_scene_of_a_story_ends_with_it(client: Client) -> None:
    session = await started(client)
    (told,) = completed(await client.turn(session, "I go to the tower."))
    assert told["outcome"] == "ended"
    assert [(one["title"], one["status"]) for one in await scenes(client, session)] == [(SHORE, "completed")]


async def test_each_line_has_its_own_scenes_and_going_back_finds_them_as_they_were(client: Client) -> None:
    session = await started(client)
    await client.turn(session, "I look around.")
    await client.turn(session, "I go to the hut.")
    on_hut, there = await scenes(client, session), (await client.call("session.get", session))["head_turn_id"]
    await client.call("session.backtrack", session, turns=1)
    assert [(one["title"], one["status"]) for one in await scenes(client, session)] == [(SHORE, "open")]
    await client.turn(session, "I go to the tower.")
    assert [(one["scene_id"], one["outcome"]) for one in await scenes(client, session)] == [("scene-0", "ended")]
    await client.call("session.switch_branch", session, turn_id=there)
    assert await scenes(client, session) == on_hut


async def test_scenes_are_listed_in_parts_and_a_strange_cursor_is_refused(client: Client) -> None:
    session = await started(client)
    await client.turn(session, "I go to the hut.")
    await client.turn(session, "I go to the tower.")
    first = await client.call("scene.list", session, limit=1)
    rest = await scenes(client, session, cursor=first["next_cursor"])
    assert [one["title"] for one in (*first["scenes"], *rest)] == [HUT, SHORE]
    for cursor in ("scene:x", "other:1", "scene:-1"):
        with pytest.raises(RpcFailed, match="cursor"):
            await scenes(client, session, cursor=cursor)
