"""Envelopes, covers, `.chr` archives and data packages on the wire, as clients rely on them."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.live import Client, RpcFailed, gate_story, live_server
from tests.mass import Mass

from fabula.formats.archives import pack

CHR = "application/x-sillystage-character-card"
PACKAGE = "application/x-sillystage-data-package+zip"
KINDS = ("api", "preset", "schema", "lorebook", "player_profile", "character", "story_resources", "story")


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path) as client:
        yield client


def picture(kind: str = "PNG", colour: int = 40) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 6), (120, colour, 200)).save(buffer, kind)
    return buffer.getvalue()


async def upload(client: Client, place: str, data: bytes, **headers: str) -> dict[str, Any]:
    response = await client.http.post(f"/upload/{place}", content=data, headers=headers)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def refused(client: Client, method: str, path: str, data: bytes = b"") -> tuple[int, int]:
    """The HTTP status and the code of a refusal, which is a bare error payload."""
    response = await client.http.request(method, path, content=data)
    payload = response.json()
    assert payload.keys() <= {"code", "message", "data"} and payload["message"]
    return response.status_code, payload["code"]


async def test_the_health_check_says_ok(client: Client) -> None:
    assert (await client.http.get("/healthz")).text == "ok"


@pytest.mark.parametrize(
    ("body", "status", "code", "wrapped"),
    [
        (b"{", 400, -32700, False),
        (b'{"jsonrpc":"1.0","id":"7","method":"api.list"}', 400, -32600, True),
        (b'{"jsonrpc":"2.0","method":"api.list"}', 400, -32600, False),
        (b'{"jsonrpc":"2.0","id":7,"method":"api.list"}', 400, -32600, False),
        (b'{"jsonrpc":"2.0","id":"7","method":"api.sing"}', 200, -32601, True),
        (b'{"jsonrpc":"2.0","id":"7","method":"api.get","params":{"api_id":1,"x":2}}', 200, -32602, True),
        (b'{"jsonrpc":"2.0","id":"7","method":"api.get","params":{"api_id":"x"}}', 200, 40404, True),
    ],
)
async def test_what_is_no_good_request_is_told_in_the_contracted_envelope(
    client: Client, body: bytes, status: int, code: int, wrapped: bool
) -> None:
    response = await client.http.post("/rpc", content=body)
    answer = response.json()
    error = answer["error"] if wrapped else answer
    assert response.status_code == status and error["code"] == code
    assert not wrapped or (answer["jsonrpc"], answer["id"]) == ("2.0", "7")
    if code == -32602:
        assert {one["field"] for one in error["data"]["errors"]} == {"api_id", "x"}


async def test_params_may_be_left_out(client: Client) -> None:
    response = await client.http.post("/rpc", json={"jsonrpc": "2.0", "id": "1", "method": "schema.list"})
    assert response.json() == {"jsonrpc": "2.0", "id": "1", "result": {"type": "schemas_listed", "schemas": []}}


@pytest.mark.parametrize(("kind", "name"), [("PNG", "cover.png"), ("JPEG", "cover.jpg"), ("WEBP", "cover.webp")])
async def test_a_cover_is_named_by_what_it_is(client: Client, kind: str, name: str) -> None:
    await gate_story(client)
    data = picture(kind)
    mime = f"image/{kind.lower()}"
    taken = await upload(client, "character%3Amara/cover", data, **{"x-file-name": "../My Photo.gif"})
    assert taken == {
        "resource_id": "character:mara",
        "file_id": "cover",
        "file_name": name,
        "content_type": mime,
        "size_bytes": len(data),
    }
    shown = await client.call("character.get", character_id="mara")
    assert (shown["cover_file_name"], shown["cover_mime_type"]) == (name, mime)
    sent = await client.http.get("/download/character:mara/cover")
    assert sent.content == data and sent.headers["content-type"] == mime
    assert sent.headers["content-disposition"] == f'attachment; filename="{name}"'


async def test_a_refusal_of_a_file_is_short_however_much_is_wrong_with_it(client: Client) -> None:
    """Every problem was named, twice: a card of 300 kB was answered with 20 MB."""
    many = {f"unknown{number}": 1 for number in range(5_000)} | {"x" * 50_000: 1}
    card = {"id": "a", "name": "a", "personality": "a", "style": "a", "schema_id": "s", "system_prompt": "a", **many}
    manifest = {"format": "sillystage_character_card", "version": 1, "character_id": "a"}
    manifest |= {"content_path": "content.json", "cover_path": "cover.png", "cover_mime_type": "image/png"}
    files = {"manifest.json": manifest, "content.json": card}
    archive = pack([*((name, json.dumps(one).encode()) for name, one in files.items()), ("cover.png", picture())])
    answer = await client.http.post("/upload/characters:new/archive", content=archive)
    assert answer.status_code == 400
    assert len(answer.content) < 20_000
    assert "unknown field 'unknown0'" in answer.json()["message"] and "4951 more" in answer.json()["message"]


async def test_files_that_cannot_be_are_refused_with_the_status_of_their_code(client: Client) -> None:
    await gate_story(client)
    slot = (await client.call("data_package.import_prepare"))["archive"]["resource_id"]
    assert await refused(client, "POST", "/upload/character:mara/cover", b"GIF89a") == (400, -32600)
    assert await refused(client, "POST", "/upload/character:nobody/cover", picture()) == (404, 40404)
    assert await refused(client, "POST", "/upload/character:mara/portrait", picture()) == (400, -32600)
    assert await refused(client, "POST", "/upload/package_export:x/archive", b"x") == (400, -32600)
    assert await refused(client, "POST", f"/upload/{slot}/archive", b"no zip") == (400, -32600)
    assert await refused(client, "GET", "/download/character:mara/cover") == (409, 40909)
    assert await refused(client, "GET", "/download/character:mara/archive") == (409, 40909)
    assert await refused(client, "GET", "/download/character:nobody/archive") == (404, 40404)
    assert await refused(client, "GET", f"/download/{slot}/archive") == (400, -32600)
    assert await refused(client, "GET", "/download/package_export:nobody/archive") == (404, 40404)


async def test_a_character_travels_as_a_chr_archive(client: Client, tmp_path: Path) -> None:
    await gate_story(client)
    await upload(client, "character:mara/cover", picture("JPEG"))
    sent = await client.http.get("/download/character:mara/archive")
    assert sent.headers["content-type"] == CHR
    assert sent.headers["content-disposition"] == 'attachment; filename="mara.chr"'
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        manifest, content = (json.loads(archive.read(name)) for name in ("manifest.json", "content.json"))
        assert archive.read("cover.jpg") == picture("JPEG")
        assert {one.compress_type for one in archive.infolist()} <= {zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED}
    assert manifest == {
        "format": "sillystage_character_card",
        "version": 1,
        "character_id": "mara",
        "content_path": "content.json",
        "cover_path": "cover.jpg",
        "cover_mime_type": "image/jpeg",
    }
    card = await client.call("character.get", character_id="mara")
    assert content == card["content"]
    assert await refused(client, "POST", "/upload/character:mara/archive", sent.content) == (409, 40909)
    assert await refused(client, "POST", "/upload/character:other/archive", sent.content) == (400, -32600)
    async with live_server(tmp_path / "other") as other:
        bare = without(sent.content, "schema.json")
        assert await refused(other, "POST", "/upload/character:mara/archive", bare) == (404, 40404)
        taken = await upload(other, "character:mara/archive", sent.content)
        assert taken["content_type"] == CHR and taken["file_name"] is None
        assert await other.call("character.get", character_id="mara") == card
        assert (await other.http.get("/download/character:mara/cover")).content == picture("JPEG")
        assert (await other.call("schema.get", schema_id="gate-keeper"))["fields"]["trust"]["default"] == 0


async def test_a_chr_archive_can_be_sent_without_knowing_whom_it_holds(client: Client, tmp_path: Path) -> None:
    await gate_story(client)
    await upload(client, "character:mara/cover", picture())
    archive = (await client.http.get("/download/character:mara/archive")).content
    assert await refused(client, "POST", "/upload/characters/archive", archive) == (409, 40909)
    assert await refused(client, "POST", "/upload/characters/archive", b"no zip") == (400, -32600)
    async with live_server(tmp_path / "other") as other:
        assert (await upload(other, "characters/archive", archive))["resource_id"] == "character:mara"
        assert (await other.call("character.get", character_id="mara"))["content"]["name"] == "Mara"


def without(archive: bytes, name: str) -> bytes:
    """The archive with one file left out."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for one in old.namelist():
            if one != name:
                new.writestr(one, old.read(one))
    return buffer.getvalue()


