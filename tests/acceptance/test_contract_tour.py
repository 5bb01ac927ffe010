"""A client's tour: every method of the contract is called over HTTP, and answers and refuses as documented."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract_shapes import misshapen
from tests.live import GATE_GRAPH, Client, live_server

from fabula.testing.model_script import Fail, Pace, Say
from fabula.testing.model_server import ModelServer

CATALOGUE = """
api.create api.get api.list api.list_models api.update api.delete
api_group.create api_group.get api_group.list api_group.update api_group.delete
preset.create preset.get preset.list preset.update preset.delete
preset_entry.create preset_entry.update preset_entry.delete preset_preview.template preset_preview.runtime
schema.create schema.get schema.list schema.update schema.delete
lorebook.create lorebook.get lorebook.list lorebook.update lorebook.delete
lorebook_entry.create lorebook_entry.get lorebook_entry.list lorebook_entry.update lorebook_entry.delete
player_profile.create player_profile.get player_profile.list player_profile.update player_profile.delete
character.create character.get character.update character.list character.delete
story_resources.create story_resources.get story_resources.list story_resources.update story_resources.delete
story.generate_plan story.create story.generate story.get story.list story.update story.update_graph story.delete
story.start_session
story_draft.start story_draft.get story_draft.list story_draft.update_graph story_draft.continue story_draft.finalize
story_draft.delete
session.get session.list session.update session.delete session.run_turn session.get_variables session.update_variables
session.suggest_replies session.set_player_profile session.update_player_description session.get_runtime_snapshot
session.get_config session.update_config
session_character.create session_character.get session_character.list session_character.update
session_character.delete session_character.enter_scene session_character.leave_scene
session_message.create session_message.get session_message.list session_message.update session_message.delete
config.get_global dashboard.get
data_package.export_prepare data_package.import_prepare data_package.import_commit
session.retry_turn session.cancel_turn session.backtrack session.fork session.regenerate session.branches
session.switch_branch usage.list rpc.discover
"""
METHODS = set(CATALOGUE.split())

ROLES = ("planner", "architect", "director", "actor", "narrator", "keeper", "replyer")
BINDINGS = {f"{role}_api_id": "understudy" for role in ROLES}
BARE_AGENTS: dict[str, Any] = {role: {"modules": []} for role in ROLES}
MARA = {
    "id": "mara",
    "name": "Mara",
    "personality": "A wary gatekeeper; {{user}} amuses her.",
    "style": "dry",
    "schema_id": "keeper",
    "system_prompt": "You are {{char}}.",
}


class Tour:
    """Calls methods, holds every answer against the contract, and remembers what was seen."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.seen: set[str] = set()
        self.envelope: dict[str, Any] = {}

    async def see(self, method: str, type: str, session: str | None = None, /, **params: Any) -> dict[str, Any]:
        """The result of a call, which must have this type and its contracted fields."""
        response = await self.client.http.post("/rpc", json=self.client.request(method, session, **params))
        self.seen.add(method)
        self.envelope = response.json()
        assert response.status_code == 200 and "error" not in self.envelope, (method, self.envelope)
        assert self.envelope["jsonrpc"] == "2.0" and self.envelope["id"] == "1"
        result: dict[str, Any] = self.envelope["result"]
        assert result["type"] == type and misshapen(result) == []
        return result

    async def refused(self, code: int, method: str, session: str | None = None, /, **params: Any) -> dict[str, Any]:
        """The error of a call; unary errors come with HTTP 200."""
        response = await self.client.http.post("/rpc", json=self.client.request(method, session, **params))
        answer = response.json()
        assert response.status_code == 200 and answer["error"]["code"] == code, (method, params, answer)
        assert answer["error"].keys() <= {"code", "message", "data"} and answer.get("session_id") == session
        error: dict[str, Any] = answer["error"]
        return error

    async def play(self, session: str, words: str | None = None, method: str = "session.run_turn") -> dict[str, Any]:
        self.seen.add(method)
        frames = await self.client.turn(session, words or "", method)
        assert frames[-1]["type"] == "completed", frames[-1]
        result: dict[str, Any] = frames[-1]["response"]["result"]
        return result


