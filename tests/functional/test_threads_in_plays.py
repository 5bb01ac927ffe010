"""Plot threads in worlds and plays: turns move them by rule, a game master by hand, and going back finds them as they
were."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.conftest import Place
from tests.functional.test_agendas_in_plays import moving_world
from tests.functional.test_canon_in_plays import open_gate, started
from tests.functional.test_followers import all_done
from tests.live import Client, RpcFailed, live_server

OPENED = {"condition": {"key": "gate_open", "op": "eq", "value": True}}


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        yield client


async def plotted_world(client: Client) -> str:
    """A story in a world with agendas and three threads."""
    story = await moving_world(client)
    for thread in (
        {"thread_id": "gate", "title": "What is behind the gate?", "priority": 5, "pay_off": OPENED},
        {"thread_id": "ferries", "title": "Why ferries?", "clock_id": "ferries", "on_full": "resolved"},
        {"thread_id": "debt", "title": "What does Mara owe?", "foreshadows": True, "lasts": 500},
    ):
        await client.call("thread.update", world_id="sarn", **thread)
    return story


async def threads(client: Client, session: str | None = None) -> dict[str, str]:
    asked = {} if session else {"world_id": "sarn"}
    return {one["thread_id"]: one["status"] for one in (await client.call("thread.list", session, **asked))["threads"]}


async def test_turns_move_threads_and_tell_it(client: Client) -> None:
    session = await started(client, await plotted_world(client), seed=7)
    listed = await client.call("thread.list", session)
    assert [one["thread_id"] for one in listed["threads"]] == ["gate", "ferries", "debt"]
    assert listed["arc"]["label"] == "opening" and listed["threads"][2]["owed"] is True
    assert await threads(client) == {"gate": "waiting", "ferries": "waiting", "debt": "waiting"}
    for _ in range(4):
        await client.turn(session, "I wait here.")
    told = await open_gate(client, session)
    moved = {body["thread_id"]: (body["status"], body["why"]) for body in told if body["type"] == "thread_changed"}
    assert moved == {
        "gate": ("resolved", "It was paid off."),
        "ferries": ("resolved", "Forty ferries lie below the bridge."),
        "debt": ("abandoned", "The story ended."),
    }
    done = await client.call("thread.list", session)
    assert done["arc"]["label"] == "ended"
    (gate,) = [one for one in done["threads"] if one["thread_id"] == "gate"]
    assert [(one["status"], one["turn_index"]) for one in gate["moves"]] == [("open", 0), ("resolved", 5)]


async def test_time_that_passes_by_hand_moves_threads_and_going_back_takes_them_back(client: Client) -> None:
    session = await started(client, await plotted_world(client))
    before = await client.call("session.get", session)
    await client.call("world.advance", session, duration="1 day")
    assert await threads(client, session) == {"gate": "open", "ferries": "resolved", "debt": "abandoned"}
    there = await client.call("session.get", session)
    await client.call("session.backtrack", session, turn_id=before["head_turn_id"])
    assert (await client.call("session.get", session))["state_hash"] == before["state_hash"]
    assert await threads(client, session) == {"gate": "open", "ferries": "open", "debt": "open"}
    await client.call("session.switch_branch", session, turn_id=there["head_turn_id"])
    assert (await client.call("session.get", session))["state_hash"] == there["state_hash"]


async def test_a_game_master_moves_threads_and_adds_some_in_one_play_alone(client: Client) -> None:
    story = await plotted_world(client)
    session, other = await started(client, story), await started(client, story)
    moved = await client.call(
        "thread.update", session, thread_id="debt", status="advanced", why="She wept.", priority=5
    )
    assert (moved["status"], moved["priority"], moved["moves"][-1]["why"]) == ("advanced", 5, "She wept.")
    own = await client.call("thread.update", session, thread_id="song", title="Who sings at night?")
    assert (own["status"], own["own"]) == ("open", True)
    assert (await threads(client, session))["song"] == "open" and "song" not in await threads(client, other)
    assert (await client.call("thread.list", session))["arc"]["label"] == "rising"
    with pytest.raises(RpcFailed, match="only status, priority, deadline can be set, and not title"):
        await client.call("thread.update", session, thread_id="gate", title="Another gate?")
    with pytest.raises(RpcFailed, match="a new one needs a title"):
        await client.call("thread.update", session, thread_id="nobody", priority=1)
    with pytest.raises(RpcFailed, match="it moves in plays"):
        await client.call("thread.update", world_id="sarn", thread_id="gate", status="resolved")
    with pytest.raises(RpcFailed, match="'nobody', which does not exist"):
        await client.call("thread.update", world_id="sarn", thread_id="x", title="X", clock_id="nobody")
    await client.call("thread.update", world_id="sarn", thread_id="gate", title="What lies behind?", priority=1)
    assert {one["title"] for one in (await client.call("thread.list", other))["threads"]} >= {"What lies behind?"}


async def test_the_timeline_of_a_play_has_its_scenes_agendas_and_threads_in_their_order(client: Client) -> None:
    session = await started(client, await plotted_world(client), seed=7)
    for _ in range(4):
        await client.turn(session, "I wait here.")
    head = (await client.call("session.get", session))["head_turn_id"]
    await open_gate(client, session)
    await all_done(client)
    line = (await client.call("timeline.list", session))["moments"]
    assert [one["at"] for one in line] == sorted(one["at"] for one in line)
    told = {(one["lane"], one["sentence"]) for one in line}
    assert {
        ("scenes", "The Gate"),
        ("agendas", "Forty ferries lie below the bridge."),
        ("threads", "What is behind the gate? (open)"),
        ("threads", "What is behind the gate? (resolved)"),
    } <= told
    only = (await client.call("timeline.list", session, lanes=["threads"], **{"from": 1}))["moments"]
    assert {one["lane"] for one in only} == {"threads"} and all(one["at"] >= 1 for one in only)
    parts: list[dict[str, Any]] = []
    cursor: str | None = None
    while cursor is not None or not parts:
        part = await client.call("timeline.list", session, limit=2, **({"cursor": cursor} if cursor else {}))
        parts += part["moments"]
        cursor = part.get("next_cursor")
    assert parts == line
    await client.call("session.switch_branch", session, turn_id=head)
    before = (await client.call("timeline.list", session))["moments"]
    assert {one["lane"] for one in before} == {"threads"} and len(before) == 3