async def exported(client: Client, **params: Any) -> tuple[dict[str, Any], bytes]:
    out = await client.call("data_package.export_prepare", **params)
    sent = await client.http.get(f"/download/{out['archive']['resource_id']}/archive")
    assert sent.headers["content-type"] == PACKAGE
    named = f'attachment; filename="sillystage-data-package-{out["export_id"]}.zip"'
    assert sent.headers["content-disposition"] == named
    return out["contents"], sent.content


async def prepared(client: Client, archive: bytes) -> str:
    slot = await client.call("data_package.import_prepare")
    await upload(client, f"{slot['archive']['resource_id']}/archive", archive)
    return str(slot["import_id"])


async def everything(client: Client) -> dict[str, Any]:
    """All that authors keep, as lists show it, but for when it came here."""
    lists = {kind: await client.call(f"{kind}.list") for kind in KINDS}
    for story in lists["story"]["stories"]:
        del story["created_at_ms"], story["updated_at_ms"]
    return lists


async def test_a_package_has_the_contracted_names_and_is_taken_in_whole(client: Client, tmp_path: Path) -> None:
    story_id = await gate_story(client)
    await upload(client, "character:mara/cover", picture())
    contents, archive = await exported(client, story_ids=[story_id])
    resource_id = contents["story_resources"]["ids"][0]
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        manifest = json.loads(opened.read("manifest.json"))
        assert set(opened.namelist()) == {
            "manifest.json",
            "schemas/gate-world.json",
            "schemas/gate-player.json",
            "schemas/gate-keeper.json",
            "characters/mara/content.json",
            "characters/mara/cover.bin",
            f"story_resources/{resource_id}.json",
            f"stories/{story_id}.json",
        }
    assert manifest.keys() == {"format", "version", "created_at_ms", "contents", "characters"}
    assert (manifest["format"], manifest["version"]) == ("sillystage_data_package", 1)
    # Written only where a package carries some, so that earlier versions take in the others.
    later = {"game_systems", "worlds"}
    assert manifest["contents"] == {name: one for name, one in contents.items() if name not in later}
    assert [contents[name]["count"] for name in later] == [0, 0]
    assert manifest["characters"] == [
        {
            "character_id": "mara",
            "content_path": "characters/mara/content.json",
            "cover_path": "characters/mara/cover.bin",
            "cover_file_name": "cover.png",
            "cover_content_type": "image/png",
        }
    ]
    async with live_server(tmp_path / "other") as other:
        import_id = await prepared(other, archive)
        taken = await other.call("data_package.import_commit", import_id=import_id)
        assert taken["contents"] == contents and await everything(other) == await everything(client)
        with pytest.raises(RpcFailed) as again:
            await other.call("data_package.import_commit", import_id=import_id)
        assert again.value.code == 40404
        started = await other.raw("story.start_session", story_id=story_id)
        assert started["result"]["type"] == "session_started"