@pytest.fixture
async def tour(tmp_path: Path) -> AsyncIterator[Tour]:
    async with live_server(tmp_path, model_attempts=1) as client:
        yield Tour(client)


async def test_every_method_of_the_contract_answers_and_refuses_as_documented(tour: Tour) -> None:
    await visit_models(tour)
    await visit_presets(tour)
    await visit_schemas_and_lore(tour)
    await visit_characters(tour)
    resource_id = await visit_resources(tour)
    await visit_drafts(tour, resource_id)
    story_id = await visit_stories(tour, resource_id)
    session_id = await visit_sessions(tour, story_id)
    await visit_turns(tour, session_id)
    await visit_the_tree(tour, session_id)
    await visit_guests(tour, session_id)
    await visit_messages(tour, session_id)
    await visit_a_slow_model(tour, session_id)
    await visit_packages(tour, story_id)
    await visit_overviews(tour, session_id)
    await say_goodbye(tour, session_id, story_id, resource_id)
    assert tour.seen == METHODS
    document = (await tour.client.http.get("/openrpc.json")).json()
    assert {method["name"] for method in document["methods"]} >= METHODS


async def visit_models(tour: Tour) -> None:
    api = {"api_id": "gpt", "display_name": "G", "provider": "open_ai", "base_url": "http://127.0.0.1:9/v1/"}
    made = await tour.see("api.create", "api", **api, api_key="12345678", model="m")
    assert made["has_api_key"] is True and made["api_key_masked"] == "********"
    await tour.refused(40909, "api.create", **api, api_key="", model="m")
    await tour.refused(-32600, "api.create", **{**api, "api_id": ""}, api_key="", model="m")
    await tour.refused(-32602, "api.create", **{**api, "provider": "elsewhere"}, api_key="", model="m")
    await tour.see("api.get", "api", api_id="gpt")
    await tour.refused(40404, "api.get", api_id="nobody")
    listed = await tour.see("api.list", "apis_listed")
    assert [one["api_id"] for one in listed["apis"]] == ["gpt", "understudy"]
    assert (await tour.see("api.update", "api", api_id="gpt", model="n"))["model"] == "n"
    async with ModelServer([Say(text="x")]) as model:
        where = {"provider": "open_ai", "base_url": f"{model.base_url}/", "api_key": "k"}
        found = await tour.see("api.list_models", "api_models_listed", **where)
        assert found["base_url"] == model.base_url and found["models"]
    await tour.refused(50001, "api.list_models", **where)
    group = {"api_group_id": "mine", "display_name": "Mine", "bindings": {**BINDINGS, "actor_api_id": "gpt"}}
    await tour.see("api_group.create", "api_group", **group)
    await tour.refused(40909, "api_group.create", **group)
    await tour.refused(-32602, "api_group.create", **{**group, "bindings": {}})
    await tour.refused(-32600, "api_group.create", **{**group, "bindings": {**BINDINGS, "actor_api_id": ""}})
    await tour.refused(40404, "api_group.update", api_group_id="mine", bindings={**BINDINGS, "actor_api_id": "x"})
    await tour.refused(40909, "api.delete", api_id="gpt")
    changed = await tour.see("api_group.update", "api_group", api_group_id="mine", bindings=BINDINGS)
    assert changed["display_name"] == "Mine"
    await tour.see("api_group.get", "api_group", api_group_id="mine")
    assert len((await tour.see("api_group.list", "api_groups_listed"))["api_groups"]) == 2
    await tour.see("api.delete", "api_deleted", api_id="gpt")


