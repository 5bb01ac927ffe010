"""What players see of a play: neither what the director plans nor what characters only think; authors see both."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.free_world import BELL, WHEEL, free_session
from tests.live import Client, bodies, live_server
from tests.scripted import PACES, Theatre, theatre

from fabula.actions.care.tokens import create_token
from fabula.ports.actors import OPERATOR
from fabula.ports.store import TokenRole

THOUGHT = "I wonder about"


@asynccontextmanager
async def visitor(house: Theatre, role: TokenRole) -> AsyncIterator[Client]:
    """Somebody with a token of a role."""
    made = await create_token(house.client.house, OPERATOR, role=role)
    headers = {"authorization": f"Bearer {made.secret}"}
    async with httpx.AsyncClient(base_url=house.client.http.base_url, headers=headers, timeout=120) as http:
        yield Client(http, house.client.house)


async def everything(client: Client, house: Theatre, pace: str) -> tuple[list[dict[str, Any]], str]:
    """Plays two turns; answers the frames of the last one, and all that the client was ever told, as one text."""
    started = await client.raw("story.start_session", story_id=house.story_id, api_group_id="troupe", preset_id=pace)
    session = started["session_id"]
    first = await client.turn(session, "Hello, Mara.")
    frames = await client.turn(session, "Tell me a riddle.")
    told = [started, first, frames]
    for method, params in (
        ("session.get", {}),
        ("session.get_runtime_snapshot", {}),
        ("session_message.list", {}),
        ("session.get_variables", {}),
        ("session.branches", {}),
        ("session.branches", {"collapse": True}),
        ("session_turn.get", {"turn_index": 2}),
        ("session.update", {"display_name": "Renamed"}),
        ("session.update_player_description", {"player_description": "Tall."}),
        ("session.fork", {}),
        ("session.suggest_replies", {}),
    ):
        told.append(await client.call(method, session, **params))
    told.append(await client.turn(session, "", "session.regenerate"))
    return frames, json.dumps(told)


@pytest.mark.parametrize("pace", PACES)
async def test_players_see_no_thoughts_and_no_plans(tmp_path: Path, pace: str) -> None:
    async with theatre(tmp_path) as house, visitor(house, "player") as player:
        frames, told = await everything(player, house, pace)
        assert THOUGHT not in told
        directed = next(body for body in bodies(frames) if body["type"] == "director_completed")
        result = frames[-1]["response"]["result"]
        for director in (directed["result"], result["director"]):
            assert director["response_plan"] == {"role_actions": [], "beats": []}
        spoken = [beat["response"]["segments"] for beat in result["completed_beats"] if beat["type"] == "actor"]
        assert spoken and {segment["kind"] for segment in spoken[0]} <= {"dialogue", "action"}


@pytest.mark.parametrize("pace", PACES)
async def test_authors_see_thoughts_and_plans(tmp_path: Path, pace: str) -> None:
    async with theatre(tmp_path) as house, visitor(house, "author") as author:
        frames, told = await everything(author, house, pace)
        assert THOUGHT in told
        snapshot = frames[-1]["response"]["result"]["snapshot"]
        assert THOUGHT in json.dumps(snapshot["world_state"]["actor_private_memory"])


async def test_frames_keep_their_numbers_and_shapes_for_players(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        told = {}
        for role in ("player", "author"):
            async with visitor(house, role) as somebody:
                frames, _ = await everything(somebody, house, "ensemble")
                told[role] = frames
        kinds = {
            role: {(frame["type"], frame.get("body", {}).get("type")) for frame in frames}
            for role, frames in told.items()
        }
        assert kinds["player"] == kinds["author"]
        player, author = (told[role][-1]["response"]["result"] for role in ("player", "author"))
        assert player.keys() == author.keys() and player["snapshot"].keys() == author["snapshot"].keys()


async def test_players_see_of_schemas_no_word_of_what_is_to_be_found_out(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        await free_session(client)
        for role in ("player", "author"):
            made = await create_token(client.house, OPERATOR, role=role)
            client.http.headers["authorization"] = f"Bearer {made.secret}"
            listed = (await client.call("schema.list"))["schemas"]
            shown = [await client.call("schema.get", schema_id=one["schema_id"]) for one in listed]
            assert shown == listed and any("place" in one["fields"] for one in listed)
            told = json.dumps(shown)
            assert all((secret in told) == (role == "author") for secret in (WHEEL, BELL, "the mill wheel was stopped"))


async def test_a_player_who_comes_back_to_a_stream_sees_no_thoughts_there_either(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house, visitor(house, "player") as player:
        started = await player.raw("story.start_session", story_id=house.story_id, api_group_id="troupe")
        session = started["session_id"]
        request = player.request("session.run_turn", session, player_input="Hello, Mara.")
        async with player.http.stream("POST", "/rpc", json=request) as response:
            first = await anext(response.aiter_lines())
        assert first == "event: ack"
        again = await player.http.get(f"/sessions/{session}/events")
        assert again.status_code in (200, 204) and THOUGHT not in again.text
