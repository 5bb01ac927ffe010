"""Resources over HTTP: every method of the catalogue answers in the contracted shape."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.live import Client, RpcFailed, gate_story, live_server

from fabula.actions import repositories


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path) as client:
        yield client


KEY = "sk-1234567890abcdef"
API: dict[str, Any] = {
    "api_id": "gpt",
    "display_name": "GPT",
    "provider": "open_ai",
    "base_url": "http://127.0.0.1:9/v1",
    "api_key": KEY,
    "model": "m",
}


async def test_an_api_shows_its_key_only_masked(client: Client) -> None:
    created = await client.call("api.create", **API)
    assert created["type"] == "api" and created["has_api_key"] is True
    assert created["api_key_masked"] == "sk-1...cdef"
    whole = await client.http.post("/rpc", json=client.request("api.list"))
    assert KEY not in whole.text
    assert [api["api_id"] for api in whole.json()["result"]["apis"]] == ["gpt", "understudy"]


async def test_an_api_keeps_its_key_when_it_is_renamed_and_loses_it_when_it_is_emptied(client: Client) -> None:
    await client.call("api.create", **API)
    assert (await client.call("api.update", api_id="gpt", display_name="New"))["has_api_key"] is True
    emptied = await client.call("api.update", api_id="gpt", api_key="")
    assert emptied["has_api_key"] is False and "api_key_masked" not in emptied


@pytest.mark.parametrize(
    "moved",
    [
        {"base_url": "http://127.0.0.1:10/v1"},
        {"base_url": "http://127.0.0.1:9/v2"},
        {"base_url": "http://localhost:9/v1", "display_name": "New", "model": "n", "provider": "open_ai"},
    ],
)
async def test_a_stored_key_does_not_follow_its_api_to_another_address(client: Client, moved: dict[str, Any]) -> None:
    await client.call("api.create", **API)
    with pytest.raises(RpcFailed, match="api_key") as failed:
        await client.call("api.update", api_id="gpt", **moved)
    assert failed.value.code == -32600
    assert (await client.call("api.get", api_id="gpt"))["base_url"] == API["base_url"]
    again = await client.call("api.update", api_id="gpt", api_key=KEY, **moved)
    assert again["has_api_key"] is True and again["base_url"] == moved["base_url"]


async def test_a_stored_key_does_not_follow_its_api_over_a_provider_without_address(client: Client) -> None:
    await client.call("api.create", **API)
    await client.call("api.update", api_id="gpt", provider="understudy", base_url="", model="")
    with pytest.raises(RpcFailed, match="api_key"):
        await client.call("api.update", api_id="gpt", provider="open_ai", base_url="http://127.0.0.1:10/v1", model="m")


async def test_an_api_without_a_key_may_move(client: Client) -> None:
    await client.call("api.create", **{**API, "api_key": ""})
    moved = await client.call("api.update", api_id="gpt", base_url="http://127.0.0.1:10/v1")
    assert moved["base_url"] == "http://127.0.0.1:10/v1"


@pytest.mark.parametrize("key", ["x", "sk-12345", "sk-123456", "sk-123456789012"])
async def test_of_a_short_key_nothing_is_shown(client: Client, key: str) -> None:
    made = await client.call("api.create", **{**API, "api_key": key})
    assert made["api_key_masked"] == "********"


@pytest.mark.parametrize("loss", ["removed", "changed"])
async def test_with_a_lost_key_file_apis_are_listed_and_their_keys_can_be_entered_again(
    tmp_path: Path, loss: str
) -> None:
    async with live_server(tmp_path) as client:
        await client.call("api.create", **API)
        await client.call("api.create", **{**API, "api_id": "other"})
    file = next(path for path in tmp_path.iterdir() if "key" in path.name)
    if loss == "changed":
        file.write_bytes(base64.urlsafe_b64encode(bytes(range(32))))
    else:
        file.unlink()
    async with live_server(tmp_path) as client:
        listed = {api["api_id"]: api for api in (await client.call("api.list"))["apis"]}
        assert list(listed) == ["gpt", "other", "understudy"]
        assert listed["gpt"]["has_api_key"] is True and "enter the secret again" in listed["gpt"]["api_key_problem"]
        entered = await client.call("api.update", api_id="gpt", api_key=KEY)
        assert entered["api_key_masked"] == "sk-1...cdef" and "api_key_problem" not in entered
        removed = await client.call("api.update", api_id="other", api_key="")
        assert removed["has_api_key"] is False


async def test_an_api_in_use_is_not_deleted_and_its_users_are_named(client: Client) -> None:
    with pytest.raises(RpcFailed) as failed:
        await client.call("api.delete", api_id="understudy")
    assert failed.value.code == 40909
    assert failed.value.data["users"] == [{"kind": "api_group", "id": "builtin"}]


async def test_a_group_needs_apis_that_exist(client: Client) -> None:
    roles = ("planner", "architect", "director", "actor", "narrator", "keeper", "replyer")
    bindings = {f"{role}_api_id": "understudy" for role in roles}
    made = await client.call("api_group.create", api_group_id="mine", display_name="Mine", bindings=bindings)
    assert made["bindings"] == bindings
    bindings["actor_api_id"] = "nobody"
    with pytest.raises(RpcFailed) as failed:
        await client.call("api_group.update", api_group_id="mine", bindings=bindings)
    assert failed.value.code == 40404
    assert (await client.call("config.get_global"))["api_group_id"] == "mine"


async def test_a_schema_refuses_a_default_of_the_wrong_type(client: Client) -> None:
    fields = {"hp": {"value_type": "int", "default": "ten"}}
    with pytest.raises(RpcFailed) as failed:
        await client.call("schema.create", schema_id="s", display_name="S", fields=fields)
    assert failed.value.code == -32600 and "hp" in failed.value.message
    assert (await client.call("schema.list"))["schemas"] == []


async def test_a_schema_comes_back_as_it_was_sent(client: Client) -> None:
    fields = {
        "mood": {"value_type": "string", "default": "calm", "description": "d", "enum_values": ["calm", "angry"]},
        "bag": {"value_type": "array", "default": [], "description": None},
    }
    await client.call("schema.create", schema_id="s", display_name="S", tags=["a"], fields=fields)
    got = await client.call("schema.get", schema_id="s")
    assert got["fields"] == fields and got["tags"] == ["a"] and got["type"] == "schema"
    again = await client.call("schema.update", schema_id="s", fields=got["fields"])
    assert again["fields"] == fields


async def test_lorebook_entries_are_kept_in_the_authors_order(client: Client) -> None:
    await client.call("lorebook.create", lorebook_id="b", display_name="B")
    for name in ("zebra", "ant"):
        await client.call("lorebook_entry.create", lorebook_id="b", entry_id=name, title=name, content="c")
    with pytest.raises(RpcFailed) as twin:
        await client.call("lorebook_entry.create", lorebook_id="b", entry_id="ant", title="x", content="c")
    assert twin.value.code == 40909
    listed = await client.call("lorebook_entry.list", lorebook_id="b")
    assert [entry["entry_id"] for entry in listed["entries"]] == ["zebra", "ant"]
    changed = await client.call("lorebook_entry.update", lorebook_id="b", entry_id="ant", keywords=["k"])
    assert changed["keywords"] == ["k"] and changed["title"] == "ant"
    await client.call("lorebook_entry.delete", lorebook_id="b", entry_id="zebra")
    with pytest.raises(RpcFailed) as gone:
        await client.call("lorebook_entry.get", lorebook_id="b", entry_id="zebra")
    assert gone.value.code == 40404


async def test_a_characters_tags_are_trimmed_and_told_once(client: Client) -> None:
    await gate_story(client)
    content = (await client.call("character.get", character_id="mara"))["content"]
    changed = {**content, "tags": [" brave ", "brave", "", "old"], "folder": "/people/north/"}
    shown = await client.call("character.update", character_id="mara", content=changed)
    assert shown["content"]["tags"] == ["brave", "old"] and shown["content"]["folder"] == "people/north"
    with pytest.raises(RpcFailed) as mismatch:
        await client.call("character.update", character_id="mara", content={**content, "id": "other"})
    assert mismatch.value.code == -32600


async def test_story_resources_show_the_concept_where_they_have_no_name(client: Client) -> None:
    await gate_story(client)
    made = await client.call(
        "story_resources.create", story_concept="A tale.", character_ids=["mara"], planned_story=" "
    )
    assert made["display_name"] == "A tale." and made["planned_story"] is None
    named = await client.call("story_resources.update", resource_id=made["resource_id"], planned_story="Act one.")
    assert named["type"] == "story_resources_updated" and named["planned_story"] == "Act one."
    cleared = await client.call("story_resources.update", resource_id=made["resource_id"], planned_story="")
    assert cleared["planned_story"] is None
    with pytest.raises(RpcFailed) as nobody:
        await client.call("story_resources.create", story_concept="x", character_ids=["ghost"])
    assert nobody.value.code == 40404


async def test_a_bad_graph_is_refused_with_every_problem(client: Client) -> None:
    story_id = await gate_story(client)
    graph = {"start_node": "nowhere", "nodes": [{"id": "a", "title": "", "scene": "", "goal": "", "characters": []}]}
    graph["nodes"].append({**graph["nodes"][0], "transitions": [{"to": "b", "condition": None}]})  # type: ignore[attr-defined,dict-item]
    with pytest.raises(RpcFailed) as failed:
        await client.call("story.update_graph", story_id=story_id, graph=graph)
    assert failed.value.code == -32600 and len(failed.value.data["problems"]) == 3
    assert "graph" not in (await client.call("story.list"))["stories"][0]


LISTS = (
    *("api.list", "api_group.list", "character.list", "lorebook.list", "player_profile.list", "preset.list"),
    *("schema.list", "session.list", "story.list", "story_draft.list", "story_resources.list", "usage.list"),
)


@pytest.mark.parametrize("cursor", ["nobody", "", "7", "schema:", "other:s1", ":s1"])
async def test_a_cursor_that_no_list_gave_is_refused(client: Client, cursor: str) -> None:
    for method in LISTS:
        with pytest.raises(RpcFailed, match="`cursor` names nothing in this list") as refused:
            await client.call(method, cursor=cursor)
        assert refused.value.code == -32600


async def test_a_list_goes_on_where_its_last_item_was_deleted_meanwhile(client: Client) -> None:
    for number in range(4):
        await client.call("schema.create", schema_id=f"s{number}", display_name="S", fields={})
    first = await client.call("schema.list", limit=2)
    await client.call("schema.delete", schema_id="s1")
    rest = await client.call("schema.list", cursor=first["next_cursor"])
    assert [one["schema_id"] for one in rest["schemas"]] == ["s2", "s3"]


async def test_a_refusal_names_ids_as_they_were_given(client: Client) -> None:
    await client.call("schema.create", schema_id="MyWorld", display_name="W", fields={})
    texts = {"personality": "", "style": "", "system_prompt": ""}
    await client.call("character.create", content={"id": "Mara", "name": "M", "schema_id": "MyWorld", **texts})
    with pytest.raises(RpcFailed, match="Schema 'MyWorld' is still used by character 'Mara'"):
        await client.call("schema.delete", schema_id="MyWorld")


async def test_lists_are_read_in_pages(client: Client) -> None:
    for number in range(5):
        await client.call("schema.create", schema_id=f"s{number}", display_name="S", fields={})
    first = await client.call("schema.list", limit=2)
    second = await client.call("schema.list", limit=2, cursor=first["next_cursor"])
    third = await client.call("schema.list", limit=2, cursor=second["next_cursor"])
    found = [one["schema_id"] for page in (first, second, third) for one in page["schemas"]]
    assert found == ["s0", "s1", "s2", "s3", "s4"] and "next_cursor" not in third


async def test_the_dashboard_counts_what_is_there(client: Client) -> None:
    await gate_story(client)
    board = await client.call("dashboard.get")
    assert board["health"] == {"status": "ok"} and board["counts"]["stories_total"] == 1
    assert board["recent_stories"][0]["display_name"] == "The Gate"
    assert board["global_config"]["api_group_id"] == "builtin"


async def test_a_preset_comes_back_whole_and_is_accepted_as_it_was_sent(client: Client) -> None:
    builtin = await client.call("preset.get", preset_id="builtin")
    copy = await client.call("preset.create", preset_id="mine", display_name="Mine", agents=builtin["agents"])
    assert copy["agents"] == builtin["agents"]
    await client.call(
        "preset_entry.create",
        preset_id="mine",
        agent="narrator",
        module_id="task",
        entry_id="rhyme",
        display_name="Rhyme",
        text="Write in rhymes.",
    )
    narrator = (await client.call("preset.get", preset_id="mine"))["agents"]["narrator"]
    task = next(module for module in narrator["modules"] if module["module_id"] == "task")
    assert task["entries"][-1]["text"] == "Write in rhymes."
    summary = next(one for one in (await client.call("preset.list"))["presets"] if one["preset_id"] == "mine")
    assert summary["agents"]["narrator"]["entry_count"] == sum(len(module["entries"]) for module in narrator["modules"])


@pytest.mark.parametrize("how", [{}, {"query": "road"}, {"order": "name"}], ids=["plain", "found", "by name"])
async def test_a_list_of_large_lorebooks_comes_in_parts(
    client: Client, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]
) -> None:
    """Forty of ten thousand entries made the server grow by a gigabyte, and everybody wait."""
    monkeypatch.setattr(repositories, "MOST_LISTED", 50_000)
    for name in ("road a", "road b", "road c"):
        entries = [{"entry_id": "e", "title": "Old", "content": "x" * 20_000}]
        await client.call("lorebook.create", lorebook_id=name[-1], display_name=name, entries=entries)
    with pytest.raises(RpcFailed, match=r"lorebooks have \d+ letters together.*with `limit`"):
        await client.call("lorebook.list", **how)
    seen, cursor = list[str](), None
    while True:
        part = await client.call("lorebook.list", limit=10, **how, **({"cursor": cursor} if cursor else {}))
        assert len(part["lorebooks"]) <= 2
        seen += [book["lorebook_id"] for book in part["lorebooks"]]
        if (cursor := part.get("next_cursor")) is None:
            break
    assert sorted(seen) == ["a", "b", "c"]


async def test_every_method_is_in_the_openrpc_document(client: Client) -> None:
    document = (await client.http.get("/openrpc.json")).json()
    names = {method["name"] for method in document["methods"]}
    assert {"schema.create", "session.run_turn", "rpc.discover", "data_package.import_commit"} <= names
    assert await client.call("rpc.discover") == document
