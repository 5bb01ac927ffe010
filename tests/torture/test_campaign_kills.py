"""A thousand sudden deaths of a server on which campaigns of five scenes are played: each is as if nothing happened."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest
from tests.campaign_kills import (
    SORTS,
    Tally,
    campaign_victim,
    kill_again_and_again,
    play_among_kills,
    play_undisturbed,
)
from tests.conftest import Place
from tests.fork_server import ForkServer

KILLS = int(os.environ.get("KILLS", "1000"))
PLAYERS = 4


@pytest.mark.parametrize(
    ("engine", "kills"),
    [
        pytest.param("sqlite", 6, marks=pytest.mark.all),
        pytest.param("postgres", 6, marks=pytest.mark.all),
        pytest.param("sqlite", KILLS, marks=pytest.mark.torture, id="sqlite-many"),
        pytest.param("postgres", KILLS // 5, marks=pytest.mark.torture, id="postgres-many"),
    ],
)
async def test_campaigns_of_five_scenes_are_the_same_however_often_the_server_is_killed(
    fork_server: ForkServer, engine: str, kills: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place: Place = request.getfixturevalue(f"{engine}_place")
    tally, chance = Tally(), random.Random(int(os.environ.get("SEED", "1")))
    async with campaign_victim(fork_server, tmp_path, place.environment) as it:
        known = [await play_undisturbed(it, sort) for sort in SORTS]
        killing = asyncio.create_task(kill_again_and_again(it, kills, tally, chance))

        async def player(number: int) -> None:
            is_first = True
            while is_first or not killing.done():
                await play_among_kills(it, known[number % len(known)], tally, chance)
                number, is_first = number + 1, False

        async with asyncio.TaskGroup() as players:
            for number in range(PLAYERS):
                players.create_task(player(number))
        await killing
        assert it.kills == kills
    print(f"\n{kills} kills on {engine}: {tally}")  # noqa: T201 - figures for who runs it
    assert tally.wrong == []
    assert set(tally.campaigns) == {sort.name for sort in SORTS}
