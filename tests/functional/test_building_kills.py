"""A turn of building that is killed at any of its steps goes on, and nothing is added twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.conftest import Place
from tests.fork_server import ForkServer
from tests.turn_kills import Victim, victim

STEPS = ("looking at the world", "taking it down", "making it true")


@pytest.fixture
async def killed(fork_server: ForkServer, place: Place, tmp_path: Path) -> AsyncIterator[Victim]:
    async with victim(fork_server, tmp_path, environment=place.environment) as it:
        yield it


async def say_until(it: Victim, building_id: str, text: str, mark: str) -> None:
    """Says something, and kills the server when its stream shows the mark."""
    request = it.client.request("building.say", building_id=building_id, text=text, stream=True)
    try:
        async with it.client.http.stream("POST", "/rpc", json=request) as response:
            async for chunk in response.aiter_text():
                if mark in chunk:
                    it.kill()
                    return
    except httpx.HTTPError:
        pass


@pytest.mark.all
async def test_a_killed_turn_of_building_is_taken_up_and_nothing_is_twice(killed: Victim) -> None:
    await killed.client.call("world.create", world_id="salt", display_name="Salt")
    building_id = (await killed.client.call("building.open", world_id="salt"))["building_id"]
    for number, mark in enumerate(STEPS):
        await say_until(killed, building_id, f"There is a town called Port{'abc'[number]}.", mark)
        await killed.start()
        for _ in range(500):
            added = (await killed.client.call("building.close", building_id=building_id))["added"]
            if len(added) > number:
                break
            await asyncio.sleep(0.05)
        assert [one["sentence"] for one in added] == [
            f"There is Port{letter}, a place." for letter in "abc"[: number + 1]
        ]
    listed = await killed.client.call("canon.list", world_id="salt")
    assert len(listed["changes"]) == len(STEPS)
