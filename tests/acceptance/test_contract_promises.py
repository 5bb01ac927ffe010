"""What clients rely on beyond the shapes: each promise of the contract that no other test holds."""

from __future__ import annotations

import io
import logging
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.live import GATE_GRAPH, Client, RpcFailed, gate_session, gate_story, live_server
from tests.scripted import bind_troupe

from fabula.testing.model_script import Fail
from fabula.testing.model_server import ModelServer
from fabula.testing.troupe import Troupe


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path / "data", model_attempts=1) as client:
        yield client


async def in_parts(client: Client, method: str, field: str, session_id: str | None, **params: Any) -> list[Any]:
    """A list read two items at a time."""
    found: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        part = await client.call(method, session_id, **params, limit=2, **cursor)
        found += part[field]
        if "next_cursor" not in part:
            return found
        assert len(part[field]) == 2
        cursor = {"cursor": part["next_cursor"]}


async def test_lists_inside_something_else_are_read_in_parts_too(client: Client) -> None:
    session_id = await gate_session(client)
    await client.call("lorebook.create", lorebook_id="lore", display_name="L")
    card = {"personality": "", "style": "", "system_prompt": ""}
    line = {"kind": "action", "speaker_id": "x", "speaker_name": "X"}
    for name in ("c", "a", "e", "b", "d"):
        await client.call("lorebook_entry.create", lorebook_id="lore", entry_id=name, title=name, content=name)
        await client.call("session_character.create", session_id, display_name=name, **card)
        await client.call("session_message.create", session_id, **line, text=name)
    for method, field, session, params in (
        ("lorebook_entry.list", "entries", None, {"lorebook_id": "lore"}),
        ("session_character.list", "session_characters", session_id, {}),
        ("session_message.list", "messages", session_id, {}),
    ):
        whole = await client.call(method, session, **params)
        assert len(whole[field]) == 5 and "next_cursor" not in whole
        assert await in_parts(client, method, field, session, **params) == whole[field]
        with pytest.raises(RpcFailed) as lost:
            await client.call(method, session, **params, cursor="nobody")
        assert lost.value.code == -32600


async def test_lore_entries_are_accepted_as_they_were_shown(client: Client) -> None:
    entry = {"entry_id": "gate", "title": "Gate", "content": "Iron.", "match": "substring", "order": 3, "budget": 9}
    await client.call("lorebook.create", lorebook_id="lore", display_name="L", entries=[entry])
    [shown] = (await client.call("lorebook_entry.list", lorebook_id="lore"))["entries"]
    assert await client.call("lorebook_entry.update", **shown) == shown
    copied = await client.call("lorebook.create", lorebook_id="copy", display_name="C", entries=[shown])
    assert copied["entries"] == (await client.call("lorebook.get", lorebook_id="lore"))["entries"]
    await client.call("lorebook.create", lorebook_id="third", display_name="T")
    assert (await client.call("lorebook_entry.create", **{**shown, "lorebook_id": "third"}))["order"] == 3


async def test_a_graph_is_accepted_with_everything_that_may_be_missing_left_out(client: Client) -> None:
    story_id = await gate_story(client)
    one = {"id": "a", "title": "A", "scene": "S", "goal": "G", "characters": [], "transitions": [{"to": "b"}]}
    other = {**one, "id": "b", "transitions": []}
    shown = await client.call("story.update_graph", story_id=story_id, graph={"start_node": "a", "nodes": [one, other]})
    assert shown["graph"]["nodes"][0]["transitions"][0]["condition"] is None
    again = await client.call("story.update_graph", story_id=story_id, graph=shown["graph"])
    assert again["graph"] == shown["graph"]


async def test_authors_may_combine_conditions(client: Client) -> None:
    session_id = await gate_session(client)
    story_id = (await client.call("session.get", session_id))["story_id"]
    shut = {"key": "gate_open", "op": "eq", "value": True}
    missing = {"key": "nothing", "op": "ne", "value": 1}
    condition = {"all": [{"not": shut}, {"any": [missing, {"key": "gate_open", "op": "eq", "value": False}]}]}
    node = {**GATE_GRAPH["nodes"][0], "transitions": [{"to": "garden", "condition": condition, "priority": 2}]}
    graph = {"start_node": "gate", "nodes": [node, GATE_GRAPH["nodes"][1]]}
    shown = await client.call("story.update_graph", story_id=story_id, graph=graph)
    assert shown["graph"]["nodes"][0]["transitions"][0]["priority"] == 2
    await client.call("session.follow_story", session_id)
    await client.turn(session_id, "I wait.")
    assert (await client.call("session.get", session_id))["snapshot"]["world_state"]["current_node"] == "garden"