async def visit_presets(tour: Tour) -> None:
    mine: dict[str, Any] = {"preset_id": "mine", "display_name": "Mine", "agents": BARE_AGENTS}
    made = await tour.see("preset.create", "preset", **mine)
    modules = made["agents"]["director"]["modules"]
    assert [(one["module_id"], one["message_role"], one["order"]) for one in modules] == [
        ("role", "system", 10),
        ("task", "system", 20),
        ("static_context", "user", 30),
        ("dynamic_context", "user", 40),
        ("output", "system", 50),
    ]
    await tour.refused(40909, "preset.create", **mine)
    six: dict[str, Any] = {role: {"modules": []} for role in ROLES[1:]}
    await tour.refused(-32602, "preset.create", **{**mine, "agents": six})
    twice = {**BARE_AGENTS, "actor": {"modules": [{"module_id": "a", "entries": []}] * 2}}
    await tour.refused(-32600, "preset.update", preset_id="mine", agents=twice)
    await tour.refused(-32600, "preset.update", preset_id="mine", agents={**BARE_AGENTS, "actor": {"max_tokens": 0}})
    named = await tour.see("preset.update", "preset", preset_id="mine", display_name="My own")
    assert named["agents"] == made["agents"] == (await tour.see("preset.get", "preset", preset_id="mine"))["agents"]
    for item in (await tour.see("preset.list", "presets_listed"))["presets"]:
        agent = item["agents"]["keeper"]
        assert agent["module_count"] == len(agent["modules"])
        assert agent["entry_count"] == sum(module["entry_count"] for module in agent["modules"])
        assert all(not {"text", "context_key"} & entry.keys() for one in agent["modules"] for entry in one["entries"])
    place = {"preset_id": "mine", "agent": "narrator", "module_id": "task"}
    words = {"display_name": "Rhyme", "text": "Rhyme."}
    entry = (await tour.see("preset_entry.create", "preset_entry", **place, entry_id="rhyme", **words))["entry"]
    assert entry["kind"] == "custom_text" and entry["enabled"] is True and "context_key" not in entry
    await tour.refused(40909, "preset_entry.create", **place, entry_id="rhyme", **words)
    await tour.refused(40404, "preset_entry.create", **{**place, "module_id": "none"}, entry_id="r", **words)
    await tour.see("preset_entry.update", "preset_entry", **place, entry_id="rhyme", enabled=False)
    built_in = next(one for one in modules if one["module_id"] == "role")["entries"][0]["entry_id"]
    where = {"preset_id": "mine", "agent": "director", "module_id": "role", "entry_id": built_in}
    await tour.see("preset_entry.update", "preset_entry", **where, enabled=False)
    await tour.refused(-32600, "preset_entry.update", **where, text="Mine now.")
    await tour.refused(-32600, "preset_entry.delete", **where)
    await tour.see("preset_entry.delete", "preset_entry_deleted", **place, entry_id="rhyme")
    await tour.see("preset_preview.template", "preset_prompt_preview", preset_id="mine", agent="actor")
    await tour.refused(-32600, "preset_preview.template", preset_id="mine", agent="architect")
    await tour.refused(-32600, "preset_preview.template", preset_id="mine", agent="actor", architect_mode="graph")


