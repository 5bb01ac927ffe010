"""What is too large is refused with a sentence, at every door, and changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.doors import Doors, doors
from tests.live import GATE_GRAPH

from fabula.story.changes import MOST_PRESENT
from fabula.story.graph import MOST_WAYS

MIB = 1024 * 1024


@pytest.fixture
async def house_doors() -> AsyncIterator[Doors]:
    async with doors() as opened:
        yield opened


async def refusal(house_doors: Doors, who: str, method: str, session: str | None = None, /, **params: Any) -> str:
    """The sentence with which a request is refused."""
    answer = (await house_doors[who].post(method, session, **params)).json()
    error = answer.get("error", answer)
    assert error["code"] == -32600, answer
    return str(error["message"])


async def test_a_request_of_more_than_a_mebibyte_is_refused(house_doors: Doors) -> None:
    for who in ("owner", "author", "admin"):
        sentence = await refusal(house_doors, who, "player_profile.create", description="x" * MIB)
        assert "larger than 1 MiB" in sentence or "takes at most 1024 KiB" in sentence


async def test_a_whole_story_may_be_larger_but_only_from_an_author(house_doors: Doors) -> None:
    source = "Once upon a time.\n" + f"// {'x' * 1000}\n" * 1500
    answer = (await house_doors["author"].post("ink.check", source=source)).json()
    assert answer["result"]["statistics"]["words"] == 4
    response = await house_doors["owner"].post("ink.check", source=source)
    assert response.status_code == 413 and "larger than 1 MiB" in response.json()["error"]["message"]
    response = await house_doors["author"].post("ink.check", source="x" * (8 * MIB))
    assert response.status_code == 413 and "larger than 8 MiB" in response.json()["error"]["message"]


async def test_a_player_cannot_make_the_server_hold_an_upload(house_doors: Doors) -> None:
    response = await house_doors["owner"].client.http.post("/upload/character:x/archive", content=b"x" * (2 * MIB))
    assert response.status_code == 413


async def test_many_or_deep_values_are_refused_before_they_are_built(house_doors: Doors) -> None:
    deep: Any = "deep"
    for _ in range(80):
        deep = [deep]
    for value, sentence in (([0] * 100_001, "More than 100000 JSON values"), (deep, "deeper than 64 levels")):
        response = await house_doors["owner"].post("session.update_variables", "s", update=value)
        assert response.status_code == 400 and sentence in response.json()["message"]


TOO_LARGE: list[tuple[str, str, dict[str, Any], str]] = [
    ("owner", "player_profile.create", {"display_name": "x" * 1001}, "display_name: String should have at most"),
    ("owner", "player_profile.create", {"display_name": "a\x00b"}, "A text contains a NUL character"),
    ("owner", "session.run_turn", {"player_input": "x" * 20_001}, "at most 20000 characters"),
    ("owner", "session.update_player_description", {"player_description": "x" * 20_001}, "at most 20000"),
    ("owner", "session_message.create", {"text": "x" * 20_001}, "at most 20000 characters"),
    ("owner", "session.update_config", {"token_budget": 2**63}, "less than or equal to 9007199254740991"),
    ("owner", "session.backtrack", {"turns": 2**70}, "turns"),
    ("author", "lorebook_entry.create", {"content": "x" * 100_001}, "at most 100000 characters"),
    ("author", "lorebook_entry.create", {"keywords": ["x" * 1001]}, "at most 1000 characters"),
    ("author", "lorebook_entry.create", {"order": 2**60}, "less than or equal to"),
    (
        "author",
        "schema.create",
        {"fields": {"a": {"value_type": "string", "default": "x" * 100_001}}},
        "A value may",
    ),
    ("author", "schema.create", {"fields": {"k" * 1001: {"value_type": "string"}}}, "at most 1000 characters"),
    ("author", "character.create", {"content": {"personality": "x" * 100_001}}, "at most 100000 characters"),
    ("admin", "api.create", {"base_url": "x" * 4001}, "at most 4000 characters"),
    ("admin", "preset.create", {"agents": {"planner": {"max_tokens": 2**62}}}, "less than or equal to"),
]


async def test_a_text_or_number_that_is_too_large_is_refused_with_a_sentence(house_doors: Doors) -> None:
    for who, method, params, sentence in TOO_LARGE:
        session = "session_x" if method.startswith("session") else None
        answer = (await house_doors[who].post(method, session, **params)).json()
        error = answer.get("error", answer)
        errors = error.get("data", {}).get("errors", [])
        told = [error["message"], *(f"{one['field']}: {one['message']}" for one in errors)]
        assert error["code"] in (-32600, -32602) and any(sentence in one for one in told), (method, told)


async def test_variables_of_a_play_have_a_limit_and_a_refusal_changes_nothing(house_doors: Doors) -> None:
    owner = house_doors["owner"]
    session = await owner.play(house_doors.story_id)
    ops = [{"type": "SetState", "key": f"note{n}", "value": "x" * 90_000} for n in range(3)]
    sentence = await refusal(house_doors, "owner", "session.update_variables", session, update={"ops": ops})
    assert "the variables of a play may have a size of 200000 letters" in sentence
    assert (await owner.client.call("session.get_variables", session))["custom"] == {"gate_open": False}


async def test_a_story_whose_schemas_begin_too_large_cannot_be_started(house_doors: Doors) -> None:
    author = house_doors["author"].client
    fields = {f"note{n}": {"value_type": "string", "default": "x" * 90_000} for n in range(3)}
    await author.call("schema.create", schema_id="large", display_name="Large", fields=fields)
    resource = (await author.call("story.get", story_id=house_doors.story_id))["resource_id"]
    story = await author.call(
        "story.create",
        resource_id=resource,
        graph=GATE_GRAPH,
        world_schema_id="large",
        player_schema_id="large",
        introduction="",
    )
    sentence = await refusal(house_doors, "author", "story.start_session", story_id=story["story_id"])
    assert "Shorten the defaults of its schemas" in sentence


async def test_a_scene_has_so_many_ways_on_and_no_more(house_doors: Doors) -> None:
    author = house_doors["author"].client
    story = await author.call("story.get", story_id=house_doors.story_id)
    node = {"id": "n", "title": "T", "scene": "", "goal": "", "transitions": [{"to": "n"}] * (MOST_WAYS + 1)}
    graph = {"start_node": "n", "nodes": [node]}
    own = {name: story[name] for name in ("resource_id", "world_schema_id", "player_schema_id", "introduction")}
    for method, params in (("story.create", own), ("story.update_graph", {"story_id": house_doors.story_id})):
        sentence = await refusal(house_doors, "author", method, graph=graph, **params)
        assert "node 'n' has 1001 ways on, 1000 are the most" in sentence


async def test_guests_of_a_play_have_a_limit_together(house_doors: Doors) -> None:
    owner = house_doors["owner"]
    session = await owner.play(house_doors.story_id)
    guest = {"display_name": "G", "personality": "x" * 90_000, "style": "s", "system_prompt": "p"}
    for _ in range(2):
        await owner.client.call("session_character.create", session, **guest)
    sentence = await refusal(house_doors, "owner", "session_character.create", session, **guest)
    assert "The guests of a play may have 200000 letters together" in sentence
    assert len((await owner.client.call("session_character.list", session))["session_characters"]) == 2


async def test_a_scene_holds_so_many_guests_by_hand(house_doors: Doors) -> None:
    owner = house_doors["owner"]
    session = await owner.play(house_doors.story_id)
    snapshot = (await owner.client.call("session.get_runtime_snapshot", session))["snapshot"]
    guest = {"display_name": "G", "personality": "p", "style": "s", "system_prompt": "p"}
    for _ in range(MOST_PRESENT - len(snapshot["world_state"]["active_characters"])):
        await owner.client.call("session_character.create", session, **guest)
    sentence = await refusal(house_doors, "owner", "session_character.create", session, **guest)
    assert "A scene holds 50 characters, and these would be 51. Let one of them leave first." in sentence
    outside = await owner.client.call("session_character.create", session, **guest, enter_scene=False)
    id = outside["session_character_id"]
    assert sentence == await refusal(
        house_doors, "owner", "session_character.enter_scene", session, session_character_id=id
    )
