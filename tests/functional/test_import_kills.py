"""Sudden death while a data package is taken in: it is there whole or not at all, and whoever asks again is told."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.conftest import Place
from tests.fork_server import script
from tests.live import Client, RpcFailed, gate_story, live_server

pytestmark = pytest.mark.all

THINGS = 6
"""So many things are in the package. Each is looked through, and then each is taken in."""
COMMITTER = script(Path(__file__).with_name("import_committer.py"))


@pytest.fixture
async def archive(tmp_path: Path) -> bytes:
    """A package with a story and all that it stands on."""
    async with live_server(tmp_path / "source") as source:
        story_id = await gate_story(source)
        export = await source.call("data_package.export_prepare", story_ids=[story_id])
        return (await source.http.get(f"/download/{export['archive']['resource_id']}/archive")).content


@pytest.fixture
async def server(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        yield client


async def uploaded(client: Client, archive: bytes) -> str:
    prepared = await client.call("data_package.import_prepare")
    await client.http.post(f"/upload/{prepared['archive']['resource_id']}/archive", content=archive)
    return str(prepared["import_id"])


async def killed_at(client: Client, import_id: str, taken: int) -> None:
    settings = client.house.settings.model_dump_json()
    process = await asyncio.create_subprocess_exec(*COMMITTER, settings, import_id, str(taken))
    assert await process.wait() == -signal.SIGKILL


async def test_an_import_killed_half_way_is_taken_in_whole_by_another_process(server: Client, archive: bytes) -> None:
    import_id = await uploaded(server, archive)
    await killed_at(server, import_id, THINGS + 3)
    taken = await server.call("data_package.import_commit", import_id=import_id)
    assert {name: one["count"] for name, one in taken["contents"].items() if one["count"]} == {
        "schemas": 3,
        "characters": 1,
        "story_resources": 1,
        "stories": 1,
    }
    [story_id] = taken["contents"]["stories"]["ids"]
    assert (await server.raw("story.start_session", story_id=story_id))["result"]["type"] == "session_started"


async def test_nobody_has_to_ask_again(server: Client, archive: bytes) -> None:
    import_id = await uploaded(server, archive)
    await killed_at(server, import_id, THINGS + 2)
    while not (stories := (await server.call("story.list"))["stories"]):
        await asyncio.sleep(0.1)
    assert len(stories) == 1 and len((await server.call("schema.list"))["schemas"]) == 3
    again = await server.call("data_package.import_commit", import_id=import_id)
    assert again["contents"]["stories"]["ids"] == [stories[0]["story_id"]]


async def test_two_commits_of_one_upload_take_it_in_once(server: Client, archive: bytes) -> None:
    import_id = await uploaded(server, archive)
    calls = (server.call("data_package.import_commit", import_id=import_id) for _ in range(2))
    answers = await asyncio.gather(*calls, return_exceptions=True)
    taken = [answer for answer in answers if isinstance(answer, dict)]
    assert taken and all(answer == taken[0] for answer in taken)
    assert {answer.code for answer in answers if isinstance(answer, RpcFailed)} <= {40404}
    assert len((await server.call("story.list"))["stories"]) == 1
