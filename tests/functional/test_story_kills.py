"""SIGKILL between scenes: the story loop goes on where the play stands, and no step of it is taken twice."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.campaign_kills import (
    SCENES,
    SORTS,
    asked_of,
    begin,
    campaign_victim,
    differences,
    followed,
    other_prompts,
    play_undisturbed,
    settled,
)
from tests.campaign_kills import seen as seen_whole
from tests.conftest import Place
from tests.fork_server import ForkServer, script
from tests.free_world import free_session, free_world
from tests.functional.test_free_play import ASK_ILSE, ASK_ORR, look, scenes
from tests.functional.test_hot_path import followers_held_up
from tests.live import Client, live_server
from tests.turn_kills import Victim, victim

from fabula.actions.campaigns.story_loop import lead_on

LEADER = script(Path(__file__).with_name("story_leader.py"))


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        yield client


async def leader_killed(client: Client, session: str, *, after: int) -> bool:
    """Whether a process that led the story on died, which it does after so many steps."""
    settings = client.house.settings.model_dump_json()
    process = await asyncio.create_subprocess_exec(*LEADER, settings, session, str(after))
    code = await process.wait()
    assert code in (0, -signal.SIGKILL)
    return code != 0


async def seen(client: Client, session: str) -> dict[str, Any]:
    """What is true of a play, whatever its turns are called."""
    told = await look(client, session)
    titles = [(one["title"], one["status"]) for one in told["scenes"]["scenes"]]
    return {"hash": told["hash"], "lines": told["lines"], "scenes": titles, "clocks": told["clocks"]}


async def killed_between_scenes(client: Client, session: str, steps: Iterable[int]) -> int:
    """Leads the story on after its head, each time killed after so many steps; answers how often it died."""
    over = (await client.call("session.get", session))["head_turn_id"]
    await lead_on(client.house, session)
    wanted, died = await seen(client, session), 0
    for after in steps:
        await client.call("session.switch_branch", session, turn_id=over)
        is_dead = await leader_killed(client, session, after=after)
        died += is_dead
        await lead_on(client.house, session)
        assert await seen(client, session) == wanted, f"killed after {after} steps"
        if not is_dead:
            break
    return died


every = pytest.mark.parametrize(
    "steps", [pytest.param([1, 5, 9, 15], id="some"), pytest.param(range(99), id="every", marks=pytest.mark.all)]
)


@pytest.mark.parametrize("line", ["I go to the ford.", ASK_ORR])
@every
async def test_the_next_scene_begins_once_wherever_its_beginning_was_killed(
    client: Client, line: str, steps: Iterable[int]
) -> None:
    with followers_held_up(client):
        session = await free_session(client)
        await client.turn(session, line)
        assert await killed_between_scenes(client, session, steps) >= 4


@every
async def test_the_story_ends_once_wherever_its_end_was_killed(client: Client, steps: Iterable[int]) -> None:
    with followers_held_up(client):
        session = await free_session(client)
        await client.turn(session, ASK_ORR)
        await client.turn(session, ASK_ILSE)
        assert await killed_between_scenes(client, session, steps) >= 3
    assert (await client.call("session.get", session))["status"] == "ended"


@pytest.fixture
async def killed(fork_server: ForkServer, place: Place, tmp_path: Path) -> AsyncIterator[Victim]:
    async with victim(fork_server, tmp_path, environment=place.environment) as it:
        yield it


async def test_a_turn_that_ends_a_scene_is_killed_inside_its_model_calls_and_the_story_goes_on(
    killed: Victim,
) -> None:
    await free_world(killed.client)
    models = {"api_group_id": "troupe", "preset_id": "ensemble"}
    started = await killed.client.raw("story.start_session", world_id="vale", seed=5, **models)
    session = str(started["session_id"])
    for call in range(2):
        # What the troupe is told to do opens the first way: what somebody there keeps to themselves is told.
        killed.kill_at_call(call + 1)
        await killed.play_until(session, "go on", "")
        await killed.start()
        await killed.rested(session)
        await _settled(killed, session, call + 1)
    shown = await killed.client.call("session.get", session)
    texts = [line["text"] for line in shown["history"] if line["kind"] == "player_input"]
    assert texts == ["go on", "go on"] and killed.kills == 2 and shown["status"] == "ended"
    assert await scenes(killed.client, session) == [("The Mill", "met"), ("The Ford", "met")]


@pytest.mark.all
async def test_turns_that_end_scenes_are_killed_inside_each_of_their_model_calls_and_ask_that_one_again(
    fork_server: ForkServer, place: Place, tmp_path: Path
) -> None:
    (sort,) = (one for one in SORTS if one.by_model)
    async with campaign_victim(fork_server, tmp_path, place.environment) as it:
        known = await play_undisturbed(it, sort)
        begun = await begin(it, sort)
        for line in known.said:
            if line == "go on":
                # A campaign has as many scenes as such a turn has calls: keeper, director, narrator, actor, keeper.
                it.kill_at_call(it.kills)
            kills = it.kills
            await it.play_until(begun.session, line, "")
            if it.kills > kills:
                await it.start()
            await settled(it, begun.session)
            await followed(it, begun.session)
        asked = asked_of(it, begun)
        assert differences(known.seen, await seen_whole(it, begun.session)) == []
    assert other_prompts(known.asked, list(dict.fromkeys(asked))) == []
    assert len(asked) - len(known.asked) == it.kills == SCENES


async def _settled(it: Victim, session: str, scenes_ended: int) -> None:
    """Waits until so many scenes have ended, and the story stands in the next one or is over."""
    for _ in range(600):
        listed = (await it.client.call("scene.list", session))["scenes"]
        loops = (await it.client.call("loop.state", session))["loops"]
        ended = sum(one["status"] != "open" for one in listed)
        if ended == scenes_ended and (not loops or loops[0]["status"] == "sleeping"):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the story does not go on")
