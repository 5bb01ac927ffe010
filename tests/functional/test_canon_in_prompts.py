"""What prompts are told of a play's own canon while its keeper is late: nothing that is out of date for long, and to
one turn the same, however often it is taken up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import Place
from tests.functional.test_canon_in_plays import campaign, started
from tests.functional.test_followers import all_done
from tests.functional.test_hot_path import followers_held_up
from tests.live import Client, live_server
from tests.scripted import bind_troupe

from fabula.actions.canon.keeper import commit_line
from fabula.actions.plays.play_states import head_state
from fabula.actions.setups.scene_bundles import world_around
from fabula.ports.actors import OPERATOR
from fabula.testing.model_server import ModelServer
from fabula.testing.troupe import Troupe

CAME_TO_PASS = "Mara lost her way in the flood."


@pytest.fixture
async def client(tmp_path: Path, place: Place) -> AsyncIterator[Client]:
    async with live_server(tmp_path, database_url=place.settings.database_url) as opened:
        yield opened


async def after_the_flood(client: Client, **models: str) -> str:
    """A play in whose world two things came to pass one after the other, the flood first."""
    session = await started(client, await campaign(client), **models)
    for clock_id, every in (("flood", 60), ("snow", 600)):
        lost = {"kind": "fact", "subject": "mara", "predicate": "lost_her_way_in", "object": f"the {clock_id}"}
        fires = {"event": f"The {clock_id} came.", "changes": [lost]}
        rest = {"segments": 2, "pressure": 3, "every": every, "fires": fires}
        await client.call("clock.create", session, clock_id=clock_id, name=clock_id, **rest)
    await client.call("world.advance", session, duration="10 hours")
    await client.call("world.advance", session, duration="5 days")
    return session


async def test_what_a_late_keeper_commits_is_told_in_the_turns_after_that(client: Client) -> None:
    async with ModelServer(Troupe()) as models:
        await bind_troupe(client, models.base_url)

        async def asked(session: str) -> str:
            """All that models are told in a turn."""
            before = len(models.requests)
            await client.turn(session, "I look around.")
            return json.dumps([one.body for one in models.requests[before:]])

        with followers_held_up(client):
            session = await after_the_flood(client, api_group_id="troupe", preset_id="ensemble")
            assert CAME_TO_PASS not in await asked(session)
        await all_done(client)
        assert CAME_TO_PASS in await asked(session)


async def test_a_turn_that_is_taken_up_again_is_told_what_was_canon_when_it_began(client: Client) -> None:
    house = client.house
    with followers_held_up(client):
        session = await after_the_flood(client)
        async with house.store.reading() as unit:
            play, state = await head_state(unit, OPERATOR, session)
            setup = await house.play_setups.played_by(unit, session, state.graph)
        began = house.clock.now_ms()
        at_first = await world_around(house.store, setup, state, began_at_ms=began)
        while house.clock.now_ms() == began:
            pass
        await commit_line(house, session, play.head_turn_id)
        # Another process has read nothing yet.
        setup = replace(setup)
        assert await world_around(house.store, setup, state, began_at_ms=began) == at_first
        later, _ = await world_around(house.store, setup, state, began_at_ms=house.clock.now_ms())
    assert CAME_TO_PASS not in [note.text for note in at_first[0]]
    assert CAME_TO_PASS in [note.text for note in later]
