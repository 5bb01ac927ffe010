"""Why did this turn go as it did? `session.explain_turn` tells, for as long as traces are kept, to whom it may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.doors import doors
from tests.live import Client, RpcFailed, gate_session, live_server

from fabula.actions.care.prune_traces import prune_traces
from fabula.actions.turns.turn_trace import describe
from fabula.loops.turns.turn_recorder import TurnRecorder
from fabula.ports.store import Unit

PARTS, TEXTS = "trace_parts", "trace_texts"


async def test_a_turn_is_explained_with_its_steps_prompts_replies_sections_and_operations(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
        turn_id = await play(client, session, "I ask Mara to open the gate.")
        told = await client.call("session.explain_turn", session, turn_id=turn_id)
    assert (told["kept"], told["status"], told["trace_id"], told["attempts"]) == (True, "committed", turn_id, 1)
    names = [step["name"] for step in told["steps"]]
    assert names[0] == "load_context" and {"narrate", "persist_turn_artifacts", "commit"} <= set(names)
    call = told["calls"][0]
    assert "Mara" in call["messages"][0]["content"] + call["messages"][-1]["content"] and call["reply"]
    assert not call["memo_hit"] and not call["repaired"] and "problem" not in call
    included = {section["name"]: section for section in told["sections"] if section["included"]}
    assert included and all(section["tokens"] > 0 for section in included.values())
    assert all({"op", "by", "accepted"} <= one.keys() for one in told["operations"])


def test_what_others_note_in_a_turn_is_told_with_it() -> None:
    recorder = TurnRecorder(lambda: 0.0)
    recorder.rows["memories"] = [{"memory_id": "m1", "owner": "mara", "text": "Rain.", "score": 0.5, "reasons": []}]
    assert describe(recorder)["rows"] == {"memories": recorder.rows["memories"]}


async def test_what_prompts_have_in_common_is_kept_once(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
        first = await play(client, session, "I knock.")
        second = await play(client, session, "I knock again.")
        prompts = [await prompts_of(client, session, turn_id) for turn_id in (first, second)]
        kept = await client.house.store.read(lambda unit: count(unit, TEXTS))
    assert set(prompts[0]) & set(prompts[1]), "the beginning of a role's prompt stays the same"
    assert kept < len(prompts[0]) + len(prompts[1]) + 2


async def test_players_are_told_how_a_turn_went_and_not_what_was_in_it() -> None:
    async with doors() as house:
        session = await house["owner"].play(house.story_id)
        turn_id = await play(house["owner"].client, session, "I knock.")
        told = await house["owner"].client.call("session.explain_turn", session, turn_id=turn_id)
        everything = await house["admin"].client.call("session.explain_turn", session, turn_id=turn_id)
        with pytest.raises(RpcFailed, match="There is no session"):
            await house["other"].client.call("session.explain_turn", session, turn_id=turn_id)
    hidden = {"calls", "sections", "lore", "degraded", "operations", "plan", "memories"}
    assert told["steps"] and not hidden & told.keys()
    assert everything["calls"] and "plan" in everything


async def test_a_fork_explains_the_turns_it_shares_and_going_back_forgets_none(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
        first = await play(client, session, "I knock.")
        left = await play(client, session, "I leave.")
        forked = (await client.raw("session.fork", session, turn_id=first))["session_id"]
        shared = await client.call("session.explain_turn", forked, turn_id=first)
        await client.call("session.backtrack", session, turns=1)
        assert (await client.call("session.explain_turn", session, turn_id=left))["kept"]
        await client.call("session.delete", session)
        assert (await client.call("session.explain_turn", forked, turn_id=first)) == shared
        await client.call("session.delete", forked)
        assert await client.house.store.read(lambda unit: count(unit, PARTS)) == 0


async def test_old_traces_are_pruned_and_the_turn_stays(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await gate_session(client)
        turn_id = await play(client, session, "I knock.")
        assert (await client.call("session.explain_turn", session, turn_id=turn_id))["kept"]
        assert await prune_traces(client.house) == 0
        now = client.house.clock.now_ms()
        later = now + 8 * 24 * 3600 * 1000
        await client.house.store.write(lambda unit: unit.traces.prune(before_ms=later, limit=1000))
        told = await client.call("session.explain_turn", session, turn_id=turn_id)
        texts = await client.house.store.read(lambda unit: count(unit, TEXTS))
    assert (told["kept"], told["steps"], told["calls"], told["status"], texts) == (False, [], [], "committed", 0)


async def test_with_the_setting_at_nothing_nothing_is_kept(tmp_path: Path) -> None:
    async with live_server(tmp_path, trace_days=0) as client:
        session = await gate_session(client)
        turn_id = await play(client, session, "I knock.")
        told = await client.call("session.explain_turn", session, turn_id=turn_id)
        assert await client.house.store.read(lambda unit: count(unit, PARTS)) == 0
    assert not told["kept"] and told["calls"] == []


async def play(client: Client, session: str, words: str) -> str:
    """Plays a turn; answers its id."""
    frames = await client.turn(session, words)
    return str(frames[-1]["response"]["result"]["turn_id"])


async def prompts_of(client: Client, session: str, turn_id: str) -> list[str]:
    told: dict[str, Any] = await client.call("session.explain_turn", session, turn_id=turn_id)
    return [message["content"] for call in told["calls"] for message in call["messages"]]


async def count(unit: Unit, table: str) -> int:
    from sqlalchemy import text

    return int((await unit.traces._connection.execute(text(f"SELECT count(*) FROM {table}"))).scalar())  # type: ignore[attr-defined]
