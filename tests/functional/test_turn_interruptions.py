"""Turns that are left alone, cancelled, raced and deleted: each ends once, and is told as it really ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from tests.live import RpcFailed, bodies, live_server, sse
from tests.scripted import PACES, Theatre, theatre

from fabula.actions.turns.turn_runner import turn_kinds
from fabula.actions.work.work_runner import WorkRunner
from fabula.adapters.bus.local import LocalBus
from fabula.adapters.queues.local import LocalQueue
from fabula.agents.presets.templates import PromptRole
from fabula.ports.errors import StoreError
from fabula.ports.plays import NewTurn
from fabula.ports.work import Lease, NewWork
from fabula.story.error_values import ErrorValue
from fabula.story.events import Completed
from fabula.testing.model_script import Behaviour, Fail, Pace, Say
from fabula.testing.model_server import ModelServer
from fabula.testing.troupe import Troupe
from fabula.testing.world import FixedClock

CANCELLED_THERE = ErrorValue(name="cancelled", message="Cancelled there.")
NEVER = Say(text="too late", pace=Pace(first_token_ms=60_000))
SLOWLY = Say(text=" ".join(f"word{number}" for number in range(300)), pace=Pace(tokens_per_second=200))


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Theatre]:
    async with theatre(tmp_path) as opened:
        yield opened


@asynccontextmanager
async def streamed(house: Theatre, session_id: str, words: str = "I knock.") -> AsyncIterator[httpx.Response]:
    request = house.client.request("session.run_turn", session_id, player_input=words)
    async with house.client.http.stream("POST", "/rpc", json=request) as response:
        yield response


async def read_until(response: httpx.Response, mark: str) -> list[dict[str, Any]]:
    """The events up to one that holds the mark."""
    text = ""
    async for chunk in response.aiter_text():
        text += chunk
        if mark in text:
            break
    return sse(text[: text.rfind("\n\n") + 2])


async def begun(house: Theatre, pace: str, behaviour: Behaviour) -> tuple[str, asyncio.Task[list[dict[str, Any]]]]:
    """A session whose turn waits for its model, and the task that reads its frames."""
    session_id = await house.session(pace)
    role: PromptRole = "swift" if pace == "swift" else "narrator"
    house.troupe.misbehave(role, behaviour)
    playing = asyncio.create_task(house.client.turn(session_id, "I knock."))
    while role not in house.troupe.calls:
        await asyncio.sleep(0.01)
    return session_id, playing


async def running(house: Theatre, session_id: str) -> str | None:
    return (await house.client.call("session.get", session_id)).get("active_turn_id")


async def ended(house: Theatre, session_id: str) -> dict[str, Any]:
    """The session, once no turn of it runs any more."""
    while (session := await house.client.call("session.get", session_id)).get("active_turn_id"):
        await asyncio.sleep(0.02)
    return session


@pytest.mark.parametrize("pace", PACES)
async def test_a_client_that_leaves_does_not_stop_the_turn(house: Theatre, pace: str) -> None:
    session_id = await house.session(pace)
    async with streamed(house, session_id) as response:
        seen = await read_until(response, "player_input_recorded")
    session = await ended(house, session_id)
    assert session["turn_index"] == 1 and session["history"][0]["text"] == "I knock."
    last = {"last-event-id": seen[-1]["id"]}
    rest = sse((await house.client.http.get(f"/sessions/{session_id}/events", headers=last)).text)
    sequences = [event["data"]["sequence"] for event in [*seen[1:], *rest]]
    assert sequences == list(range(len(sequences))) and rest[-1]["data"]["frame"]["type"] == "completed"


async def test_who_comes_back_in_the_middle_reads_on_without_a_gap(house: Theatre) -> None:
    session_id = await house.session("swift")
    house.troupe.misbehave("swift", Say(text=f"<narration>{SLOWLY.text}</narration>", pace=SLOWLY.pace))
    async with streamed(house, session_id) as response:
        seen = await read_until(response, "narrator_text_delta")
    last = {"last-event-id": seen[-1]["id"]}
    rest = sse((await house.client.http.get(f"/sessions/{session_id}/events", headers=last)).text)
    frames = [event["data"]["frame"] for event in [*seen[1:], *rest]]
    told = "".join(body["delta"] for body in bodies(frames) if body["type"] == "narrator_text_delta")
    assert told.split() == SLOWLY.text.split() and frames[-1]["type"] == "completed"


async def test_who_has_seen_a_turn_to_its_end_is_told_the_next_one_that_is_in_flight(house: Theatre) -> None:
    session_id = await house.session("swift")
    request = house.client.request("session.run_turn", session_id, player_input="I knock.")
    seen = sse((await house.client.http.post("/rpc", json=request)).text)[-1]["id"]
    house.troupe.misbehave("swift", Say(text=f"<narration>{SLOWLY.text}</narration>", pace=SLOWLY.pace))
    async with streamed(house, session_id, "I wait.") as response:
        await read_until(response, "narrator_text_delta")
        next_one = await house.client.http.get(f"/sessions/{session_id}/events", headers={"last-event-id": seen})
    events = sse(next_one.text)
    assert [event["data"]["sequence"] for event in events] == list(range(len(events)))
    assert events[-1]["data"]["frame"]["response"]["result"]["player_input"] == "I wait."


async def test_two_listeners_hear_the_same(house: Theatre) -> None:
    session_id, playing = await begun(house, "swift", Say(text=SLOWLY.text, pace=SLOWLY.pace))
    other = await house.client.http.get(f"/sessions/{session_id}/events")
    assert [event["data"]["frame"] for event in sse(other.text)] == await playing


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("behaviour", [NEVER, SLOWLY], ids=["before the first word", "in the middle"])
async def test_cancelling_stops_the_turn_closes_the_call_and_keeps_the_words(
    house: Theatre, pace: str, behaviour: Behaviour
) -> None:
    session_id, playing = await begun(house, pace, behaviour)
    turn_id = await running(house, session_id)
    assert (await house.client.call("session.cancel_turn", session_id))["turn_id"] == turn_id
    frames = await playing
    assert frames[-1]["type"] == "failed" and frames[-1]["error"]["code"] == 50002
    await asyncio.wait_for(house.models.left.wait(), 120)
    assert house.models.cancelled == 1
    session = await house.client.call("session.get", session_id)
    assert session["turn_index"] == 0 and session["history"] == [] and "active_turn_id" not in session
    again = await house.client.turn(session_id, "", method="session.retry_turn")
    assert again[-1]["response"]["result"]["player_input"] == "I knock."


async def test_two_turns_at_once_are_one_turn_and_a_refusal(house: Theatre) -> None:
    session_id = await house.session()
    house.troupe.misbehave("narrator", NEVER)
    asked = [
        asyncio.create_task(
            house.client.http.post(
                "/rpc", json=house.client.request("session.run_turn", session_id, player_input=f"Hello {number}")
            )
        )
        for number in range(2)
    ]
    answered, playing = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
    refused = answered.pop().result()
    assert refused.status_code == 409 and refused.json()["error"]["code"] == 40909
    assert refused.json()["error"]["data"]["active_turn_id"] == await running(house, session_id)
    await house.client.call("session.cancel_turn", session_id)
    assert (await playing.pop()).status_code == 200


async def test_cancelling_when_nothing_runs_is_refused(house: Theatre) -> None:
    session_id = await house.session()
    with pytest.raises(RpcFailed) as refused:
        await house.client.call("session.cancel_turn", session_id)
    assert refused.value.code == 40909


@pytest.mark.parametrize(
    "delay_ms", [at if at % 12 == 0 else pytest.param(at, marks=pytest.mark.all) for at in range(0, 60, 4)]
)
async def test_a_cancel_that_races_with_the_end_agrees_with_what_is_told(house: Theatre, delay_ms: int) -> None:
    session_id = await house.session("swift")
    playing = asyncio.create_task(house.client.turn(session_id, "I knock."))
    while await running(house, session_id) is None and not playing.done():
        await asyncio.sleep(0.001)
    await asyncio.sleep(delay_ms / 1000)
    answer = await house.client.raw("session.cancel_turn", session_id)
    frames, session = await playing, await ended(house, session_id)
    if "result" in answer:
        assert frames[-1]["type"] == "failed" and session["turn_index"] == 0
    else:
        assert answer["error"]["code"] == 40909
        assert frames[-1]["type"] == "completed" and session["turn_index"] == 1
    assert sum(frame["type"] in ("completed", "failed") for frame in frames) == 1


async def test_a_regenerated_turn_that_fails_loses_nothing(house: Theatre) -> None:
    session_id = await house.session()
    await house.client.turn(session_id, "I knock.")
    before = await house.client.call("session.get", session_id)
    house.troupe.misbehave("narrator", *[Fail(status=401)] * 2)
    frames = await house.client.turn(session_id, "", method="session.regenerate")
    assert frames[-1]["type"] == "failed"
    after = await house.client.call("session.get", session_id)
    assert {**after, "updated_at_ms": 0} == {**before, "updated_at_ms": 0}
    house.troupe.forgive()
    again = await house.client.turn(session_id, "", method="session.retry_turn")
    assert again[-1]["response"]["result"]["turn_index"] == 1
    turns = {turn["turn_id"]: turn for turn in (await house.client.call("session.branches", session_id))["turns"]}
    new = turns[again[-1]["response"]["result"]["turn_id"]]
    assert new["parent_id"] == turns[before["head_turn_id"]]["parent_id"]


async def test_a_failed_turn_that_was_replaced_is_not_offered_again(house: Theatre) -> None:
    session_id = await house.session()
    house.troupe.misbehave("narrator", Fail(status=401))
    await house.client.turn(session_id, "I fail.")
    await house.client.turn(session_id, "I succeed.")
    with pytest.raises(RpcFailed) as refused:
        await house.client.turn(session_id, "", method="session.retry_turn")
    assert refused.value.code == 40404


async def test_while_a_turn_runs_the_head_stays_and_a_fork_starts_from_it(house: Theatre) -> None:
    session_id = await house.session()
    await house.client.turn(session_id, "I look.")
    head = (await house.client.call("session.get", session_id))["head_turn_id"]
    house.troupe.misbehave("narrator", NEVER)
    playing = asyncio.create_task(house.client.turn(session_id, "I knock."))
    while await running(house, session_id) is None:
        await asyncio.sleep(0.01)
    for method, params in (("session.backtrack", {}), ("session.switch_branch", {"turn_id": head})):
        answer = await house.client.raw(method, session_id, **params)
        assert answer["error"]["code"] == 40909 and answer["error"]["data"]["active_turn_id"]
    ops = {"ops": [{"type": "SetState", "key": "gate_open", "value": True}]}
    assert (await house.client.raw("session.update_variables", session_id, update=ops))["error"]["code"] == 40909
    forked = (await house.client.raw("session.fork", session_id))["session_id"]
    assert (await house.client.call("session.get", forked))["head_turn_id"] == head
    await house.client.call("session.cancel_turn", session_id)
    assert (await playing)[-1]["type"] == "failed"
    assert (await house.client.turn(forked, "I whistle."))[-1]["type"] == "completed"


@pytest.mark.parametrize("forked", [False, True])
async def test_deleting_a_session_ends_its_turn_and_tells_its_listeners(house: Theatre, forked: bool) -> None:
    session_id, playing = await begun(house, "ensemble", NEVER)
    other = (await house.client.raw("session.fork", session_id))["session_id"] if forked else None
    await house.client.call("session.delete", session_id)
    frames = await playing
    assert frames[-1]["type"] == "failed" and "deleted" in frames[-1]["error"]["message"]
    await asyncio.wait_for(house.models.left.wait(), 120)
    async with house.client.house.store.reading() as unit:
        assert await unit.plays.running() == []
        assert not any(work.is_open for work in await unit.work.of_subject(session_id))
    if other is not None:
        assert (await house.client.turn(other, "I whistle."))[-1]["type"] == "completed"


async def test_a_turn_that_was_cancelled_elsewhere_stops_here_and_says_so(house: Theatre) -> None:
    session_id, playing = await begun(house, "ensemble", NEVER)
    turn_id = await running(house, session_id)
    assert turn_id is not None
    async with house.client.house.store.writing() as unit:
        await unit.plays.fail(turn_id, status="cancelled", error=CANCELLED_THERE)
        await unit.work.cancel(turn_id, CANCELLED_THERE)
    house.client.house.work.wake()
    assert (await playing)[-1] == {"type": "failed", "error": {"code": 50002, "message": "Cancelled there."}}
    await asyncio.wait_for(house.models.left.wait(), 120)


async def test_a_turn_that_ended_elsewhere_just_before_its_commit_is_told_as_it_ended(house: Theatre) -> None:
    session_id, playing = await begun(house, "swift", SLOWLY)
    turn_id = await running(house, session_id)
    assert turn_id is not None
    async with house.client.house.store.writing() as unit:
        await unit.plays.fail(turn_id, status="cancelled", error=CANCELLED_THERE)
        await unit.work.cancel(turn_id, CANCELLED_THERE)
    assert (await playing)[-1]["error"]["message"] == "Cancelled there."
    assert (await house.client.call("session.get", session_id))["history"] == []


async def test_a_turn_that_another_server_took_over_stops_here(house: Theatre) -> None:
    session_id, playing = await begun(house, "ensemble", NEVER)
    turn_id = await running(house, session_id)
    assert turn_id is not None
    async with house.client.house.store.writing() as unit:
        lease = Lease(owner="elsewhere/1/1", until_ms=2**50)
        assert await unit.work.hold(turn_id, lease, gone=[house.client.house.owner])
    house.client.house.work.wake()
    assert "a server goes on" in (await playing)[-1]["error"]["message"]
    assert await running(house, session_id) == turn_id, "the other server goes on with it"


async def test_while_the_store_cannot_be_written_a_turn_stays_in_flight_and_is_ended_afterwards(
    house: Theatre,
) -> None:
    session_id, playing = await begun(house, "ensemble", NEVER)
    turn_id = await running(house, session_id)
    assert turn_id is not None
    here = house.client.house
    full = FullStore(here.store, refusals=3)
    there = WorkRunner(
        store=cast(Any, full),
        checkpoints=here.checkpoints,
        bus=LocalBus(),
        queue=LocalQueue(),
        clock=FixedClock(),
        owner="elsewhere/1/1",
    )
    await there.open(turn_kinds(replace(here, store=cast(Any, full))), takes_up=False)
    assert await there.cancel(turn_id, CANCELLED_THERE) and full.refusals == 0
    await there.close()
    here.work.wake()
    assert (await playing)[-1] == {"type": "failed", "error": {"code": 50002, "message": "Cancelled there."}}


class FullStore:
    """A store whose disk is full for a while."""

    def __init__(self, store: Any, *, refusals: int) -> None:
        self._store, self.refusals = store, refusals

    def writing(self) -> Any:
        self._refuse()
        return self._store.writing()

    async def write(self, work: Any) -> Any:
        self._refuse()
        return await self._store.write(work)

    def _refuse(self) -> None:
        if self.refusals:
            self.refusals -= 1
            raise StoreError("The disk is full. Free some space, then try again.")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def test_taking_turns_up_twice_at_once_starts_each_once(house: Theatre) -> None:
    session_id = await house.session()
    session = await house.client.call("session.get", session_id)
    async with house.client.house.store.writing() as unit:
        await unit.plays.begin(
            NewTurn(
                turn_id="turn_left_behind",
                session_id=session_id,
                parent_id=session["head_turn_id"],
                turn_index=1,
                kind="play",
                player_input="I knock.",
            )
        )
        await unit.work.begin(
            NewWork(work_id="turn_left_behind", kind="turn", held=Lease(owner="elsewhere/1/1", until_ms=0))
        )
    taken = await asyncio.gather(*(house.client.house.work.take_up() for _ in range(5)))
    assert sum(taken) == 1
    session = await ended(house, session_id)
    assert session["head_turn_id"] == "turn_left_behind"
    assert [one["text"] for one in session["history"] if one["kind"] == "player_input"] == ["I knock."]
    assert house.troupe.calls.count("director") == 1


async def test_a_turn_that_stopped_the_server_twice_is_failed_with_its_words_kept(house: Theatre) -> None:
    session_id = await house.session()
    session = await house.client.call("session.get", session_id)
    async with house.client.house.store.writing() as unit:
        turn = NewTurn(
            turn_id="turn_cursed",
            session_id=session_id,
            parent_id=session["head_turn_id"],
            turn_index=1,
            kind="play",
            player_input="I knock.",
        )
        await unit.plays.begin(turn)
        lease = Lease(owner="elsewhere/1/1", until_ms=0)
        await unit.work.begin(NewWork(work_id="turn_cursed", kind="turn", held=lease))
        assert await unit.work.hold("turn_cursed", lease)
    await house.client.house.work.take_up()
    assert (await ended(house, session_id))["turn_index"] == 0 and house.troupe.calls == []
    again = await house.client.turn(session_id, "", method="session.retry_turn")
    assert again[-1]["response"]["result"]["player_input"] == "I knock."


async def test_finished_turns_leave_no_checkpoints(house: Theatre) -> None:
    session_id, playing = await begun(house, "ensemble", NEVER)
    checkpoints = house.client.house.checkpoints
    while not (threads := await checkpoints.threads()):
        await asyncio.sleep(0.01)
    assert len(threads) == 1
    assert await house.client.house.work.sweep_checkpoints() == 0
    await house.client.call("session.cancel_turn", session_id)
    await playing
    await house.client.turn(session_id, "I look.")
    while house.client.house.work.ids():
        await asyncio.sleep(0.01)
    assert await checkpoints.threads() == set()


async def test_a_server_that_is_shut_down_during_a_turn_resumes_it_at_the_next_start(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        session_id, playing = await begun(house, "ensemble", NEVER)
        playing.cancel()
        asked, port = list(house.troupe.calls), house.models.port
    assert asked == ["keeper", "director", "narrator"]
    troupe = Troupe()
    async with ModelServer(troupe, port=port) as models, live_server(tmp_path) as client:
        session = await ended(Theatre(client=client, troupe=troupe, models=models, story_id=""), session_id)
    assert session["turn_index"] == 1 and session["history"][0]["text"] == "I knock."
    assert "director" not in troupe.calls, "what was finished before is not asked again"


async def test_a_finished_stream_can_be_read_after_it_was_forgotten(house: Theatre) -> None:
    session_id = await house.session()
    request = house.client.request("session.run_turn", session_id, player_input="I knock.")
    events = sse((await house.client.http.post("/rpc", json=request)).text)
    for number in range(600):
        (await house.client.house.bus.open(f"other-{number}")).send(Completed(result={}), last=True)
    last = {"last-event-id": events[4]["id"]}
    rest = sse((await house.client.http.get(f"/sessions/{session_id}/events", headers=last)).text)
    assert [event["data"]["frame"] for event in rest] == [events[-1]["data"]["frame"]]
    for seen in (events[-1]["id"], rest[-1]["id"]):
        over = await house.client.http.get(f"/sessions/{session_id}/events", headers={"last-event-id": seen})
        assert over.status_code == 204, "its end is not told a second time"
