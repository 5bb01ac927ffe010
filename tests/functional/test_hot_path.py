"""The law of the hot path: a turn asks models for nothing but itself, and waits for nothing that follows it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import grimp
import pytest
from tests.functional.test_followers import played
from tests.functional.test_world_follower import WORLD
from tests.live import Client
from tests.scripted import PACES, theatre

from fabula.actions.followers.dispatch import FOLLOWER_WORK
from fabula.actions.work.work_kind import HeldWork
from fabula.story.followers import SUMMARY_EVERY
from fabula.story.values import JsonObject

OF_A_TURN = {"keeper", "director", "narrator", "actor", "swift"}
OF_TURNS = (
    "fabula.loops.scene",
    "fabula.loops.ink",
    "fabula.loops.turns",
    "fabula.actions.turns.run_turn",
    "fabula.actions.turns.turn_runner",
)
NEVER_IN_A_TURN = ("fabula.actions.followers", "fabula.agents.summaries")


@contextmanager
def followers_held_up(client: Client) -> Iterator[asyncio.Event]:
    """Whatever follows turns begins, and does not end before the block does."""
    begun, ends = asyncio.Event(), asyncio.Event()

    async def wait(held: HeldWork) -> JsonObject | None:
        begun.set()
        await ends.wait()
        raise asyncio.CancelledError

    runner: Any = client.house.work
    kinds = runner._kinds
    runner._kinds = {name: replace(kind, run=wait) if name in FOLLOWER_WORK else kind for name, kind in kinds.items()}
    try:
        yield begun
    finally:
        runner._kinds = kinds
        ends.set()


@pytest.mark.parametrize("pace", PACES)
async def test_turns_are_played_while_everything_that_follows_them_stands_still(tmp_path: Path, pace: str) -> None:
    async with theatre(tmp_path, summaries="auto") as stage:
        client = stage.client
        await client.call("story.update", story_id=stage.story_id, world=WORLD)
        with followers_held_up(client) as begun:
            session_id = await stage.session(pace)
            await played(client, session_id, SUMMARY_EVERY + 2)
            await asyncio.wait_for(begun.wait(), 120)
            session = await client.call("session.get", session_id, history="none")
            assert session["turn_index"] == SUMMARY_EVERY + 2 and session["snapshot"]["applied_version"] == 0
            asked = await roles_asked(client, session_id)
        assert asked <= OF_A_TURN


async def roles_asked(client: Client, session_id: str) -> set[str]:
    """Records of calls are written a moment later."""
    async with asyncio.timeout(120):
        while True:
            async with client.house.store.reading() as unit:
                records = [record for _, record in await unit.calls.page(session_id=session_id)]
            if records:
                return {record.origin.agent for record in records}
            await asyncio.sleep(0.02)


def test_no_code_of_a_turn_reaches_a_follower_or_the_summariser() -> None:
    """Walks what the modules of a turn import, and what these import in turn."""
    graph = grimp.build_graph("fabula")
    for room in OF_TURNS:
        modules = {room} | graph.find_descendants(room)
        for forbidden in NEVER_IN_A_TURN:
            targets = {forbidden} | graph.find_descendants(forbidden)
            for target in targets & graph.modules:
                chains = [graph.find_shortest_chain(importer=one, imported=target) for one in modules]
                assert not any(chains), next(chain for chain in chains if chain)
