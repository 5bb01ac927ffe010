"""SIGKILL between a turn and what follows it: every change of the world is applied once, in the order of the line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.fork_server import ForkServer
from tests.functional.test_world_follower import WORLD
from tests.turn_kills import Victim, victim

pytestmark = pytest.mark.all

CALENDAR = {**WORLD["calendar"], "minutes_per_turn": 360}  # type: ignore[dict-item]


@pytest.fixture
async def killed(fork_server: ForkServer, place: Place, tmp_path: Path) -> AsyncIterator[Victim]:
    async with victim(fork_server, tmp_path, environment=place.environment) as it:
        yield it


async def applied(it: Victim, session_id: str) -> dict[str, Any]:
    """The snapshot, once followers have applied everything."""
    for _ in range(1200):
        snapshot = (await it.client.call("session.get", session_id, history="none"))["snapshot"]
        if snapshot["applied_version"] == snapshot["world_version"]:
            return dict(snapshot)
        await asyncio.sleep(0.05)
    raise AssertionError("the world is not applied")


async def test_the_world_is_applied_once_and_in_order_whenever_the_server_is_killed(killed: Victim) -> None:
    await killed.client.call("story.update", story_id=killed.story_id, world={**WORLD, "calendar": CALENDAR})
    session_id = await killed.session("swift")
    # Each turn begins another phase. The kills fall before the dispatcher, between it and the follower, and after both.
    for number, wait_s in enumerate((0.0, 0.05, 0.3, 0.6)):
        await killed.client.turn(session_id, f"I look at bar number {number}.")
        await asyncio.sleep(wait_s)
        killed.kill()
        await killed.start()
    snapshot = await applied(killed, session_id)
    assert snapshot["world_version"] == 5
    listed = await killed.client.call("journal.list", session_id)
    assert listed["applied_version"] == 5
    for entry in listed["entries"]:
        turns = [move["turn_id"] for move in entry["moves"]]
        assert len(turns) == len(set(turns)), "nothing was moved twice by one turn"
    found = await killed.client.call(
        "schedule.get", story_id=killed.story_id, character_id="mara", in_session_id=session_id
    )
    indexes = [stay["turn_index"] for stay in found["stays"]]
    assert indexes == sorted(set(indexes)) and len(indexes) >= 3
    outbox = (await killed.client.call("outbox.list"))["items"]
    assert [item for item in outbox if item["state"] == "dead"] == []
