"""One campaign gone back in again and again, over scenes, talks and the time between them: it is always as it was."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.conftest import Place
from tests.free_world import free_session
from tests.functional.test_free_play import ASK_ILSE, ASK_ORR, look
from tests.live import Client, RpcFailed, app_client
from tests.mass import Mass

from fabula.actions.campaigns.story_loop import lead_on
from fabula.actions.canon.keeper import commit_line
from fabula.actions.plays.play_states import state_at
from fabula.adapters.world import SystemClock
from fabula.story.state_hash import state_hash
from fabula.testing.memory_store import memory_place
from fabula.wiring import open_house

LINES = (
    "I look around.",
    "I wait.",
    "I go to the chapel.",
    "I go to the ford.",
    "I go to the mill.",
    "Orr, what do you know about the wheel?",
    ASK_ORR,
    ASK_ILSE,
)
MICE = {"event": "Mice came."}
CLOCKS: tuple[dict[str, Any], ...] = (
    {"clock_id": "flood", "name": "The flood", "segments": 4, "pressure": 3, "every": 30},
    {"clock_id": "mice", "name": "The mice", "segments": 2, "pressure": 5, "every": 10, "fires": MICE},
)
THREAD = {"thread_id": "wheel", "title": "Who stopped the wheel?", "foreshadows": True, "lasts": 3000}


@asynccontextmanager
async def near_client(on_postgres: Place | None = None) -> AsyncIterator[Client]:
    """A client of an app in this very process, on SQLite in memory or on Postgres. Nothing follows turns there."""
    if on_postgres is not None:
        async with open_house(on_postgres.settings) as house, app_client(house) as client:
            yield client
        return
    with memory_place() as place:
        async with open_house(place.settings, store=place.store(SystemClock())) as house, app_client(house) as client:
            yield client


async def standing(client: Client, session: str) -> tuple[str, dict[str, Any]]:
    """The turn at the head, and all that is true there when the keeper of canon has done what follows it."""
    await commit_line(client.house, session, (await client.call("session.get", session))["head_turn_id"])
    seen = await look(client, session)
    async with client.house.store.reading() as unit:
        state = await state_at(unit, seen["head"])
    assert state_hash(state) == seen["hash"]
    changes = (await client.call("canon.list", session, limit=500))["changes"]
    return seen["head"], {
        **seen,
        "dice": state.dice_cursor,
        "minute": state.minute,
        "relations": {id: {whom: one.as_json() for whom, one in mine.items()} for id, mine in state.relations.items()},
        "threads": await client.call("thread.list", session),
        "canon": {one["change_id"]: one["status"] for one in changes},
    }


def differing(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What is not as it was."""
    return {name: (value, after[name]) for name, value in before.items() if after[name] != value}


def on_postgres(engine: str, request: pytest.FixtureRequest) -> Place | None:
    """The place of a test that runs on Postgres as well; none where it runs on SQLite."""
    if engine == "sqlite":
        return None
    place: Place = request.getfixturevalue("postgres_place")
    return place


async def one_step(client: Client, session: str, dice: random.Random) -> str:
    """Something that can be done in a campaign; answers what, or nothing where it cannot be done here and now."""
    step = dice.choice(["say", "say", "say", "advance", "roll", "talk", "judge", "end", "past"])
    try:
        match step:
            case "say":
                await client.turn(session, dice.choice(LINES))
            case "advance":
                await client.call("world.advance", session, duration=dice.choice(["20 minutes", "5 hours", "2 days"]))
            case "roll":
                await client.call("session.roll", session, formula="2d6+1")
            case "talk":
                people = (await client.call("session.get", session))["snapshot"]["world_state"]["active_characters"]
                await client.call("conversation.open", session, character_ids=people[:1] or ["orr"])
                await client.turn(session, "I brought you soup. Thank you for everything.")
                if dice.random() < 0.8:
                    await client.call("conversation.close", session)
            case "judge":
                await client.call("canon.review", session)
            case "end":
                await client.call("session.end_scene", session)
            case _:
                await client.call("session.flashback", session, text="Two days ago I stood at the ford.")
    except RpcFailed:
        return ""
    return step


@pytest.mark.all
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_going_back_at_random_over_scenes_and_the_time_between_them_is_exact(
    mass: Mass, engine: str, request: pytest.FixtureRequest
) -> None:
    dice, done, gone_back = random.Random(20), set[str](), 0
    async with near_client(on_postgres(engine, request)) as client:
        session = await free_session(client, max_turns=4)
        for clock in CLOCKS:
            await client.call("clock.create", session, **clock)
        await client.call("thread.update", session, **THREAD)
        known = dict([await standing(client, session)])
        while gone_back < mass(200):
            for _ in range(dice.randint(1, 3)):
                done.add(await one_step(client, session, dice))
                await lead_on(client.house, session)
                turn_id, found = await standing(client, session)
                assert not differing(known.setdefault(turn_id, found), found)
            turn_id = dice.choice(list(known))
            await client.call("session.switch_branch", session, turn_id=turn_id)
            head, found = await standing(client, session)
            assert head == turn_id and not differing(known[turn_id], found)
            gone_back += 1
        numbers = {len(one["scenes"]["scenes"]) for one in known.values()}
        judged = {status for one in known.values() for status in one["canon"].values()}
    assert {"say", "advance", "roll", "talk"} <= done and max(numbers) >= 3
    assert gone_back < 200 or {"pending", "committed"} <= judged, "the layer of canon differs from turn to turn"