async def test_without_dependencies_only_what_is_named_travels(client: Client) -> None:
    story_id = await gate_story(client)
    contents, _ = await exported(client, story_ids=[story_id], include_dependencies=False)
    assert {name: one["count"] for name, one in contents.items() if one["count"]} == {"stories": 1}
    contents, _ = await exported(client, character_ids=["mara"])
    assert {name: one["ids"] for name, one in contents.items() if one["count"]} == {
        "schemas": ["gate-keeper"],
        "characters": ["mara"],
    }


async def test_an_import_that_clashes_changes_nothing_skips_or_renames(client: Client) -> None:
    story_id = await gate_story(client)
    _, archive = await exported(client, story_ids=[story_id])
    await client.call("story.delete", story_id=story_id)
    before = await everything(client)
    import_id = await prepared(client, archive)
    with pytest.raises(RpcFailed) as clash:
        await client.call("data_package.import_commit", import_id=import_id)
    assert clash.value.code == 40909 and await everything(client) == before
    skipped = await client.call("data_package.import_commit", import_id=import_id, on_conflict="skip")
    assert {name: one["ids"] for name, one in skipped["contents"].items() if one["count"]} == {"stories": [story_id]}
    params = {"import_id": await prepared(client, archive), "on_conflict": "rename"}
    renamed = (await client.call("data_package.import_commit", **params))["contents"]
    assert renamed["characters"]["ids"] == ["mara-2"] and renamed["stories"]["count"] == 1
    copy = await client.call("story.get", story_id=renamed["stories"]["ids"][0])
    assert copy["world_schema_id"] == "gate-world-2" and copy["graph"]["nodes"][0]["characters"] == ["mara-2"]