async def visit_schemas_and_lore(tour: Tour) -> None:
    gate = {"gate_open": {"value_type": "bool", "default": False}}
    for name, fields in (("world", gate), ("player", {}), ("keeper", {"trust": {"value_type": "int", "default": 1}})):
        made = await tour.see("schema.create", "schema", schema_id=name, display_name=name, fields=fields)
    assert made["tags"] == [] and made["fields"] == {"trust": {"value_type": "int", "default": 1, "description": None}}
    await tour.refused(40909, "schema.create", schema_id="world", display_name="w", fields={})
    bad = {"a": {"value_type": "array", "default": [], "enum_values": [[]]}}
    await tour.refused(-32600, "schema.update", schema_id="world", fields=bad)
    await tour.see("schema.update", "schema", schema_id="world", tags=["t"])
    await tour.see("schema.get", "schema", schema_id="world")
    await tour.see("schema.list", "schemas_listed")
    await tour.refused(40404, "schema.delete", schema_id="nobody")
    await tour.see("schema.create", "schema", schema_id="spare", display_name="s", fields={})
    await tour.see("schema.delete", "schema_deleted", schema_id="spare")
    await tour.see("lorebook.create", "lorebook", lorebook_id="lore", display_name="Lore")
    first = {"lorebook_id": "lore", "entry_id": "gate", "title": "The gate", "content": "Old iron."}
    entry = await tour.see("lorebook_entry.create", "lorebook_entry", **first)
    assert entry["keywords"] == [] and entry["enabled"] is True and entry["always_include"] is False
    await tour.refused(40909, "lorebook_entry.create", **first)
    entry_name = {"lorebook_id": "lore", "entry_id": "gate"}
    await tour.see("lorebook_entry.get", "lorebook_entry", **entry_name)
    await tour.refused(40404, "lorebook_entry.get", lorebook_id="lore", entry_id="nobody")
    await tour.see("lorebook_entry.list", "lorebook_entries_listed", lorebook_id="lore")
    await tour.see("lorebook_entry.update", "lorebook_entry", **entry_name, keywords=["gate"])
    await tour.see("lorebook.get", "lorebook", lorebook_id="lore")
    await tour.see("lorebook.list", "lorebooks_listed")
    await tour.see("lorebook.update", "lorebook", lorebook_id="lore", display_name="The lore")
    await tour.see("lorebook.create", "lorebook", lorebook_id="spare", display_name="Spare", entries=[])
    await tour.see("lorebook.delete", "lorebook_deleted", lorebook_id="spare")
    ann = {"player_profile_id": "ann", "display_name": "Ann", "description": "A courier."}
    await tour.see("player_profile.create", "player_profile", **ann)
    await tour.refused(40909, "player_profile.create", **ann)
    await tour.see("player_profile.get", "player_profile", player_profile_id="ann")
    await tour.see("player_profile.list", "player_profiles_listed")
    await tour.see("player_profile.update", "player_profile", player_profile_id="ann", display_name="Anna")
    await tour.refused(40404, "player_profile.update", player_profile_id="nobody", display_name="Bob")


async def visit_characters(tour: Tour) -> None:
    made = await tour.see("character.create", "character_created", content=MARA)
    assert misshapen(made["character_summary"]) == [] and made["character_summary"]["folder"] == ""
    await tour.refused(40909, "character.create", content=MARA)
    await tour.refused(40404, "character.create", content={**MARA, "id": "b", "schema_id": "nobody"})
    got = await tour.see("character.get", "character", character_id="mara")
    assert got["content"] == {**MARA, "tags": [], "folder": ""} and got["cover_file_name"] is None
    await tour.see("character.update", "character", character_id="mara", content=got["content"])
    await tour.refused(-32600, "character.update", character_id="mara", content={**MARA, "id": "other"})
    await tour.see("character.list", "characters_listed")
    await tour.refused(40909, "schema.delete", schema_id="keeper")
    await tour.see("character.create", "character_created", content={**MARA, "id": "spare"})
    await tour.see("character.delete", "character_deleted", character_id="spare")


