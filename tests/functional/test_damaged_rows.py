"""Damaged rows of a whole database: who asks for one is told which it is, and nobody else is refused for it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.live import Client, gate_story, live_server
from tests.mass import crossed
from tests.story_script import sea_resource

from fabula.actions.followers.memories import remember_line
from fabula.cli.check_up import check_up

BOOK: dict[str, Any] = {"display_name": "Gates", "entries": []}


def damage(folder: Path, statement: str) -> None:
    """Changes a database as a hand or a bad disk would."""
    with closing(sqlite3.connect(folder / "fabula.db")) as database:
        assert database.execute(statement).rowcount > 0
        database.commit()


async def play(client: Client) -> str:
    story = await gate_story(client)
    session: str = (await client.raw("story.start_session", story_id=story))["session_id"]
    return session


@crossed("kind, doc", ["api", "api_group", "preset"], ["zz", "{}", "[]", '{"v": 0}'])
async def test_what_is_built_in_and_cannot_be_read_is_written_anew_at_the_start(
    tmp_path: Path, kind: str, doc: str
) -> None:
    async with live_server(tmp_path):
        pass
    damage(tmp_path, f"UPDATE resources SET doc = '{doc}' WHERE kind = '{kind}' AND built_in")
    async with live_server(tmp_path) as client:
        session = await play(client)
        assert (await client.turn(session, "Hello."))[-1]["type"] == "completed"


async def test_what_a_newer_version_built_in_is_left_alone(tmp_path: Path) -> None:
    async with live_server(tmp_path):
        pass
    damage(tmp_path, """UPDATE resources SET doc = '{"v": 99}' WHERE kind = 'preset'""")
    async with live_server(tmp_path) as client:
        refused = await client.raw("preset.get", preset_id="builtin")
        assert "newer version" in refused["error"]["message"], refused


@pytest.mark.parametrize(
    ("kind", "field", "damaged"),
    [
        ("api", "base_url", "[1]"),
        ("api_group", "bindings", '"none"'),
        ("preset", "agents.actor.temperature", '"warm"'),
    ],
)
async def test_what_is_built_in_and_was_edited_is_not_overwritten_for_a_field_that_does_not_fit(
    tmp_path: Path, kind: str, field: str, damaged: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with live_server(tmp_path):
        pass
    edited = f"json_set(doc, '$.display_name', 'My own', '$.{field}', json('{damaged}'))"
    damage(tmp_path, f"UPDATE resources SET doc = {edited}, revision = 2 WHERE kind = '{kind}' AND built_in")
    async with live_server(tmp_path) as client:
        assert "error" not in await client.raw("dashboard.get")
        assert "error" in await client.raw(
            f"{kind}.get", **{f"{kind}_id": "understudy" if kind == "api" else "builtin"}
        )
    assert any("built in, but was edited" in line for line in caplog.messages)
    with closing(sqlite3.connect(tmp_path / "fabula.db")) as database:
        (doc,) = database.execute(f"SELECT doc FROM resources WHERE kind = '{kind}' AND built_in").fetchone()
    assert "My own" in doc


@pytest.mark.parametrize("doc", ["zz", "{}"])
async def test_a_list_passes_over_what_cannot_be_read_and_only_that_is_refused(
    tmp_path: Path, doc: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with live_server(tmp_path) as client:
        for id in ("bad", "good"):
            await client.call("lorebook.create", lorebook_id=id, **BOOK)
    damage(tmp_path, f"UPDATE resources SET doc = '{doc}' WHERE kind = 'lorebook' AND id = 'bad'")
    async with live_server(tmp_path) as client:
        for listing in ({}, {"order": "name"}, {"query": "gates"}):
            books = (await client.call("lorebook.list", **listing))["lorebooks"]
            assert [book["lorebook_id"] for book in books] == ["good"]
        refused = await client.raw("lorebook.get", lorebook_id="bad")
        assert "lorebook 'bad'" in refused["error"]["message"], refused
        told = [line for line in caplog.messages if "lorebook 'bad'" in line]
        assert 1 <= len(told) <= 2, "a line a minute, however often it is listed"
        (finding,) = [one for one in await check_up(client.house.settings) if one.part == "resources"]
        assert finding.state == "broken" and "lorebook 'bad'" in finding.sentence
        assert "error" not in await client.raw("lorebook.delete", lorebook_id="bad")


@pytest.mark.parametrize("doc", ["zz", "{}"])
@pytest.mark.parametrize(
    ("kind", "methods"),
    [
        ("story", ["dashboard.get", "story.list", "session.list"]),
        ("session", ["dashboard.get", "session.list"]),
        ("character", ["dashboard.get", "character.list", "session.get"]),
    ],
)
async def test_one_damaged_thing_takes_nothing_away_from_others(
    tmp_path: Path, kind: str, methods: list[str], doc: str
) -> None:
    async with live_server(tmp_path) as client:
        session = await play(client)
        ids = {
            "character": "mara",
            "session": session,
            "story": (await client.call("session.get", session))["story_id"],
        }
    damage(tmp_path, f"UPDATE resources SET doc = '{doc}' WHERE kind = '{kind}'")
    async with live_server(tmp_path) as client:
        for method in methods:
            answer = await client.raw(method, session if method == "session.get" else None)
            assert "error" not in answer, answer
        named = {} if kind == "session" else {f"{kind}_id": ids[kind]}
        refused = await client.raw(f"{kind}.get", session if kind == "session" else None, **named)
        assert f"{kind} '{ids[kind]}'" in refused["error"]["message"], refused


NOT_UTF8 = "CAST(x'41ff41' AS TEXT)"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("plays.status", NOT_UTF8),
        ("plays.turn_index", "'zz'"),
        ("plays.turn_index", "1e999"),
        ("plays.head_turn_id", "x'ff00'"),
        ("turn_states.state", "'zz'"),
        ("turn_states.state", NOT_UTF8),
        ("resources.display_name", NOT_UTF8),
        ("resources.updated_at_ms", "'soon'"),
        ("search_entries.name", "x'ff00'"),
    ],
)
async def test_a_value_that_no_column_can_hold_takes_no_list_away(
    tmp_path: Path, column: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with live_server(tmp_path) as client:
        bad = await play(client)
        story = (await client.call("session.get", bad))["story_id"]
        good = (await client.raw("story.start_session", story_id=story))["session_id"]
    table, name = column.split(".")
    key = {
        "resources": "id",
        "search_entries": "id",
        "turn_states": "(SELECT session_id FROM plays WHERE head_turn_id=turn_id)",
    }
    name, value = ("doc", "CAST(doc || x'ff' AS TEXT)") if name == "display_name" else (name, value)
    damage(tmp_path, f"UPDATE {table} SET {name} = {value} WHERE {key.get(table, 'session_id')} = '{bad}'")
    async with live_server(tmp_path) as client:
        for listing in ({}, {"order": "name"}, {"query": "gate"}):
            answer = await client.raw("session.list", **listing)
            assert "error" not in answer, answer
            assert good in [one["session_id"] for one in answer["result"]["sessions"]], answer
        assert "error" not in await client.raw("dashboard.get")
        assert (await client.turn(good, "I wait."))[-1]["type"] == "completed"
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("value", ["valence = 1e999", "doc = 'zz'", "doc = '{}'", "kind = 'zz'"])
async def test_a_list_of_memories_passes_over_those_that_cannot_be_read_and_goes_on_behind_them(
    tmp_path: Path, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with live_server(tmp_path) as client:
        session = await play(client)
        for number in range(8):
            await client.call("memory.add", session, text=f"Mara likes the number {number}.")
    damage(tmp_path, f"UPDATE memories SET {value} WHERE place IN (2, 3, 4)")
    async with live_server(tmp_path) as client:
        told: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            part = await client.call("memory.list", session, limit=2, **cursor)
            told += [one["text"] for one in part["memories"]]
            if (next_cursor := part.get("next_cursor")) is None:
                break
            cursor = {"cursor": next_cursor}
        assert len(told) == len(set(told)) == 5
        assert "error" not in await client.raw("memory.search", session, query="number")
    assert any("cannot" in line or "damaged" in line for line in caplog.messages)
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("value", ["doc = 'zz'", "doc = '{}'", "status = 'zz'", "verdict = '[]'"])
async def test_a_damaged_change_of_canon_takes_nothing_but_itself_away(
    tmp_path: Path, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with live_server(tmp_path) as client:
        await client.call("world.create", world_id="salt", display_name="Saltmere")
        building = (await client.call("building.open", world_id="salt"))["building_id"]
        for town in ("Bren", "Oda", "Tarn", "Ulm", "Vey"):
            await client.call("building.say", building_id=building, text=f"{town} is a town.")
        await client.call("building.close", building_id=building)
        every = [one["change_id"] for one in (await client.call("canon.list", world_id="salt"))["changes"]]
    damage(tmp_path, f"UPDATE canon_changes SET {value} WHERE change_id = '{every[1]}'")
    async with live_server(tmp_path) as client:
        told: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            part = await client.call("canon.list", world_id="salt", limit=2, **cursor)
            told += [one["change_id"] for one in part["changes"]]
            if (next_cursor := part.get("next_cursor")) is None:
                break
            cursor = {"cursor": next_cursor}
        assert told == [one for one in every if one != every[1]]
        for method in ("canon.since", "canon.review", "entity.list", "timeline.list", "world.export", "fact.list"):
            assert "error" not in (said := await client.raw(method, world_id="salt")), said
        refused = await client.raw("canon.get", change_id=every[1])
        assert every[1] in refused["error"]["message"], refused
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_relationship_of_endless_strength_takes_no_picture_of_a_world_away(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        await client.call("world.create", world_id="salt", display_name="Saltmere")
        building = (await client.call("building.open", world_id="salt"))["building_id"]
        text = "Bren is a town. Oda is a smith. Tarn is a smith. Oda hates Tarn. Oda lives in Bren."
        await client.call("building.say", building_id=building, text=text)
        await client.call("building.close", building_id=building)
    damage(tmp_path, "UPDATE canon_changes SET strength = 1e999 WHERE kind IN ('fact', 'relationship')")
    async with live_server(tmp_path) as client:
        assert "error" not in (said := await client.raw("canon.graph", world_id="salt")), said


async def test_a_token_without_a_role_lets_nobody_in_and_hides_no_other(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        bad = await client.call("token.create", role="player")
        good = await client.call("token.create", role="admin")
    damage(tmp_path, f"UPDATE tokens SET role = 'root' WHERE token_id = '{bad['token_id']}'")
    async with live_server(tmp_path, require_tokens=True) as client:
        client.http.headers["Authorization"] = f"Bearer {bad['token']}"
        refused = await client.http.post("/rpc", json=client.request("access.whoami"))
        assert refused.status_code == 401
        client.http.headers["Authorization"] = f"Bearer {good['token']}"
        assert [one["token_id"] for one in (await client.call("token.list"))["tokens"]] == [good["token_id"]]


async def test_a_token_whose_moment_of_being_revoked_is_damaged_stays_revoked(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        token = (await client.call("token.create", role="player"))["token_id"]
    damage(tmp_path, "UPDATE tokens SET revoked_at_ms = 'zz'")
    async with live_server(tmp_path) as client:
        (listed,) = (await client.call("token.list"))["tokens"]
        assert listed["token_id"] == token and listed["revoked_at_ms"] is not None


async def test_a_preset_that_cannot_be_read_is_not_chosen_for_anybody(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        agents = (await client.call("preset.get", preset_id="builtin"))["agents"]
        await client.call("preset.create", preset_id="mine", display_name="Mine", agents=agents)
    damage(tmp_path, "UPDATE resources SET doc = 'zz' WHERE id = 'mine'")
    async with live_server(tmp_path) as client:
        session = await play(client)
        assert (await client.call("session.get", session))["config"]["preset_id"] == "builtin"


@pytest.mark.parametrize("status", ["waiting", "failed"])
@pytest.mark.parametrize("method", ["story_draft.start", "story.generate"])
async def test_a_draft_whose_work_cannot_be_read_is_begun_anew(tmp_path: Path, method: str, status: str) -> None:
    async with live_server(tmp_path) as client:
        resource = await sea_resource(client)
        first = await client.call(method, resource_id=resource)
    damage(tmp_path, f"UPDATE work SET input = 'zz', status = '{status}' WHERE subject LIKE 'draft_command:%'")
    async with live_server(tmp_path) as client:
        again = await client.call(method, resource_id=resource)
        drafts = {draft["draft_id"] for draft in (await client.call("story_draft.list"))["drafts"]}
        assert again["type"] == first["type"] and "None" not in drafts


async def test_a_building_goes_on_without_the_turns_that_cannot_be_read(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        await client.call("world.create", world_id="salt", display_name="Saltmere")
        building = (await client.call("building.open", world_id="salt"))["building_id"]
        await client.call("building.say", building_id=building, text="There is a town called Saltmere.")
    opening = "SELECT min(work_id) FROM work WHERE kind = 'building'"
    damage(tmp_path, f"UPDATE work SET input = 'zz' WHERE work_id = ({opening})")
    async with live_server(tmp_path) as client:
        await client.call("building.say", building_id=building, text="Nobody can breathe under water.")
        assert len((await client.call("building.close", building_id=building))["added"]) == 2
    damage(tmp_path, "UPDATE work SET input = 'zz' WHERE kind = 'building'")
    async with live_server(tmp_path) as client:
        for method, words in (("building.say", {"text": "Hello."}), ("building.close", {})):
            refused = await client.raw(method, building_id=building, **words)
            assert "(building) cannot be done" in refused["error"]["message"], refused


TOO_LARGE = 2**63 - 1


@pytest.mark.parametrize(
    ("statement", "method", "words"),
    [
        ("UPDATE blobs SET data = x'00'", "session.get", {}),
        ("UPDATE blobs SET data = x'00'", "session.run_turn", {"player_input": "Hello."}),
        ("UPDATE messages SET kind = 'zzz'", "session.recap", {}),
        ("UPDATE messages SET kind = 'zzz'", "session.run_turn", {"player_input": "Hello."}),
        (
            f"UPDATE turns SET turn_index = {TOO_LARGE}, depth = {TOO_LARGE}",
            "session.export_prepare",
            {"format": "html"},
        ),
    ],
)
async def test_damaged_values_are_told_in_a_sentence_and_leave_no_traceback(
    tmp_path: Path, statement: str, method: str, words: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with live_server(tmp_path) as client:
        session = await play(client)
        await client.turn(session, "I wait for Mara.")
        await remember_line(client.house, (await client.call("session.get", session))["head_turn_id"])
    damage(tmp_path, statement)
    async with live_server(tmp_path) as client:
        said = (await client.http.post("/rpc", json=client.request(method, session, **words))).text
        assert "damaged" in said and "estore a backup" in said, said
    assert not [record for record in caplog.records if record.exc_info]
