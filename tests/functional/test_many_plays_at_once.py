"""Many free plays of two worlds at once: no play hears, knows, remembers or asks a model about what another is told."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from tests.free_world import free_world
from tests.functional.test_free_play import ASK_ORR, look
from tests.functional.test_many_ways_of_a_campaign import near_client, on_postgres
from tests.live import Client
from tests.mass import Mass
from tests.scripted import PACES, bind_troupe

from fabula.actions.campaigns.story_loop import lead_on
from fabula.actions.plays.play_states import state_at
from fabula.testing.model_server import ModelServer
from fabula.testing.troupe import Troupe

FLOODS = {"vale": "amberish", "moor": "violetish"}
"""The water of each world, whose places and people are the same otherwise."""
MARK = re.compile(r"zq\d+qz")


async def one_play(client: Client, number: int) -> str:
    """Plays a few scenes in which the player speaks of one thing that no other player speaks of."""
    mark, world_id = f"zq{number}qz", ("vale", "moor")[number % 2]
    asked = {"world_id": world_id, "api_group_id": "troupe", "preset_id": PACES[number // 2 % 2]}
    started = await client.raw("story.start_session", seed=number, **asked)
    assert "session_id" in started, started
    session = str(started["session_id"])
    for line in (f"Orr, my name is {mark}.", ASK_ORR, f"I look around for {mark}.", "I go to the ford."):
        await client.turn(session, line)
        await lead_on(client.house, session)
    await client.call("world.advance", session, duration="5 hours")
    return session


async def all_of(client: Client, session: str) -> str:
    """Everything that is kept of a play, as one text."""
    seen: dict[str, Any] = await look(client, session)
    async with client.house.store.reading() as unit:
        state = (await state_at(unit, seen["head"])).as_json()
    memories = await client.call("memory.list", session)
    return json.dumps([seen, state, memories, await client.call("session.get", session)])


def floods_in(text: str) -> set[int]:
    """Of which worlds a text speaks."""
    return {place for place, flood in enumerate(FLOODS.values()) if flood in text}


@pytest.mark.all
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_plays_that_run_at_once_know_nothing_of_each_other(
    mass: Mass, engine: str, request: pytest.FixtureRequest
) -> None:
    async with ModelServer(Troupe()) as models, near_client(on_postgres(engine, request)) as client:
        await bind_troupe(client, models.base_url)
        for world_id, flood in FLOODS.items():
            await free_world(client, world_id=world_id, flood=flood)
        sessions = await asyncio.gather(*(one_play(client, number) for number in range(mass(100))))
        for number, session in enumerate(sessions):
            kept = await all_of(client, session)
            assert {*MARK.findall(kept)} == {f"zq{number}qz"}
            assert floods_in(kept) == {number % 2}
        asked = [json.dumps(request.body) for request in models.requests]
    marks = [set(MARK.findall(prompt)) for prompt in asked]
    assert all(len(found) <= 1 for found in marks)
    assert set.union(*marks) == {f"zq{number}qz" for number in range(mass(100))}
    for prompt, found in zip(asked, marks, strict=True):
        assert all(floods_in(prompt) <= {int(mark[2:-2]) % 2} for mark in found)
