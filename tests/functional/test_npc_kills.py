"""A server that is killed during an NPC's turn leaves no turn open: the next one settles it, and the NPC remembers."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.fork_server import server_process
from tests.game_client import game, spoken

from fabula.actions.npcs.left_turns import settle_left_turns
from fabula.ports.npcs import NpcKey
from fabula.settings import Settings
from fabula.story.npc import GameEvent, PlayedTag
from fabula.testing.model_script import Behaviour, Pace, Say
from fabula.testing.model_server import ModelServer
from fabula.wiring import open_house

pytestmark = pytest.mark.all

MOMENTS = ("nothing", "get_agent_state", "agent_turn_started", "agent_tag_chunk", "agent_turn_finished")
"""What the game has heard when the server dies; the turn is written down somewhere between the second and the third."""


def statuses(data: Path) -> list[str]:
    with closing(sqlite3.connect(data / "fabula.db")) as database:
        return [status for (status,) in database.execute("SELECT status FROM npc_entries ORDER BY number")]


@pytest.mark.parametrize("heard", MOMENTS)
async def test_a_turn_that_a_killed_server_left_open_is_settled_by_the_next_one(tmp_path: Path, heard: str) -> None:
    answer: Behaviour = Say(text="<say>" + "word " * 20 + "</say>", pace=Pace(tokens_per_second=40))
    async with ModelServer([answer] * 3) as model:
        settings = {"OPENAI_API_BASE": model.base_url, "LLM_MODEL": "scripted-small", "FABULA_SAMPLES": "false"}
        with server_process(tmp_path / "data", settings=settings) as (process, first):
            async with game(first) as mine:
                await mine.send("hello", client="my-game")
                await mine.next("welcome")
                await mine.say("Beware of the heron.")
                if heard != "nothing":
                    await mine.next(heard)
                await asyncio.to_thread(process.kill)
                await asyncio.to_thread(process.wait)
        before = statuses(tmp_path / "data")
        with server_process(tmp_path / "data", settings=settings) as (_, second):
            async with asyncio.timeout(120):
                while "open" in statuses(tmp_path / "data"):
                    await asyncio.sleep(0.05)
            async with game(second) as again:
                await again.send("hello", client="my-game")
                await again.next("welcome")
                assert spoken(await again.turn("And then?"))
                assert ("heron" in json.dumps(model.requests[-1].body)) == bool(before)


async def test_only_turns_from_before_the_process_are_settled_and_the_games_word_still_counts(tmp_path: Path) -> None:
    mara, event = NpcKey(game_id="g", agent_id="mara"), GameEvent(event_id="e", text="Beware of the heron.")
    async with open_house(Settings(data_dir=tmp_path, samples=False)) as house:
        opened = house.clock.now_ms() + 60_000
        async with house.store.writing() as unit:
            await unit.npcs.begin(mara, turn_id="t1", connection_id="c", event=event)
        assert await settle_left_turns(house, opened_at_ms=opened - 120_000) == 0, "it may still be played"
        assert await settle_left_turns(house, opened_at_ms=opened) == 1
        async with house.store.writing() as unit:
            [kept] = await unit.npcs.recent(mara, limit=5)
            assert kept.lived.unconfirmed and kept.lived.played == []
            heard = [PlayedTag(text="I will.")]
            assert await unit.npcs.settle(mara, turn_id="t1", played=heard, confirmed=True) == "kept"
            [confirmed] = await unit.npcs.recent(mara, limit=5)
            assert confirmed.lived.played == heard and not confirmed.lived.unconfirmed
