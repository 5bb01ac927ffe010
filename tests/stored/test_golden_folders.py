"""Data of old versions opens, shows what it showed, and is played on; on both engines."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests import ink_live
from tests.game_client import game, spoken
from tests.live import Client
from tests.stored.golden_folder import Golden, differences, load_postgres_dump, open_postgres, unpack_sqlite
from tests.stored.golden_play import API_KEY, INK, LISTS, OF_EACH, OF_EACH_SESSION, STEADY_LINE

from fabula.actions.memories.recall_memories import recall_memories
from fabula.ports.memories import OwnerAt
from fabula.ports.npcs import NpcKey
from fabula.recall.npc import npc_owner
from fabula.story.state_hash import json_hash
from fabula.testing.postgres import new_database

OLD = "r3"
MOVES: dict[str, str | int] = {
    "ensemble": "What is this place?",
    "swift": "Who stole the seal?",
    "fork": "Where are we going?",
    "changed": "Mara, what is behind the gate?",
    "failed": "I sit down by the gate.",
    "cancelled": "Hello, Mara.",
    "ink-talk": "Give me the key of the cellar, from under the salt.",
    "ink-choices": 2,
    "ink-text": "Ann",
    "ink-free": "I climb up to the loft and read the letters in the cradle.",
    "ink-edited": 0,
}


@pytest.fixture(scope="session")
def golden_template(postgres_server: str) -> Iterator[str]:
    """The name of a database that holds the dump; tests get copies of it."""
    with new_database(postgres_server) as address:
        # In a thread, because the first to ask may be a test that runs in a loop already.
        with ThreadPoolExecutor() as pool:
            pool.submit(asyncio.run, load_postgres_dump(OLD, address)).result()
        yield urlsplit(address).path.strip("/")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.all)])
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Golden]:
    if request.param == "sqlite":
        yield unpack_sqlite(OLD, tmp_path)
        return
    server, template = request.getfixturevalue("postgres_server"), request.getfixturevalue("golden_template")
    with new_database(server, template=template) as address:
        yield open_postgres(OLD, tmp_path, address)


async def play(client: Client, session_id: str, move: str | int) -> list[dict[str, Any]]:
    params = {"choice": move} if isinstance(move, int) else {"player_input": move}
    frames = await ink_live.play(client, session_id, **params)
    assert frames[-1]["type"] == "completed", frames[-1]
    return frames


async def rested(client: Client, session_id: str) -> dict[str, Any]:
    """The session, once no turn of it is in flight."""
    async with asyncio.timeout(120):
        while (session := await client.call("session.get", session_id)).get("active_turn_id"):
            await asyncio.sleep(0.05)
    return session


def texts(session: dict[str, Any]) -> list[str]:
    return [one["text"] for one in session["history"]]


async def test_everything_is_shown_as_it_was(golden: Golden) -> None:
    interrupted = {id for name, id in golden.sessions.items() if name.startswith("interrupted")}
    answers = golden.expected["answers"]
    wrong: list[str] = []
    async with golden.open() as (client, _):
        for method, field in LISTS.items():
            found = await client.call(method)
            for old, new in zip(answers[method][field], found[field], strict=True):
                if old.get("session_id") not in interrupted and old.get("api_id") != "silent":
                    wrong += differences(old, new, method)
        for method, (_, key) in OF_EACH.items():
            for id, old in answers[method].items():
                wrong += differences(old, await client.call(method, **{key: id}), f"{method} {id}")
        for method in OF_EACH_SESSION:
            for id in answers[method].keys() - interrupted:
                wrong += differences(answers[method][id], await client.call(method, id), f"{method} {id}")
        presets = {one["preset_id"] for one in (await client.call("preset.list"))["presets"]}
        assert presets == {one["preset_id"] for one in answers["preset.list"]}
    assert wrong == []


async def test_every_play_goes_on_by_a_turn_and_comes_back_to_where_it_was(golden: Golden) -> None:
    async with golden.open() as (client, _):
        for name, move in MOVES.items():
            session = golden.sessions[name]
            before = golden.answer("session.get", session)
            await client.call("session.update_config", session, api_group_id="a-understudy")
            await play(client, session, move)
            after = await client.call("session.get", session)
            assert after["turn_index"] == before["turn_index"] + 1, name
            assert texts(after)[: len(texts(before))] == texts(before) and len(texts(after)) > len(texts(before)), name
            back = await client.call("session.backtrack", session)
            assert differences(before["history"], back["history"]) == [], name
            assert (back["state_hash"], back["snapshot"]) == (before["state_hash"], before["snapshot"]), name


async def test_every_state_still_has_the_hash_it_was_stored_with(golden: Golden) -> None:
    async with golden.open() as (client, _):
        tree = await client.call("session.branches", golden.sessions["changed"])
        ink = await client.call("session.branches", golden.sessions["ink-talk"])
        for turn in [*tree["turns"], *ink["turns"]]:
            async with client.house.store.reading() as unit:
                state = await unit.plays.state(turn["turn_id"])
            assert state is not None and json_hash(state) == turn["state_hash"]


async def test_plays_that_ended_can_be_taken_back_and_played_to_another_end(golden: Golden) -> None:
    async with golden.open() as (client, _):
        for name in ("ended", "ink-ended"):
            session = golden.sessions[name]
            assert (await client.call("session.get", session))["status"] == "ended"
            assert (await client.call("session.backtrack", session))["status"] == "open"
            await play(client, session, "I call out, and wait for an answer.")


async def test_turns_that_a_dead_server_left_behind_are_finished(golden: Golden) -> None:
    async with golden.open() as (client, models):
        for name in ("interrupted-ensemble", "interrupted-swift", "interrupted-talk"):
            id = golden.sessions[name]
            before = golden.answer("session.get", id)
            after = await rested(client, id)
            assert after["head_turn_id"] == before["active_turn_id"], name
            assert texts(after)[: len(texts(before))] == texts(before)
            assert any("You speak of" in text for text in texts(after)), name
        assert {one.headers["Authorization"] for one in models.requests} == {f"Bearer {API_KEY}"}


async def test_the_words_of_turns_that_came_to_nothing_are_tried_again(golden: Golden) -> None:
    async with golden.open() as (client, _):
        for name, words in {"failed": "I knock three times.", "cancelled": "I wait."}.items():
            session = golden.sessions[name]
            await client.call("session.update_config", session, api_group_id="a-understudy")
            frames = await client.turn(session, "", method="session.retry_turn")
            assert frames[-1]["type"] == "completed"
            assert words in texts(await client.call("session.get", session))


async def test_drafts_are_built_on_and_finished(golden: Golden) -> None:
    drafts = golden.expected["names"]["drafts"]
    async with golden.open() as (client, _):
        same = await client.call("story_draft.finalize", draft_id=drafts["finalized"])
        assert same["story_id"] == drafts["story_id"]
        assert (await client.call("story_draft.finalize", draft_id=drafts["ready"]))["graph"]["nodes"]
        group = await client.call("api_group.get", api_group_id="a-understudy")
        for name in ("silent-soon", "silent-architect"):
            await client.call("api_group.update", api_group_id=name, bindings=group["bindings"])
        for name in ("half", "continued"):
            before = golden.answer("story_draft.get", drafts[name])
            after = await client.call("story_draft.continue", draft_id=drafts[name])
            assert after["next_section_index"] == before["next_section_index"] + 1
            old, new = (draft["partial_graph"]["nodes"] for draft in (before, after))
            assert [node["scene"] for node in new][: len(old)] == [node["scene"] for node in old]
        given = {"resource_id": drafts["opening_resource_id"], "preset_id": "ensemble"}
        begun = await client.call("story_draft.start", **given, api_group_id="silent-architect")
        assert begun["status"] == "building"


async def test_an_npc_remembers_and_its_turns_can_still_be_confirmed(golden: Golden) -> None:
    npc = golden.expected["names"]["npc"]
    async with golden.open() as (client, _), game(str(client.http.base_url).rstrip("/")) as mine:
        for left in (npc["open"], npc["unconfirmed"]):
            await mine.send("hello", protocol=1, client=npc["game"], resume=left["connection_id"])
            welcome = await mine.next("welcome")
            assert [one["turn_id"] for one in welcome["resume"]["unconfirmed"]] == [left["turn_id"]]
            played = {"agent_id": npc["agent_id"], "turn_id": left["turn_id"], "status": "completed"}
            tags = [{"tag": "say", "text": "Nobody rings it.", "status": "played"}]
            await mine.send("agent_turn_result", **played, tags=tags)
            await mine.settled()
        assert not [frame for frame in mine.seen if frame["type"] == "error"]
        frames = await mine.turn("Do you remember what I told you?", npc["agent_id"])
        assert "silver whistle" in spoken(frames)


async def test_what_npcs_lived_through_is_a_memory_and_comes_to_mind(golden: Golden) -> None:
    npc = golden.expected["names"]["npc"]
    orla = NpcKey(game_id=npc["game"], agent_id=npc["agent_id"])
    async with golden.open() as (client, _):
        owner = OwnerAt(owner=npc_owner(orla))
        found = await recall_memories(client.house, owner, "Who has the whistle?")
        assert "silver whistle" in found[0].memory.text and found[0].memory.speaker


async def test_archives_that_waited_are_fetched_and_imported(golden: Golden) -> None:
    files = golden.expected["names"]["files"]
    async with golden.open() as (client, _):
        archive = await client.http.get(f"/download/package_export:{files['export_id']}/archive")
        assert archive.status_code == 200 and archive.content.startswith(b"PK")
        await client.call("data_package.import_commit", import_id=files["import_id"])
        assert (await client.call("schema.get", schema_id=files["imports"]))["fields"]["gate_open"]
        portrait = await client.http.get("/download/character:mara/cover")
        assert portrait.headers["content-type"] == "image/png"


async def test_tokens_still_open_the_door_and_revoked_ones_do_not(golden: Golden) -> None:
    async with golden.open(require_tokens=True) as (client, _):
        for token in golden.expected["tokens"]:
            client.http.headers["Authorization"] = f"Bearer {token['token']}"
            response = await client.http.post("/rpc", json=client.request("story.list"))
            revoked = token is golden.expected["tokens"][-1]
            assert response.status_code == (401 if revoked else 200), token["label"]


async def test_what_a_model_once_answered_is_not_asked_again(golden: Golden) -> None:
    async with golden.open() as (client, _):
        story = await client.call("story.create_ink", display_name="The Mill again", source=INK)
        settings = {"story_id": story["story_id"], "api_group_id": "steady", "preset_id": "ensemble"}
        session = (await client.raw("story.start_session", **settings))["session_id"]
        # The model behind this group is gone: only the memo can know its line.
        await play(client, session, "Ann")
        assert STEADY_LINE in texts(await client.call("session.get", session))