async def visit_resources(tour: Tour) -> str:
    seeds = {"player_schema_id_seed": "player", "world_schema_id_seed": "world", "lorebook_ids": ["lore"]}
    given = {"story_concept": "A gate must be opened.", "character_ids": ["mara"], **seeds}
    made = await tour.see("story_resources.create", "story_resources_created", **given)
    assert made["display_name"] == "A gate must be opened." and made["resource_id"].startswith("resource_")
    await tour.refused(-32600, "story_resources.create", story_concept="x", character_ids=[])
    await tour.refused(40404, "story_resources.create", story_concept="x", character_ids=["nobody"])
    name = made["resource_id"]
    await tour.see("story_resources.get", "story_resources", resource_id=name)
    await tour.see("story_resources.list", "story_resources_listed")
    plan = "The gate is shut.\n\nThe gate is opened."
    await tour.see("story_resources.update", "story_resources_updated", resource_id=name, planned_story=plan)
    await tour.refused(40909, "character.delete", character_id="mara")
    await tour.refused(40909, "lorebook.delete", lorebook_id="lore")
    planned = await tour.see("story.generate_plan", "story_planned", resource_id=name)
    assert planned["story_script"].strip()
    shown = await tour.see("story_resources.get", "story_resources", resource_id=name)
    assert shown["planned_story"] == plan
    preview = {"preset_id": "mine", "agent": "planner", "resource_id": name}
    await tour.see("preset_preview.runtime", "preset_prompt_preview", **preview)
    return str(name)


async def visit_drafts(tour: Tour, resource_id: str) -> None:
    draft = await tour.see("story_draft.start", "story_draft", resource_id=resource_id, common_variables=None)
    name = {"draft_id": draft["draft_id"]}
    assert draft["status"] == "building" and draft["final_story_id"] is None and draft["total_sections"] == 2
    assert (draft["api_group_id"], draft["preset_id"]) == ("mine", "mine")
    await tour.see("story_draft.get", "story_draft", **name)
    await tour.refused(40404, "story_draft.get", draft_id="nobody")
    graph = draft["partial_graph"]
    await tour.see("story_draft.update_graph", "story_draft", **name, partial_graph=graph)
    nameless = {"start_node": "", "nodes": [{**graph["nodes"][0], "id": ""}]}
    await tour.refused(-32600, "story_draft.update_graph", **name, partial_graph=nameless)
    await tour.refused(-32600, "story_draft.finalize", **name)
    await tour.refused(40909, "preset.delete", preset_id="mine")
    assert (await tour.see("story_draft.continue", "story_draft", **name))["status"] == "ready_to_finalize"
    await tour.refused(-32600, "story_draft.continue", **name)
    story = await tour.see("story_draft.finalize", "story_generated", **name)
    assert await tour.see("story_draft.finalize", "story_generated", **name) == story
    await tour.see("story_draft.list", "story_drafts_listed")
    await tour.see("story_draft.delete", "story_draft_deleted", **name)
    await tour.see("story.delete", "story_deleted", story_id=story["story_id"])
    told = await tour.see("story.generate", "story_generated", resource_id=resource_id, display_name="Told")
    assert (await tour.see("story_draft.list", "story_drafts_listed"))["drafts"] == []
    await tour.see("story.delete", "story_deleted", story_id=told["story_id"])


async def visit_stories(tour: Tour, resource_id: str) -> str:
    given = {"resource_id": resource_id, "graph": GATE_GRAPH, "introduction": "Rain.", "world_schema_id": "world"}
    made = await tour.see("story.create", "story_generated", **given, player_schema_id="player")
    name = {"story_id": made["story_id"]}
    node = made["graph"]["nodes"][0]
    assert made["story_id"].startswith("story_") and node["on_enter_updates"] == []
    assert node["transitions"][0]["condition"] == {"scope": "global", "key": "gate_open", "op": "eq", "value": True}
    await tour.refused(40404, "story.create", **given, player_schema_id="nobody")
    await tour.refused(-32600, "story.update_graph", **name, graph={"start_node": "a", "nodes": []})
    await tour.see("story.update_graph", "story", **name, graph=made["graph"])
    pin = {"scope": "character", "key": "trust", "display_name": "Trust", "character_id": "mara"}
    pinned = await tour.see("story.update", "story", **name, common_variables=[pin])
    assert pinned["common_variables"] == [{**pin, "pinned": True}]
    await tour.refused(-32600, "story.update", **name, common_variables=[{**pin, "key": "nothing"}])
    await tour.see("story.get", "story", **name)
    await tour.see("story.list", "stories_listed")
    await tour.refused(40909, "story_resources.delete", resource_id=resource_id)
    return str(made["story_id"])