async def test_a_character_is_told_with_live_values_and_unknown_names_stay(client: Client) -> None:
    session_id = await gate_session(client)
    mara = (await client.call("character.get", character_id="mara"))["content"]
    mara["system_prompt"] = "{{char}} and {{user}}: trust {{trust}}, {{nothing}}."
    await client.call("character.update", character_id="mara", content=mara)
    ops = [{"type": "SetCharacterState", "character": "mara", "key": "trust", "value": 4}]
    await client.call("session.update_variables", session_id, update={"ops": ops})
    params = {"preset_id": "builtin", "agent": "actor", "character_id": "mara"}
    preview = await client.call("preset_preview.runtime", session_id, **params)
    assert "Mara and User: trust 4, {{nothing}}." in str(preview["messages"])


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"provider": "understudy"}, None),
        ({"provider": "understudy", "api_key": "k"}, -32600),
        ({"provider": "local", "model": ""}, -32600),
        ({"provider": "open_ai", "base_url": "ftp://127.0.0.1"}, -32600),
        ({"provider": "open_ai", "base_url": "http://127.0.0.1:9/v1", "api_key": "env:SOME_NAME"}, None),
    ],
)
async def test_every_provider_asks_for_what_it_needs(client: Client, changes: dict[str, Any], code: int | None) -> None:
    api = {"api_id": "mine", "display_name": "M", "base_url": "", "api_key": "", "model": "m", **changes}
    answer = await client.raw("api.create", **api)
    assert answer.get("error", {}).get("code") == code


async def test_what_the_user_made_is_taken_before_what_is_built_in(client: Client) -> None:
    story_id = await gate_story(client)
    builtin = await client.call("api_group.get", api_group_id="builtin")
    for name in ("zeta", "yak"):
        await client.call("api_group.create", api_group_id=name, display_name=name, bindings=builtin["bindings"])
    started = await client.raw("story.start_session", story_id=story_id)
    assert started["result"]["config"] == {"api_group_id": "yak", "preset_id": "builtin"}
    assert (await client.call("config.get_global"))["api_group_id"] == "yak"


KEY = "sk-QzXw71distinctive88Yt"


async def spoken_of(client: Client, model: ModelServer, troupe: Troupe) -> list[bytes]:
    """Everything that the server says about an api with this key, in good days and bad."""
    said: list[bytes] = []

    async def hear(method: str, session_id: str | None = None, /, **params: Any) -> None:
        response = await client.http.post("/rpc", json=client.request(method, session_id, **params))
        said.append(response.content)

    await bind_troupe(client, model.base_url)
    await hear("api.update", api_id="troupe", api_key=KEY)
    session_id = await gate_session(client)
    await hear("session.update_config", session_id, api_group_id="troupe", preset_id="ensemble")
    await hear("session.run_turn", session_id, player_input="Hello.")
    troupe.misbehave("keeper", Fail(status=401, message=f"Incorrect API key provided: {KEY}"))
    await hear("session.run_turn", session_id, player_input="Hello again.")
    troupe.misbehave("replyer", Fail(status=400, message=f"bad key {KEY}"))
    await hear("session.suggest_replies", session_id)
    await hear("api.list_models", provider="open_ai", base_url="http://127.0.0.1:9/v1", api_key=KEY)
    await hear("api.create", api_id="", display_name="x", provider="open_ai", base_url="b", api_key=KEY, model="m")
    await hear("api.create", api_id="x", provider=1, api_key=[KEY], nonsense=KEY)
    await hear("api.update", api_id="troupe", base_url="gopher://x", api_key=KEY)
    for method in ("api.list", "api_group.list", "dashboard.get", "rpc.discover", "usage.list", "preset.list"):
        await hear(method)
    await hear("session.get", session_id)
    story_id = (await client.call("session.get", session_id))["story_id"]
    out = await client.call("data_package.export_prepare", story_ids=[story_id], preset_ids=["ensemble"])
    archive = (await client.http.get(f"/download/{out['archive']['resource_id']}/archive")).content
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        said += [archive, *(opened.read(name) for name in opened.namelist())]
    assert f"Bearer {KEY}" in model.requests[0].headers.values()
    return said


async def test_no_byte_of_a_key_is_shown_logged_exported_or_kept_in_the_open(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, troupe = tmp_path / "data", Troupe()
    with caplog.at_level(logging.DEBUG):
        async with ModelServer(troupe) as model, live_server(folder, model_attempts=1) as client:
            said = await spoken_of(client, model, troupe)
            await client.house.store.backup(tmp_path / "all.backup")
    kept = [file.read_bytes() for file in (*folder.rglob("*"), tmp_path / "all.backup") if file.is_file()]
    secret = KEY[4:-4].encode()
    assert len(kept) > 1 and not [data[:300] for data in (*said, *kept) if secret in data]
    assert KEY[4:-4] not in caplog.text
