"""SIGKILL while canon is committed: a scene is finalizing until all of it is canon, and nothing of it is so twice."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.fork_server import ForkServer, script
from tests.functional.test_canon_in_plays import WORLD_FACTS, campaign, facts, open_gate, started
from tests.functional.test_followers import all_done
from tests.functional.test_hot_path import followers_held_up
from tests.live import Client, bodies, live_server
from tests.turn_kills import Victim, victim

from fabula.story.values import JsonObject
from fabula.testing.model_script import Behaviour, Say
from fabula.testing.troupe import Troupe, is_for_extractor

pytestmark = pytest.mark.all

COMMITTER = script(Path(__file__).with_name("canon_committer.py"))


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        yield client


async def keeper_killed(client: Client, session: str, turn_id: str, *, after: int) -> bool:
    """Whether a keeper in a process of its own died, which it does after so many steps."""
    settings = client.house.settings.model_dump_json()
    process = await asyncio.create_subprocess_exec(*COMMITTER, settings, session, turn_id, str(after))
    code = await process.wait()
    assert code in (0, -signal.SIGKILL)
    return code != 0


async def commits(client: Client, session: str) -> list[tuple[str, int]]:
    listed = (await client.call("canon.commits", session))["commits"]
    return [(one["status"], one["accepted"]) for one in listed]


async def changed(client: Client, session: str) -> list[tuple[str, str]]:
    listed = (await client.call("canon.list", session))["changes"]
    return [(json.dumps(one["content"], sort_keys=True), one["status"]) for one in listed]


async def seen(client: Client, session: str) -> tuple[list[tuple[str, int]], list[tuple[str, str]], list[Any]]:
    return await commits(client, session), await changed(client, session), await facts(client, session)


async def test_a_keeper_killed_at_any_step_leaves_nothing_or_all_and_the_work_on_it_is_done_again(
    client: Client,
) -> None:
    session = await started(client, await campaign(client))
    with followers_held_up(client):
        await client.turn(session, "I promise Mara to come back.")
        await open_gate(client, session)
        head = (await client.call("session.get", session))["head_turn_id"]
        staged = await changed(client, session)
        steps = 0
        while await keeper_killed(client, session, head, after=steps):
            steps += 1
            if await commits(client, session) != [("finalizing", 0)]:
                break
            assert await changed(client, session) == staged
            assert await facts(client, session) == WORLD_FACTS
        assert steps >= 5, "before what is staged, the rulings, the record, the end, and after it"
        whole = await seen(client, session)
        assert len(whole[1]) == len(set(whole[1])) > len(staged)
    # The work still waits; who does it finds that nothing is left to do.
    await all_done(client)
    assert await seen(client, session) == whole and whole[0][0][0] == "committed"


class DeadlyTroupe(Troupe):
    """Answers as it should, and calls `when_asked` when the extractor asks it for the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.when_asked: Callable[[], None] | None = None
        self.asked = asyncio.Event()

    def __call__(self, request: JsonObject) -> Behaviour | str:
        if is_for_extractor(request) and self.when_asked is not None:
            self.when_asked()
            self.when_asked = None
            self.asked.set()
        return super().__call__(request)


@pytest.fixture
async def killed(fork_server: ForkServer, place: Place, tmp_path: Path) -> AsyncIterator[Victim]:
    environment = {**place.environment, "FABULA_SUMMARIES": "auto"}
    async with victim(fork_server, tmp_path, DeadlyTroupe(), environment=environment) as it:
        yield it


async def finished(it: Victim, session: str) -> dict[str, Any]:
    """The newest commit of a play, once it is no longer finalizing."""
    for _ in range(1200):
        listed = (await it.client.call("canon.commits", session))["commits"]
        if listed and listed[0]["status"] == "committed":
            return dict(listed[0])
        await asyncio.sleep(0.05)
    raise AssertionError("the scene is still finalizing")


async def test_a_server_killed_while_its_keeper_asks_a_model_commits_after_its_start(killed: Victim) -> None:
    await killed.client.call("world.create", world_id="sarn", display_name="Sarn")
    await killed.client.call("story.update", story_id=killed.story_id, world_id="sarn")
    session = await killed.session("swift")
    (told, *_) = [
        body["response"]["text"]
        for body in bodies(await killed.client.turn(session, "I look around."))
        if body["type"] == "narrator_completed"
    ]
    troupe = killed.troupe
    assert isinstance(troupe, DeadlyTroupe)
    claim = {"kind": "fact", "subject": "mara", "predicate": "owns", "object": "a key", "quote": told[:40]}
    troupe.extraction, troupe.when_asked = Say(text=json.dumps([claim])), killed.kill
    await open_gate(killed.client, session)
    await asyncio.wait_for(troupe.asked.wait(), 120)
    await killed.start()
    assert (await finished(killed, session))["pending"] == 1
    listed = (await killed.client.call("canon.list", session))["changes"]
    assert [(one["content"]["object"], one["status"]) for one in listed] == [("a key", "pending")]
    outbox = (await killed.client.call("outbox.list"))["items"]
    assert [item for item in outbox if item["state"] == "dead"] == []