async def visit_sessions(tour: Tour, story_id: str) -> str:
    started = await tour.see("story.start_session", "session_started", story_id=story_id, player_profile_id="ann")
    session = str(tour.envelope["session_id"])
    assert started["config"] == {"api_group_id": "mine", "preset_id": "mine"} and started["history"] == []
    assert started["snapshot"]["player_description"] == "A courier." and session.startswith("session_")
    assert [misshapen(one) for one in started["character_summaries"]] == [[]]
    await tour.refused(40404, "story.start_session", story_id="nobody")
    await tour.refused(40909, "player_profile.delete", player_profile_id="ann")
    await tour.refused(40909, "story.delete", story_id=story_id)
    await tour.refused(40909, "api_group.delete", api_group_id="mine")
    await tour.see("session.get", "session", session)
    assert tour.envelope["session_id"] == session
    await tour.refused(40404, "session.get", "nobody")
    await tour.refused(-32600, "session.get")
    await tour.see("session.list", "sessions_listed")
    assert (await tour.see("session.update", "session", session, display_name="Mine"))["display_name"] == "Mine"
    await tour.see("session.get_variables", "session_variables", session)
    ops = [{"type": "SetCharacterState", "character": "mara", "key": "trust", "value": 2}]
    changed = await tour.see("session.update_variables", "session_variables", session, update={"ops": ops})
    assert changed["character_state"] == {"mara": {"trust": 2}}
    moves = {"ops": [{"type": "AddActiveCharacter", "character": "mara"}]}
    await tour.refused(-32600, "session.update_variables", session, update=moves)
    replies = (await tour.see("session.suggest_replies", "suggested_replies", session, limit=2))["replies"]
    assert len(replies) == 2 and all(reply.keys() == {"reply_id", "text"} for reply in replies)
    await tour.refused(-32600, "session.suggest_replies", session, limit=6)
    free = await tour.see("session.set_player_profile", "session", session)
    assert free["player_profile_id"] is None and free["turn_index"] == 0
    await tour.see("session.set_player_profile", "session", session, player_profile_id="ann")
    await tour.refused(40404, "session.set_player_profile", session, player_profile_id="nobody")
    told = {"player_description": "A king."}
    await tour.see("session.update_player_description", "player_description_updated", session, **told)
    await tour.see("session.get_runtime_snapshot", "runtime_snapshot", session)
    await tour.see("session.get_config", "session_config", session)
    await tour.see("session.update_config", "session_config", session, preset_id="builtin")
    await tour.refused(40404, "session.update_config", session, preset_id="nobody")
    return session


async def visit_turns(tour: Tour, session: str) -> None:
    result = await tour.play(session, "Hello, Mara.")
    documented = {"turn_index", "player_input", "first_keeper", "director", "completed_beats", "second_keeper"}
    assert result.keys() - {"turn_id"} == {*documented, "snapshot"} and result["turn_index"] == 1
    got = await tour.see("session.get", "session", session)
    assert got["history"] and [misshapen(message) for message in got["history"]] == [[]] * len(got["history"])
    assert got["turn_index"] == 1
    missing = tour.client.request("session.run_turn", "nobody", player_input="Hi")
    empty = tour.client.request("session.run_turn", session, player_input=" ")
    for request, status, code in ((missing, 404, 40404), (empty, 400, -32600)):
        response = await tour.client.http.post("/rpc", json=request)
        assert response.status_code == status and response.json()["error"]["code"] == code