async def test_an_import_without_what_it_refers_to_is_refused_whole(client: Client, tmp_path: Path) -> None:
    story_id = await gate_story(client)
    _, archive = await exported(client, story_ids=[story_id], schema_ids=["gate-world"], include_dependencies=False)
    async with live_server(tmp_path / "other") as other:
        before = await everything(other)
        with pytest.raises(RpcFailed) as missing:
            await other.call("data_package.import_commit", import_id=await prepared(other, archive))
        assert missing.value.code == 40404 and await everything(other) == before


async def test_uploads_survive_a_restart(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        await gate_story(client)
        out = await client.call("data_package.export_prepare", character_ids=["mara"])
        place = f"/download/{out['archive']['resource_id']}/archive"
        archive = (await client.http.get(place)).content
        import_id = await prepared(client, archive)
    async with live_server(tmp_path) as client:
        assert (await client.http.get(place)).content == archive
        taken = await client.call("data_package.import_commit", import_id=import_id, on_conflict="skip")
        assert taken["type"] == "data_package_import_committed"


def mutated(archive: bytes, dice: random.Random) -> bytes:
    """The archive with a few bytes changed: in the file as it is, or in one of its unpacked files."""
    if dice.random() < 0.5:
        return scratched(archive, dice)
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        victim = dice.choice(old.namelist())
        for name in old.namelist():
            new.writestr(name, scratched(old.read(name), dice) if name == victim else old.read(name))
    return buffer.getvalue()


def scratched(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.randrange(1, 4)):
        place = dice.randrange(len(changed))
        match dice.randrange(3):
            case 0:
                changed[place] = dice.randrange(256)
            case 1:
                del changed[place : place + dice.randrange(1, 9)]
            case _:
                changed[place:place] = dice.choice([b'"', b",", b"0", b"null", b"{}", b"\x00", b"x"])
        if not changed:
            return b""
    return bytes(changed)


async def test_mutated_archives_are_refused_or_taken_in_whole(client: Client, tmp_path: Path, mass: Mass) -> None:
    story_id = await gate_story(client)
    await upload(client, "character:mara/cover", picture())
    card = (await client.http.get("/download/character:mara/archive")).content
    _, package = await exported(client, story_ids=[story_id])
    async with live_server(tmp_path / "other") as other:
        empty, dice = await everything(other), random.Random(7)
        for _ in range(mass(150)):
            answer = await other.http.post("/upload/character:mara/archive", content=mutated(card, dice))
            assert answer.status_code in (200, 400, 404), answer.text
            if answer.status_code == 200:
                await other.call("character.delete", character_id="mara")
                await other.call("schema.delete", schema_id="gate-keeper")
        for _ in range(mass(150)):
            slot = await other.call("data_package.import_prepare")
            place = f"/upload/{slot['archive']['resource_id']}/archive"
            answer = await other.http.post(place, content=mutated(package, dice))
            assert answer.status_code in (200, 400), answer.text
            if answer.status_code == 400:
                continue
            done = await other.raw("data_package.import_commit", import_id=slot["import_id"])
            if "error" in done:
                assert done["error"]["code"] in (-32600, 40404), done
            else:
                await forget(other, done["result"]["contents"])
        assert await everything(other) == empty


async def forget(client: Client, contents: dict[str, Any]) -> None:
    """Removes what a package brought; all of it must be there."""
    assert sum(one["count"] for one in contents.values()) == 6
    for part, kind, name in (
        ("stories", "story", "story_id"),
        ("story_resources", "story_resources", "resource_id"),
        ("characters", "character", "character_id"),
        ("schemas", "schema", "schema_id"),
    ):
        for id in contents[part]["ids"]:
            await client.call(f"{kind}.delete", **{name: id})
