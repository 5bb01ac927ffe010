"""A thousand sudden deaths of a server on which several players play at once, in both paces.

1. Players play chapters of a few turns each; at random moments the server gets SIGKILL and is started again.
2. A player whose connection broke looks where the session stands, and goes on from there.
3. Every finished chapter must be, line by line and hash by hash, what an undisturbed play of the same words is.
"""

from __future__ import annotations

import asyncio
import os
import random
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import Place
from tests.fork_server import ForkServer
from tests.live import RpcFailed
from tests.scripted import PACES
from tests.turn_kills import Victim, lines, victim

pytestmark = pytest.mark.torture

KILLS = {"sqlite": int(os.environ.get("KILLS", "1000")), "postgres": int(os.environ.get("KILLS", "1000")) // 5}
PLAYERS, TURNS = 6, 8
MOST_CALLS, LONGEST_PAUSE_S, PATIENCE_S = 16, 0.15, 20.0
BROKEN = (httpx.HTTPError, RuntimeError)


@dataclass(kw_only=True)
class Tally:
    """What came of it."""

    chapters: int = 0
    turns: int = 0
    failed_cleanly: int = 0
    wrong: list[str] = field(default_factory=list)


def words(number: int) -> str:
    return f"I try door number {number}."


async def undisturbed(it: Victim, pace: str) -> list[dict[str, Any]]:
    """A chapter without a kill: the session after each of its turns."""
    session_id = await it.session(pace)
    found = []
    for number in range(TURNS):
        assert (await it.client.turn(session_id, words(number)))[-1]["type"] == "completed"
        found.append(await it.rested(session_id))
    return found


async def play_chapter(it: Victim, pace: str, expected: list[dict[str, Any]], tally: Tally) -> None:
    session_id = await insist(lambda: it.session(pace))
    for number in range(TURNS):
        await play_turn(it, session_id, number, tally)
        tally.turns += 1
    session = await insist(lambda: it.rested(session_id))
    last = expected[TURNS - 1]
    turns = (await insist(lambda: it.client.call("session.branches", session_id)))["turns"]
    committed = [turn["state_hash"] for turn in turns if turn["status"] == "committed"]
    if (session["state_hash"], lines(session)) != (last["state_hash"], lines(last)):
        tally.wrong.append(f"{session_id} reads differently")
    if committed[1:] != [one["state_hash"] for one in expected]:
        tally.wrong.append(f"{session_id} has other turns: {committed}")
    tally.chapters += 1


async def play_turn(it: Victim, session_id: str, number: int, tally: Tally) -> None:
    """Says the words until they are part of the story, once."""
    while True:
        session = await insist(lambda: it.rested(session_id))
        if session["turn_index"] > number:
            return
        try:
            await it.client.turn(session_id, "", method="session.retry_turn")
            tally.failed_cleanly += 1
        except RpcFailed as nothing_failed:
            if nothing_failed.code == 40404:
                await say(it, session_id, words(number))
        except BROKEN:
            pass


async def say(it: Victim, session_id: str, text: str) -> None:
    try:
        await it.client.turn(session_id, text)
    except (*BROKEN, RpcFailed):
        await asyncio.sleep(0.05)


async def insist(question: Any) -> Any:
    """Asks until there is an answer; a server that was killed comes back."""
    while True:
        try:
            return await question()
        except (*BROKEN, KeyError):
            await asyncio.sleep(0.05)


async def kill_again_and_again(it: Victim, kills: int, chance: random.Random) -> None:
    """A life lasts some model calls and a moment more, so that kills find turns under way on any machine."""
    while it.kills < kills:
        enough = len(it.troupe.calls) + chance.randint(0, MOST_CALLS)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while len(it.troupe.calls) < enough:
                    await asyncio.sleep(0.005)
        await asyncio.sleep(chance.uniform(0, LONGEST_PAUSE_S))
        it.kill()
        await it.start()


@pytest.mark.parametrize("engine", KILLS)
async def test_a_thousand_kills_under_load_leave_every_play_as_if_nothing_had_happened(
    fork_server: ForkServer, engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place: Place = request.getfixturevalue(f"{engine}_place")
    tally, chance = Tally(), random.Random(1)
    async with victim(fork_server, tmp_path, environment=place.environment) as it:
        expected = {pace: await undisturbed(it, pace) for pace in PACES}
        killing = asyncio.create_task(kill_again_and_again(it, KILLS[engine], chance))

        async def player(number: int) -> None:
            pace = PACES[number % len(PACES)]
            while not killing.done():
                await play_chapter(it, pace, expected[pace], tally)

        await asyncio.gather(killing, *(player(number) for number in range(PLAYERS)))
        assert it.kills == KILLS[engine]
    assert tally.wrong == []
    assert tally.chapters >= PLAYERS
    print(f"\n{KILLS[engine]} kills on {engine}: {tally}")  # noqa: T201 - figures for who runs it