async def visit_the_tree(tour: Tour, session: str) -> None:
    await tour.play(session, method="session.regenerate")
    tree = await tour.see("session.branches", "session_branches", session)
    played = [turn["turn_id"] for turn in tree["turns"] if turn["kind"] == "play"]
    assert len(played) == 2
    other = next(turn for turn in played if turn != tree["head_turn_id"])
    await tour.see("session.switch_branch", "session", session, turn_id=other)
    await tour.refused(40404, "session.switch_branch", session, turn_id="nobody")
    await tour.see("session.fork", "session_forked", session, turn_id=other)
    forked = tour.envelope["session_id"]
    assert (await tour.see("session.backtrack", "session", session))["turn_index"] == 0
    await tour.see("session.delete", "session_deleted", forked)


async def visit_guests(tour: Tour, session: str) -> None:
    card = {"display_name": "Dog", "personality": "kind", "style": "barks", "system_prompt": ""}
    guest = await tour.see("session_character.create", "session_character", session, **card, enter_scene=False)
    assert guest["in_scene"] is False
    name = {"session_character_id": guest["session_character_id"]}
    assert (await tour.see("session_character.enter_scene", "session_character", session, **name))["in_scene"] is True
    await tour.see("session_character.leave_scene", "session_character", session, **name)
    await tour.see("session_character.update", "session_character", session, **name, **{**card, "style": "growls"})
    await tour.see("session_character.get", "session_character", session, **name)
    await tour.refused(40404, "session_character.get", session, session_character_id="nobody")
    await tour.see("session_character.list", "session_characters_listed", session)
    await tour.see("session_character.delete", "session_character_deleted", session, **name)


async def visit_messages(tour: Tour, session: str) -> None:
    line = {"kind": "narration", "speaker_id": "narrator", "speaker_name": "Narrator", "text": "It rains."}
    made = await tour.see("session_message.create", "session_message", session, **line)
    name = {"message_id": made["message_id"]}
    await tour.see("session_message.get", "session_message", session, **name)
    await tour.see("session_message.update", "session_message", session, **name, **{**line, "text": "It pours."})
    await tour.refused(-32602, "session_message.create", session, **{**line, "kind": "thought"})
    listed = await tour.see("session_message.list", "session_messages_listed", session)
    assert listed["messages"][-1]["text"] == "It pours."
    await tour.see("session_message.delete", "session_message_deleted", session, **name)
    await tour.refused(40404, "session_message.get", session, **name)


async def visit_a_slow_model(tour: Tour, session: str) -> None:
    """A turn is cancelled; the same words are then played again by another model."""
    async with ModelServer([Say(text="{}", pace=Pace(first_token_ms=30_000))]) as model:
        api = {"api_id": "slow", "display_name": "S", "provider": "open_ai", "base_url": model.base_url}
        await tour.see("api.create", "api", **api, api_key="", model="m")
        bindings = dict.fromkeys(BINDINGS, "slow")
        await tour.see("api_group.create", "api_group", api_group_id="slow", display_name="S", bindings=bindings)
        await tour.see("session.update_config", "session_config", session, api_group_id="slow")
        turn = asyncio.create_task(tour.client.turn(session, "Is anybody there?"))
        while "active_turn_id" not in await tour.see("session.get", "session", session):
            await asyncio.sleep(0.01)
        await tour.see("session.cancel_turn", "turn_cancelled", session)
        assert (await turn)[-1]["type"] == "failed"
    await tour.refused(40909, "session.cancel_turn", session)
    await tour.see("session.update_config", "session_config", session, api_group_id="builtin")
    again = await tour.play(session, method="session.retry_turn")
    assert again["player_input"] == "Is anybody there?"


