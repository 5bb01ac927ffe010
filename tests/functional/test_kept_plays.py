"""What is kept of plays has a bound in bytes: many plays of the largest variables do not swell the server."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.ink_live import begin, play
from tests.live import Client, gate_story, live_server

from fabula.actions.plays.play_states import known_state
from fabula.adapters.bus import local
from fabula.cli import serve
from fabula.loops.turns import turn_state_cache
from fabula.loops.turns.turn_state_cache import Standing
from fabula.server.ops.freed_memory import give_back_memory
from fabula.story.events import Completed
from fabula.story.plays import PlayState
from fabula.story.values import JsonObject

PLAYS, MOST_BYTES = 6, 300_000
MANY: list[Any] = [[] for _ in range(2_000)]


async def large_play(client: Client, story_id: str) -> str:
    """A play of large variables, of which one turn was played; answers its session."""
    session = str((await client.raw("story.start_session", story_id=story_id))["session_id"])
    op = {"type": "SetState", "key": "many", "value": MANY}
    await client.call("session.update_variables", session, update={"ops": [op]})
    assert (await client.turn(session, "I knock."))[-1]["type"] == "completed"
    return session


def alive(kind: type, *, but: Sequence[Any] = ()) -> list[Any]:
    """What there is of a kind, but for what another test left behind."""
    gc.collect()
    known = set(map(id, but))
    return [one for one in gc.get_objects() if isinstance(one, kind) and id(one) not in known]


async def test_the_told_turns_of_large_plays_have_a_bound_together(tmp_path: Path) -> None:
    before = alive(Completed)
    async with live_server(tmp_path) as client:
        story_id = await gate_story(client)
        bound = client.house.bus
        assert isinstance(bound, local.LocalBus)
        bound._finished_bytes = MOST_BYTES
        sessions = [await large_play(client, story_id) for _ in range(PLAYS)]
        told = alive(Completed, but=before)
        assert 0 < len(told) < PLAYS
        answer = await client.turn(sessions[0], "I knock again.")
        assert answer[-1]["type"] == "completed"


async def test_the_states_of_large_plays_have_a_bound_together_and_a_play_goes_on_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = alive(Standing)
    monkeypatch.setattr(
        turn_state_cache.TurnStateCache.__init__, "__kwdefaults__", {"kept": 256, "most_bytes": MOST_BYTES}
    )
    async with live_server(tmp_path) as client:
        story_id = await gate_story(client)
        sessions = [await large_play(client, story_id) for _ in range(PLAYS)]
        large = [one for one in alive(Standing, but=before) if one.play.world.custom.get("many") == MANY]
        assert 0 < sum(one.weight for one in large) <= MOST_BYTES < PLAYS * large[0].weight
        assert (await client.turn(sessions[0], "I knock again."))[-1]["type"] == "completed"
        assert (await client.call("session.get_variables", sessions[0]))["custom"]["many"] == MANY
        lines = (await client.call("session_message.list", sessions[0]))["messages"]
        assert [one["text"] for one in lines if one["kind"] == "player_input"] == ["I knock.", "I knock again."]


async def test_guests_and_all_else_in_the_state_of_a_play_count(tmp_path: Path) -> None:
    before = alive(Standing)
    async with live_server(tmp_path) as client:
        session = str((await client.raw("story.start_session", story_id=await gate_story(client)))["session_id"])
        texts = {"display_name": "G", "style": "s", "system_prompt": "p"}
        for _ in range(2):
            await client.call("session_character.create", session, personality="x" * 90_000, **texts)
        assert (await client.turn(session, "I knock."))[-1]["type"] == "completed"
        assert [one.weight > 180_000 for one in alive(Standing, but=before)] == [True]
        assert client.house.turn_states.take_large()


async def test_the_save_of_an_ink_play_counts_as_its_variables(tmp_path: Path) -> None:
    before = alive(Standing)
    async with live_server(tmp_path) as client:
        session, _ = await begin(client, f'VAR s = "{"x" * 40_000}"\n+ [Go] On.\n-> END\n')
        assert (await play(client, session, choice=0))[-1]["type"] == "completed"
        assert [one.weight > 40_000 for one in alive(Standing, but=before)] == [True]


@pytest.mark.parametrize("bound", ["LARGE_AT_ONCE", "LARGE_BYTES_AT_ONCE"])
async def test_few_turns_of_large_states_are_played_at_once_and_others_pass_them(
    bound: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_state_cache, "LARGE_STATE_BYTES", MOST_BYTES // 2)
    monkeypatch.setattr(turn_state_cache, bound, 1)
    async with live_server(tmp_path) as client:
        story_id = await gate_story(client)
        large = [await large_play(client, story_id) for _ in range(2)]
        small = str((await client.raw("story.start_session", story_id=story_id))["session_id"])
        state = await client.house.store.read(lambda unit: unit.plays.get(large[0]))
        assert state is not None
        standing = client.house.turn_states.after(state.head_turn_id)
        assert standing is not None
        async with client.house.turn_states.room_for(state.head_turn_id, standing.play):
            waiting = [asyncio.create_task(client.turn(session, "I wait.")) for session in large]
            assert (await client.turn(small, "I knock."))[-1]["type"] == "completed"
            assert not any(task.done() for task in waiting)
        assert [(await task)[-1]["type"] for task in waiting] == ["completed"] * 2


async def test_a_state_is_weighed_once_however_often_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with live_server(tmp_path) as client:
        session = await large_play(client, await gate_story(client))
        head = (await client.call("session.get", session, history="none"))["head_turn_id"]
        client.house.turn_states._kept.clear()
        weighed = list[int]()
        weigh = turn_state_cache.state_bytes

        def counted(play: PlayState, stored: JsonObject) -> int:
            weighed.append(weigh(play, stored))
            return weighed[-1]

        monkeypatch.setattr(turn_state_cache, "LARGE_STATE_BYTES", 1)
        monkeypatch.setattr(turn_state_cache, "state_bytes", counted)
        async with client.house.store.reading() as unit:
            state = [await known_state(client.house, unit, head) for _ in range(3)][-1]
        async with client.house.turn_states.room_for(head, state):
            assert len(weighed) == 1 and weighed == [weigh(state, state.as_json())]


async def test_large_states_have_the_collector_look_for_what_turns_leave_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_state_cache, "LARGE_STATE_BYTES", MOST_BYTES // 2)
    monkeypatch.setattr(serve, "LOOK_EVERY_S", 0.001)
    monkeypatch.setattr(serve, "TIDY_EVERY_S", 0.2)
    before = gc.get_threshold()
    async with live_server(tmp_path) as client:
        story_id = await gate_story(client)
        ordinary = str((await client.raw("story.start_session", story_id=story_id))["session_id"])
        await client.turn(ordinary, "I knock.")
        assert not client.house.turn_states.take_large()
        await large_play(client, story_id)
        tidying = asyncio.create_task(serve._tidy_up(client.house))
        try:
            gc.set_threshold(*serve.SPARING)
            while gc.get_threshold() != serve.THRIFTY:
                await asyncio.sleep(0.001)
            # After a while without large states the collector is left alone again.
            while gc.get_threshold() != serve.SPARING:
                await asyncio.sleep(0.001)
        finally:
            tidying.cancel()
            gc.set_threshold(*before)


async def test_memory_that_was_freed_is_given_back_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back = asyncio.Event()
    loop = asyncio.get_running_loop()

    def give_back() -> None:
        give_back_memory()
        loop.call_soon_threadsafe(given_back.set)

    monkeypatch.setattr(serve, "give_back_memory", give_back)
    monkeypatch.setattr(serve, "LOOK_EVERY_S", 0.001)
    monkeypatch.setattr(serve, "TIDY_EVERY_S", 0.001)
    before = gc.get_threshold()
    async with live_server(tmp_path) as client:
        tidying = asyncio.create_task(serve._tidy_up(client.house))
        try:
            await asyncio.wait_for(given_back.wait(), 120)
        finally:
            tidying.cancel()
            gc.set_threshold(*before)
