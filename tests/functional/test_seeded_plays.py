"""A play that was begun with a seed is the same play each time: the same words get the same answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.live import Client, gate_story, live_server
from tests.scripted import theatre

from fabula.testing.model_script import Fail

LINES = ("Hello.", "I wait and listen.", "What do you know of the gate?")


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path) as client:
        yield client


async def told(client: Client, session_id: str) -> list[str]:
    history = (await client.call("session.get", session_id))["history"]
    return [one["text"] for one in history]


async def started(client: Client, story_id: str, **chosen: int) -> str:
    return str((await client.call("story.start_session", story_id=story_id, **chosen))["session_id"])


async def last_seed(client: Client, session_id: str) -> int:
    head = (await client.call("session.get", session_id))["head_turn_id"]
    async with client.house.store.reading() as unit:
        turn = await unit.plays.turn(head)
    assert turn is not None
    return turn.seed


async def test_the_same_seed_and_words_make_the_same_play(client: Client) -> None:
    story_id = await gate_story(client)
    plays = [await started(client, story_id, seed=7) for _ in range(2)]
    for session_id in plays:
        for line in LINES:
            await client.turn(session_id, line)
    first, second = [await told(client, session_id) for session_id in plays]
    assert first == second


async def test_going_back_and_saying_the_same_finds_the_same_and_telling_anew_draws_lots(client: Client) -> None:
    session_id = await started(client, await gate_story(client), seed=7)
    await client.turn(session_id, LINES[0])
    before = await told(client, session_id)
    await client.call("session.backtrack", session_id, turns=1)
    await client.turn(session_id, LINES[0])
    assert await told(client, session_id) == before
    again = await last_seed(client, session_id)
    await client.turn(session_id, "", "session.regenerate")
    assert await last_seed(client, session_id) != again


async def test_a_turn_that_failed_is_retried_as_it_would_have_been_played(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        params = {"story_id": house.story_id, "api_group_id": "troupe", "preset_id": "ensemble", "seed": 7}
        failed, played = [str((await house.client.raw("story.start_session", **params))["session_id"]) for _ in "ab"]
        house.troupe.misbehave("narrator", Fail(status=500), Fail(status=500))
        assert (await house.client.turn(failed, LINES[0]))[-1]["type"] == "failed"
        await house.client.turn(failed, "", "session.retry_turn")
        await house.client.turn(played, LINES[0])
        assert await last_seed(house.client, failed) == await last_seed(house.client, played)
        assert await told(house.client, failed) == await told(house.client, played)


async def test_without_a_seed_each_turn_draws_its_own(client: Client) -> None:
    story_id = await gate_story(client)
    plays = [await started(client, story_id) for _ in range(2)]
    for session_id in plays:
        await client.turn(session_id, LINES[0])
    first, second = [await last_seed(client, session_id) for session_id in plays]
    assert first != second