async def visit_packages(tour: Tour, story_id: str) -> None:
    out = await tour.see("data_package.export_prepare", "data_package_export_prepared", story_ids=[story_id])
    assert out["archive"] == {"resource_id": f"package_export:{out['export_id']}", "file_id": "archive"}
    assert {name: one["count"] for name, one in out["contents"].items()} == {
        "presets": 0,
        "schemas": 3,
        "lorebooks": 1,
        "player_profiles": 0,
        "characters": 1,
        "story_resources": 1,
        "stories": 1,
        "game_systems": 0,
        "worlds": 0,
    }
    await tour.refused(-32600, "data_package.export_prepare")
    await tour.refused(40404, "data_package.export_prepare", story_ids=["nobody"])
    archive = (await tour.client.http.get(f"/download/package_export:{out['export_id']}/archive")).content
    prepared = await tour.see("data_package.import_prepare", "data_package_import_prepared")
    target = f"/upload/{prepared['archive']['resource_id']}/{prepared['archive']['file_id']}"
    assert (await tour.client.http.post(target, content=archive)).status_code == 200
    name = {"import_id": prepared["import_id"]}
    await tour.refused(40909, "data_package.import_commit", **name)
    await tour.refused(40404, "data_package.import_commit", import_id="nobody")
    taken = await tour.see("data_package.import_commit", "data_package_import_committed", **name, on_conflict="skip")
    assert all(one == {"ids": [], "count": 0} for one in taken["contents"].values())


async def visit_overviews(tour: Tour, session: str) -> None:
    config = await tour.see("config.get_global", "global_config")
    assert config["api_group_id"] == "mine" and config["preset_id"] == "mine"
    board = await tour.see("dashboard.get", "dashboard")
    assert board["health"] == {"status": "ok"} and len(board["counts"]) == 5
    recent = {"session_id", "story_id", "display_name", "turn_index", "updated_at_ms"}
    assert [one.keys() for one in board["recent_sessions"]] == [recent]
    stories = {"story_id", "display_name", "resource_id", "introduction", "updated_at_ms"}
    assert [one.keys() for one in board["recent_stories"]] == [stories]
    used = await tour.see("usage.list", "usage_listed", session_id=session)
    assert {"total_tokens", "latency_ms", "model", "agent", "memo_hit"} <= used["calls"][0].keys()
    tour.seen.add("rpc.discover")
    assert {"openrpc", "info", "methods"} <= (await tour.client.call("rpc.discover")).keys()


async def say_goodbye(tour: Tour, session: str, story_id: str, resource_id: str) -> None:
    await tour.see("session.delete", "session_deleted", session)
    await tour.refused(40404, "session_message.list", session)
    for method, type, params in (
        ("story.delete", "story_deleted", {"story_id": story_id}),
        ("story_resources.delete", "story_resources_deleted", {"resource_id": resource_id}),
        ("lorebook_entry.delete", "lorebook_entry_deleted", {"lorebook_id": "lore", "entry_id": "gate"}),
        ("player_profile.delete", "player_profile_deleted", {"player_profile_id": "ann"}),
        ("api_group.delete", "api_group_deleted", {"api_group_id": "mine"}),
        ("preset.delete", "preset_deleted", {"preset_id": "mine"}),
    ):
        result = await tour.see(method, type, **params)
        assert {name: result[name] for name in params} == params
        await tour.refused(40404, method, **params)


async def test_a_failing_model_is_a_backend_error(tour: Tour) -> None:
    async with ModelServer([Fail(status=500)]) as model:
        where = {"provider": "open_ai", "base_url": model.base_url, "api_key": "k"}
        bindings = dict.fromkeys(BINDINGS, "broken")
        await tour.see("api.create", "api", api_id="broken", display_name="B", model="m", **where)
        await tour.see("api_group.create", "api_group", api_group_id="b", display_name="B", bindings=bindings)
        await tour.see("schema.create", "schema", schema_id="keeper", display_name="K", fields={})
        await tour.see("character.create", "character_created", content=MARA)
        concept = {"story_concept": "A gate.", "character_ids": ["mara"]}
        made = await tour.see("story_resources.create", "story_resources_created", **concept)
        await tour.refused(50001, "story.generate_plan", resource_id=made["resource_id"])
        await tour.refused(50001, "story_draft.start", resource_id=made["resource_id"])
