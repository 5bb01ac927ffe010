"""Full and damaged disks: the server says what is wrong and what to do."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.live import gate_story, live_server

from fabula.actions.library.characters import list_characters
from fabula.actions.library.stories import list_stories
from fabula.actions.listing import Listing
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import FabulaError, StoreError
from fabula.server.ops.disk_space import disk_problem
from fabula.settings import Settings
from fabula.wiring import open_house


async def test_a_server_with_too_little_space_left_is_alive_but_not_ready(tmp_path: Path) -> None:
    async with live_server(tmp_path / "data", min_free_mib=2**40) as client:
        ready = await client.http.get("/readyz")
        assert ready.status_code == 503 and "Free some space" in ready.json()["reason"]
        assert (await client.http.get("/healthz")).status_code == 200
    async with live_server(tmp_path / "data") as client:
        assert (await client.http.get("/readyz")).status_code == 200


async def test_asking_a_server_that_is_not_ready_again_and_again_leaves_one_line_a_minute(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with live_server(tmp_path / "data", min_free_mib=2**40) as client:
        for _ in range(30):
            assert (await client.http.get("/readyz")).status_code == 503
    told = [line for line in caplog.messages if line.startswith("not ready")]
    # A slow machine may come into a second minute.
    assert 1 <= len(told) <= 2


def test_a_folder_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    assert disk_problem(tmp_path, 0) is None
    assert "cannot be written" in (disk_problem(tmp_path / "missing", 0) or "")
    assert list(tmp_path.iterdir()) == []


async def test_a_folder_in_place_of_the_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "fabula.db").mkdir()
    with pytest.raises(StoreError, match=r"folder .*fabula\.db where the database file should be\. Move it away"):
        async with open_house(Settings(data_dir=tmp_path)):
            pass


async def test_a_folder_in_place_of_an_old_file_harms_nobody(tmp_path: Path) -> None:
    (tmp_path / "loops.db").mkdir()
    async with open_house(Settings(data_dir=tmp_path)) as house:
        assert (await list_stories(house, OPERATOR, Listing())).stories == []


@pytest.mark.parametrize("seed", range(12))
async def test_a_damaged_database_is_named_with_what_to_do(tmp_path: Path, seed: int) -> None:
    async with live_server(tmp_path / "good") as client:
        await gate_story(client)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "fabula.db").write_bytes(_damaged((tmp_path / "good" / "fabula.db").read_bytes(), seed))
    try:
        async with open_house(Settings(data_dir=tmp_path / "bad")) as house:
            await list_stories(house, OPERATOR, Listing())
            await list_characters(house, OPERATOR, Listing())
    except FabulaError as error:
        assert "restore" in error.message.lower() or "damaged" in error.message, error.message


def _damaged(whole: bytes, seed: int) -> bytes:
    """Some bytes changed, and sometimes the end cut off."""
    chance, data = random.Random(seed), bytearray(whole)
    for _ in range(chance.choice((20, 200, 2000))):
        data[chance.randrange(100, len(data))] = chance.randrange(256)
    return bytes(data[: chance.randrange(len(data))] if seed % 4 == 0 else data)
