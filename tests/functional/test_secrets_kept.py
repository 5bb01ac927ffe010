"""Who may know this, over the wire: authors say it with the methods, packages keep it, and no secret is told."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.live import Client, RpcFailed, bodies, gate_story, live_server
from tests.scripted import PACES, theatre

from fabula.actions.library.samples import install_samples

UNTIL = {"until": {"scope": "global", "key": "gate_open", "op": "eq", "value": True}, "then": ["mara"]}
UNVISITED = "A woman and two children sit very still in the candlelight, as people sit who have practised."
SECRET = "It was cut, from a boat, by somebody who had time."
OWN_SECRET = "Tobias heard no bell from the reef on the night of the wreck, and told nobody."


async def test_a_lore_entry_says_who_knows_it_and_says_nothing_when_everyone_does(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        entry = {"entry_id": "e", "title": "The key", "content": "It is under the stone.", "keywords": ["key"]}
        await client.call("lorebook.create", lorebook_id="b", display_name="B", entries=[{**entry, "secret": True}])
        kept = await client.call("lorebook_entry.get", lorebook_id="b", entry_id="e")
        assert kept["secret"] is True and "known_by" not in kept
        changed = await client.call("lorebook_entry.update", lorebook_id="b", entry_id="e", known_by=UNTIL)
        assert changed["known_by"] == UNTIL and changed["secret"] is True
        opened = await client.call(
            "lorebook_entry.update", lorebook_id="b", entry_id="e", known_by="everyone", secret=False
        )
        assert not {"known_by", "secret"} & opened.keys()
        nameless = {"until": {"scope": "character", "key": "trust", "op": "gte", "value": 1}}
        with pytest.raises(RpcFailed, match="names none"):
            await client.call("lorebook_entry.update", lorebook_id="b", entry_id="e", known_by=nameless)


async def test_facts_and_notes_travel_with_their_names_in_packages_and_archives(tmp_path: Path) -> None:
    async with live_server(tmp_path / "one") as client:
        story_id = await gate_story(client)
        content = (await client.call("character.get", character_id="mara"))["content"]
        facts = [{"text": "Mara has the key.", "known_by": UNTIL, "secret": True}, {"text": "Mara is tall."}]
        mind = {
            "mask": {"presented": ["calm"], "hidden": ["afraid"]},
            "traumas": [{"text": "Fire.", "triggers": ["fire"]}],
        }
        new = {**content, "facts": facts, **mind}
        shown = await client.call("character.update", character_id="mara", content=new)
        assert shown["content"]["facts"] == facts and not {"facts", "mask", "traumas"} & content.keys()
        graph = (await client.call("story.get", story_id=story_id))["graph"]
        graph["nodes"][0]["notes"] = [{"text": "The hinges are new.", "known_by": ["mara"]}]
        told = await client.call("story.update_graph", story_id=story_id, graph=graph)
        assert told["graph"]["nodes"][0]["notes"] == graph["nodes"][0]["notes"]
        package = await exported(client, story_id)
        renamed = await imported(client, package, on_conflict="rename")
        copy = await client.call("character.get", character_id=renamed["characters"]["ids"][0])
        assert copy["content"]["facts"][0]["known_by"]["then"] == ["mara-2"]
        assert (copy["content"]["mask"], copy["content"]["traumas"]) == (mind["mask"], mind["traumas"])
        story = await client.call("story.get", story_id=renamed["stories"]["ids"][0])
        assert story["graph"]["nodes"][0]["notes"][0]["known_by"] == ["mara-2"]
        await client.http.post("/upload/character:mara/cover", content=picture())
        archive = (await client.http.get("/download/character:mara/archive")).content
    assert json.loads(zipfile.ZipFile(io.BytesIO(archive)).read("content.json"))["facts"] == facts
    async with live_server(tmp_path / "two") as other:
        await other.call("schema.create", schema_id="gate-keeper", display_name="Keeper", fields={})
        taken = await other.http.post("/upload/character:mara/archive", content=archive)
        assert taken.status_code == 200, taken.text
        taken_in = (await other.call("character.get", character_id="mara"))["content"]
        assert taken_in["facts"] == facts and taken_in | mind == taken_in


async def exported(client: Client, story_id: str) -> bytes:
    export = (await client.call("data_package.export_prepare", story_ids=[story_id]))["archive"]
    return (await client.http.get(f"/download/{export['resource_id']}/{export['file_id']}")).content


async def imported(client: Client, package: bytes, **params: Any) -> dict[str, Any]:
    contents: dict[str, Any] = (await imported_answer(client, package, **params))["contents"]
    return contents


async def imported_answer(client: Client, package: bytes, **params: Any) -> dict[str, Any]:
    prepared = await client.call("data_package.import_prepare")
    place = prepared["archive"]
    await client.http.post(f"/upload/{place['resource_id']}/{place['file_id']}", content=package)
    return await client.call("data_package.import_commit", import_id=prepared["import_id"], **params)


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 6), (120, 40, 200)).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize("pace", PACES)
async def test_a_model_that_recites_secrets_is_not_heard(tmp_path: Path, pace: str) -> None:
    async with theatre(tmp_path) as stage:
        await install_samples(stage.client.house)
        started = await stage.client.raw(
            "story.start_session", story_id="lighthouse-the-unlit-hour", api_group_id="troupe", preset_id=pace
        )
        told = f"The rain goes on. {UNVISITED} {SECRET} A gull cries."
        said = f"<thought>{OWN_SECRET}</thought><dialogue>Good morning. {SECRET} {OWN_SECRET}</dialogue>"
        spoken = said.replace("<thought>", '<thought who="lighthouse-tobias">').replace(
            "<dialogue>", '<dialogue who="lighthouse-tobias">'
        )
        stage.troupe.misbehave("narrator", *[told] * 3)
        stage.troupe.misbehave("actor", *[said] * 3)
        stage.troupe.misbehave("swift", f"<narration>{told}</narration>{spoken}<update>{{}}</update>")
        stream = bodies(await stage.client.turn(started["session_id"], "Good morning."))
        everything = json.dumps([stream, await stage.client.call("session.get", started["session_id"])])
        assert "A gull cries." in everything
        for kept in ("children sit very still", "from a boat, by somebody", "heard no bell"):
            assert kept not in everything


async def test_a_suggestion_that_gives_something_away_is_not_made(tmp_path: Path) -> None:
    async with theatre(tmp_path) as stage:
        await install_samples(stage.client.house)
        started = await stage.client.raw(
            "story.start_session", story_id="lighthouse-the-unlit-hour", api_group_id="troupe", preset_id="ensemble"
        )
        replies = {"replies": [{"id": "a", "text": SECRET}, {"id": "b", "text": "I look at the sea."}]}
        stage.troupe.misbehave("replyer", json.dumps(replies), json.dumps(replies))
        answer = await stage.client.call("session.suggest_replies", started["session_id"], limit=2)
        assert [reply["text"] for reply in answer["replies"]] == ["I look at the sea."]
