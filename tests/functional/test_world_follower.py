"""The world follows its turns: journal and whereabouts, applied once, in order, each on its own line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.conftest import Place
from tests.live import Client, RpcFailed, gate_story, live_server

from fabula.actions.followers.dispatch import FOLLOWER_WORK
from fabula.actions.followers.world_changes import AT_ONCE, apply_world
from fabula.actions.work.work_kind import HeldWork, Unheard
from fabula.ports.work import Lease, NewWork

QUESTS = [
    {
        "quest_id": "garden",
        "title": "See the garden",
        "text": "They say that the roses still bloom.",
        "done": {"nodes": ["garden"]},
    },
    {
        "quest_id": "secret",
        "title": "Learn the word",
        "opens": {"condition": {"scope": "character", "character": "mara", "key": "trust", "op": "gte", "value": 1}},
        "done": {"condition": {"scope": "character", "character": "mara", "key": "trust", "op": "gte", "value": 2}},
        "fails": {"condition": {"scope": "character", "character": "mara", "key": "trust", "op": "lt", "value": 0}},
    },
]
WORLD = {
    "calendar": {"minutes_per_turn": 30, "begins": {"year": 1887, "month": 3, "day": 3, "hour": 16}},
    "schedules": {"mara": {"usual": {"afternoon": "gate", "evening": "gate", "night": "garden"}}},
    "quests": QUESTS,
}


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        yield client


async def timed_session(client: Client) -> tuple[str, str]:
    story_id = await gate_story(client)
    await client.call("story.update", story_id=story_id, world=WORLD)
    answer = await client.raw("story.start_session", story_id=story_id)
    return story_id, str(answer["session_id"])


async def all_done(client: Client) -> None:
    """Waits until nothing follows any turn."""
    for _ in range(600):
        async with client.house.store.reading() as unit:
            if not await unit.work.unfinished(FOLLOWER_WORK):
                return
        client.house.work.wake()
        await asyncio.sleep(0.05)
    raise AssertionError("what follows the turns is not done")


async def journal(client: Client, session_id: str) -> dict[str, str]:
    """What stands in the journal once everything is applied, by its id."""
    await all_done(client)
    listed = await client.call("journal.list", session_id)
    assert listed["applied_version"] == listed["world_version"]
    return {entry["entry_id"]: entry["status"] for entry in listed["entries"]}


async def set_trust(client: Client, session_id: str, trust: int) -> None:
    op = {"type": "SetCharacterState", "character": "mara", "key": "trust", "value": trust}
    await client.call("session.update_variables", session_id, update={"ops": [op]})


async def test_the_clock_is_in_the_snapshot_and_goes_back_with_the_play(client: Client) -> None:
    _, session_id = await timed_session(client)
    for _ in range(5):
        await client.turn(session_id, "I look at the gate.")
    await all_done(client)
    snapshot = (await client.call("session.get", session_id))["snapshot"]
    assert (snapshot["time"]["hour"], snapshot["time"]["phase"], snapshot["time"]["year"]) == (18, "evening", 1887)
    assert snapshot["world_version"] == snapshot["applied_version"] == 2
    await client.call("session.backtrack", session_id, turns=5)
    assert (await client.call("session.get", session_id))["snapshot"]["time"]["minutes"] == 0


async def test_the_journal_is_kept_by_rule_with_the_turns_that_moved_it(client: Client) -> None:
    _, session_id = await timed_session(client)
    assert await journal(client, session_id) == {"lead:gate": "open", "quest:garden": "open"}
    await set_trust(client, session_id, 1)
    assert (await journal(client, session_id))["quest:secret"] == "open"
    await client.turn(session_id, "I open the gate.")
    assert await journal(client, session_id) == {
        "lead:gate": "done",
        "quest:garden": "done",
        "quest:secret": "failed",
    }, "the play has ended, and what was open has failed"
    head = (await client.call("session.get", session_id, history="none"))["head_turn_id"]
    [garden] = [
        entry
        for entry in (await client.call("journal.list", session_id))["entries"]
        if entry["title"] == "See the garden"
    ]
    assert [move["status"] for move in garden["moves"]] == ["open", "done"] and garden["moves"][-1]["turn_id"] == head
    assert (await client.call("journal.list", session_id, status="open"))["entries"] == []


async def test_going_back_brings_back_the_journal_of_that_turn_and_two_branches_never_mix(client: Client) -> None:
    _, session_id = await timed_session(client)
    await client.turn(session_id, "I look at the gate.")
    before = await journal(client, session_id)
    at = (await client.call("session.get", session_id, history="none"))["head_turn_id"]
    await set_trust(client, session_id, 1)
    await set_trust(client, session_id, 2)
    left = await journal(client, session_id)
    assert left["quest:secret"] == "done"
    await client.call("session.switch_branch", session_id, turn_id=at)
    assert await journal(client, session_id) == before
    await set_trust(client, session_id, 1)
    await set_trust(client, session_id, -1)
    assert (await journal(client, session_id))["quest:secret"] == "failed"


async def test_one_that_comes_early_does_first_what_should_have_come_before_it(client: Client) -> None:
    """As if the dispatcher had lost two turns, and a worker got the third at once."""
    _, session_id = await timed_session(client)
    await all_done(client)
    house, turns = client.house, list[str]()
    await house.work.close()
    for trust in (1, 2):
        await set_trust(client, session_id, trust)
        turns.append((await client.call("session.get", session_id, history="none"))["head_turn_id"])
    listed = await client.call("journal.list", session_id)
    assert (listed["world_version"], listed["applied_version"]) == (3, 1)
    async with house.store.writing() as unit:
        lease = Lease(owner="test", until_ms=house.clock.now_ms() + 10_000)
        early = await unit.work.begin(
            NewWork(
                work_id="early",
                kind="world.apply",
                key=turns[1],
                subject=session_id,
                input={"turn_id": turns[1]},
                held=lease,
            )
        )
    await apply_world(house, HeldWork(work=early, sender=Unheard()))
    listed = await client.call("journal.list", session_id)
    assert (listed["world_version"], listed["applied_version"]) == (3, 3)
    [secret] = [entry for entry in listed["entries"] if entry["entry_id"] == "quest:secret"]
    assert [(move["turn_id"], move["status"]) for move in secret["moves"]] == [(turns[0], "open"), (turns[1], "done")]
    async with house.store.reading() as unit:
        records = [await unit.plays.nearest_world(turn_id, within=0) for turn_id in turns]
    assert [record["version"] for record in records if record] == [2, 3]


@pytest.mark.all
async def test_very_many_that_were_left_behind_are_applied_in_parts_and_all_of_them(client: Client) -> None:
    _, session_id = await timed_session(client)
    await all_done(client)
    house = client.house
    await house.work.close()
    for trust in range(1, AT_ONCE + 3):
        await set_trust(client, session_id, trust)
    head = (await client.call("session.get", session_id, history="none"))["head_turn_id"]
    new = NewWork(
        work_id="late",
        kind="world.apply",
        key=head,
        subject=session_id,
        input={"turn_id": head},
        held=Lease(owner="test", until_ms=house.clock.now_ms() + 10_000),
    )
    late = await house.store.write(lambda unit: unit.work.begin(new))
    await apply_world(house, HeldWork(work=late, sender=Unheard()))
    listed = await client.call("journal.list", session_id)
    assert listed["world_version"] == listed["applied_version"] == AT_ONCE + 3
    done = await house.store.read(lambda unit: unit.work.get("late"))
    assert done is not None and done.status == "done"


async def test_a_story_without_a_calendar_has_no_clock_no_journal_and_no_rows(client: Client) -> None:
    answer = await client.raw("story.start_session", story_id=await gate_story(client))
    session_id = str(answer["session_id"])
    await client.turn(session_id, "I look at the gate.")
    listed = await client.call("journal.list", session_id)
    assert (listed["entries"], listed["world_version"], listed["applied_version"]) == ([], 0, 0)
    assert "time" not in (await client.call("session.get", session_id))["snapshot"]
    async with client.house.store.reading() as unit:
        assert [work.kind for work in await unit.work.of_subject(session_id)] == ["turn"]


async def test_authors_keep_calendar_and_schedules_and_see_where_somebody_is(client: Client) -> None:
    story_id, session_id = await timed_session(client)
    shown = await client.call("calendar.get", story_id=story_id)
    assert shown["begins"]["month"] == "March" and shown["calendar"]["minutes_per_turn"] == 30
    await client.turn(session_id, "I wait until night.")
    await all_done(client)
    found = await client.call("schedule.get", story_id=story_id, character_id="mara", in_session_id=session_id)
    assert [stay["node_id"] for stay in found["stays"]] == ["gate", "garden"]
    asleep = {"usual": {"night": "gate"}}
    changed = await client.call("schedule.update", story_id=story_id, character_id="mara", schedule=asleep)
    assert changed["schedule"] == asleep
    await client.call("calendar.update", story_id=story_id, calendar=None)
    assert (await client.call("calendar.get", story_id=story_id))["calendar"] is None


@pytest.mark.parametrize(
    ("method", "params", "reason"),
    [
        ("calendar.update", {"calendar": {"wakes_at": "tea"}}, "no phase 'tea'"),
        ("schedule.update", {"character_id": "mara", "schedule": {"usual": {"tea": "gate"}}}, "phase 'tea'"),
        ("schedule.update", {"character_id": "mara", "schedule": {"usual": {"night": "moon"}}}, "node 'moon'"),
        ("schedule.update", {"character_id": "nobody", "schedule": {"usual": {}}}, "not in the cast"),
        ("story.update", {"world": {"quests": [{"quest_id": "q", "title": "Q", "done": {}}]}}, "neither a node"),
    ],
)
async def test_what_cannot_be_is_refused_with_its_reason(
    client: Client, method: str, params: dict[str, Any], reason: str
) -> None:
    story_id, _ = await timed_session(client)
    with pytest.raises(RpcFailed) as refused:
        await client.call(method, story_id=story_id, **params)
    assert reason in str(refused.value)
