"""Plays of one world and story read the same things: none waits for whoever writes to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import pytest
from tests.conftest import Place
from tests.free_world import free_world
from tests.functional.test_many_ways_of_a_campaign import near_client
from tests.live import Client

from fabula.ports.store import Kind

Deed = Callable[[Client, str], Awaitable[object]]
READ: Sequence[Kind] = ("world", "story", "preset", "api_group", "schema")


async def _start(client: Client, _: str) -> object:
    return (await client.raw("story.start_session", story_id=await _story(client), seed=5))["session_id"]


async def _change(client: Client, session: str) -> object:
    return await client.call("world.advance", session, duration="20 minutes")


async def _go_back(client: Client, session: str) -> object:
    return await client.call("session.backtrack", session, turns=1)


async def _fork(client: Client, session: str) -> object:
    return await client.call("session.fork", session)


async def _story(client: Client) -> str:
    return str((await client.call("story.list"))["stories"][0]["story_id"])


@pytest.mark.parametrize("deed", [_start, _change, _go_back, _fork])
async def test_a_play_waits_for_nobody_who_writes_to_its_world(postgres_place: Place, deed: Deed) -> None:
    async with near_client(postgres_place) as client:
        await free_world(client)
        session = str((await client.raw("story.start_session", world_id="vale", seed=5))["session_id"])
        await client.turn(session, "I look around.")
        async with client.house.store.writing() as author:
            for kind in READ:
                for one in await author.resources.page(kind):
                    await author.resources.get(kind, one.id)
            assert await deed(client, session)
