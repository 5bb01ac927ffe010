"""What follows a turn: written with it, done once, in time, on its own line, and never in the way of the next turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from tests.conftest import Place
from tests.live import Client, RpcFailed, gate_session, live_server

from fabula.actions.followers.dispatch import FOLLOWER_WORK
from fabula.actions.plays.past_summaries import story_so_far
from fabula.ports.work import Lease, NewWork, Work
from fabula.story.error_values import ErrorValue
from fabula.story.followers import SUMMARY_EVERY
from fabula.story.summaries import StorySoFar, Summary


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        yield client


async def all_done(client: Client, kinds: Sequence[str] = FOLLOWER_WORK) -> None:
    """Waits until nothing follows any turn, or until no other work of these kinds is left."""
    for _ in range(600):
        async with client.house.store.reading() as unit:
            if not await unit.work.unfinished(kinds):
                return
        client.house.work.wake()
        await asyncio.sleep(0.05)
    raise AssertionError("what follows the turns is not done")


async def ladder_at(client: Client, session_id: str) -> StorySoFar | None:
    head = (await client.call("session.get", session_id, history="none"))["head_turn_id"]
    async with client.house.store.reading() as unit:
        return await story_so_far(unit, head)


async def played(client: Client, session_id: str, turns: int, words: str = "I look at the gate, number {}.") -> None:
    for number in range(turns):
        assert (await client.turn(session_id, words.format(number)))[-1]["type"] == "completed"


async def test_a_line_is_summed_up_soon_after_enough_of_it_was_played(client: Client) -> None:
    session_id = await gate_session(client)
    await played(client, session_id, SUMMARY_EVERY)
    await all_done(client)
    ladder = await ladder_at(client, session_id)
    assert ladder is not None and ladder.last_turn == SUMMARY_EVERY
    assert "You look at the gate, number" in ladder.text
    [scene] = ladder.scenes
    assert (scene.title, scene.first_turn, scene.last_turn) == ("The Gate", 1, SUMMARY_EVERY)


async def test_what_followed_a_turn_stands_in_its_trace(client: Client) -> None:
    session_id = await gate_session(client)
    await played(client, session_id, SUMMARY_EVERY)
    await all_done(client)
    head = (await client.call("session.get", session_id, history="none"))["head_turn_id"]
    told = await client.call("session.explain_turn", session_id, turn_id=head)
    assert [(one["kind"], one["state"], one["outcome"]) for one in told["followers"]] == [
        ("followers", "done", "done"),
        ("memory.add_and_embed", "done", "done"),
        ("summary.update", "done", "done"),
    ]
    assert all(one["took_ms"] is not None for one in told["followers"])


async def test_going_back_brings_back_the_summary_of_that_turn_and_no_other_line_gets_in(client: Client) -> None:
    session_id = await gate_session(client)
    await played(client, session_id, SUMMARY_EVERY)
    await all_done(client)
    first = await ladder_at(client, session_id)
    await played(client, session_id, SUMMARY_EVERY, "I count the stars, number {}.")
    await all_done(client)
    left = await ladder_at(client, session_id)
    await client.call("session.backtrack", session_id, turns=SUMMARY_EVERY)
    assert await ladder_at(client, session_id) == first != left
    await played(client, session_id, SUMMARY_EVERY, "I hum a song, number {}.")
    await all_done(client)
    other = await ladder_at(client, session_id)
    assert other is not None and "star" not in other.text and other.last_turn == 2 * SUMMARY_EVERY


async def test_the_recap_of_a_long_play_begins_with_what_was_summed_up(client: Client) -> None:
    session_id = await gate_session(client)
    await played(client, session_id, 1)
    head = (await client.call("session.get", session_id, history="none"))["head_turn_id"]
    assert (await client.call("session.recap", session_id))["from"] == "understudy"
    chapter = Summary(
        title="The Road", first_turn=0, last_turn=0, text="Long ago you left the burning mill behind you."
    )
    async with client.house.store.writing() as unit:
        await unit.plays.keep_summary(head, StorySoFar(chapters=[chapter]).as_json())
    told = await client.call("session.recap", session_id)
    assert told["from"] == "summary" and told["text"].startswith("Long ago you left the burning mill behind you.\n\n")
    since = await client.call("session.recap", session_id, since_turn_id=head)
    assert "mill" not in since["text"]


async def test_a_turn_with_nothing_to_sum_up_leaves_no_row_behind(client: Client) -> None:
    session_id = await gate_session(client)
    await played(client, session_id, 2)
    async with client.house.store.reading() as unit:
        assert [work.kind for work in await unit.work.of_subject(session_id)] == ["turn", "turn"]


async def test_a_follower_is_keyed_by_its_turn_and_done_once(client: Client) -> None:
    session_id = await gate_session(client)
    await played(client, session_id, SUMMARY_EVERY)
    await all_done(client)
    async with client.house.store.writing() as unit:
        every = [work for work in await unit.work.of_subject(session_id) if work.kind == "followers"]
        [dispatched] = [work for work in every if "summary" in str(work.input["kinds"])]
        again = await unit.work.begin(
            NewWork(work_id="again", kind="followers", key=dispatched.key, subject=session_id, input=dispatched.input)
        )
    assert again.work_id == dispatched.work_id
    async with client.house.store.reading() as unit:
        kinds = [work.kind for work in await unit.work.of_subject(session_id)]
    assert kinds.count("summary.update") == 1


async def buried(client: Client, turn_id: str = "turn_gone") -> Work:
    """A follower that failed as often as it may."""
    house, reason = client.house, ErrorValue(name="backend", message="It did not work.")
    async with house.store.writing() as unit:
        held = Lease(owner="dead", until_ms=house.clock.now_ms() + 10_000)
        new = NewWork(
            work_id=f"work_{turn_id}", kind="summary.update", key=turn_id, input={"turn_id": turn_id}, held=held
        )
        work = await unit.work.begin(new)
        assert await unit.work.bury(work, reason)
    return work


async def test_what_was_buried_is_listed_with_its_reason_and_can_be_tried_again(client: Client) -> None:
    work = await buried(client)
    [item] = (await client.call("outbox.list", state="dead"))["items"]
    assert (item["id"], item["state"], item["error"]) == (work.work_id, "dead", "It did not work.")
    assert [item] == (await client.call("work.list", state="dead"))["work"], "both show the same"
    assert (await client.call("outbox.retry", id=work.work_id))["state"] == "waiting"
    await all_done(client)  # the turn is gone: there is nothing to sum up
    assert (await client.call("outbox.list"))["items"] == []


async def test_what_was_buried_can_be_dropped_and_what_is_done_cannot(client: Client) -> None:
    work = await buried(client)
    assert (await client.call("outbox.drop", id=work.work_id))["id"] == work.work_id
    assert (await client.call("outbox.list"))["items"] == []
    for method in ("outbox.retry", "outbox.drop"):
        with pytest.raises(RpcFailed) as refused:
            await client.call(method, id=work.work_id)
        assert refused.value.code == 40909
    with pytest.raises(RpcFailed) as unknown:
        await client.call("outbox.drop", id="nothing")
    assert unknown.value.code == 40404


async def test_the_outbox_is_read_in_parts(client: Client) -> None:
    ids = [(await buried(client, f"turn_{number}")).work_id for number in range(5)]
    first = await client.call("outbox.list", limit=3)
    rest = await client.call("outbox.list", limit=3, cursor=first["next_cursor"])
    assert [item["id"] for item in (*first["items"], *rest["items"])] == ids and "next_cursor" not in rest
