"""Two hundred turns, with changes by hand among them: going back to each is exact, and no branch is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.live import Client, gate_session
from tests.mass import Mass
from tests.templates import fill_folder

from fabula.actions.house import House
from fabula.actions.plays.branches import Backtrack, ListBranches, SwitchBranch, backtrack, list_branches, switch_branch
from fabula.actions.plays.play_states import state_at
from fabula.actions.plays.sessions import SessionView, ShowSession, get_session
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.ports.actors import OPERATOR
from fabula.server.app import create_app
from fabula.settings import Settings
from fabula.story.state_hash import state_hash
from fabula.wiring import open_house

TURNS = 200
"""As a mass test; the changes by hand are among every twenty."""


async def play(house: House, session_id: str, words: str) -> SessionView:
    turn = await run_turn(house, OPERATOR, session_id, RunTurn(player_input=words), request_id="r", seed=7)
    await house.work.wait(turn.turn_id)
    session = await get_session(house, OPERATOR, session_id, ShowSession())
    assert session.head_turn_id == turn.turn_id
    return session


async def changed_by_hand(client: Client, session_id: str, number: int) -> None:
    ops = {"ops": [{"type": "SetState", "key": "counted", "value": number}]}
    await client.call("session.update_variables", session_id, update=ops)
    said = (await client.call("session_message.list", session_id))["messages"][-1]
    fields: dict[str, Any] = {name: said[name] for name in ("message_id", "kind", "speaker_id", "speaker_name")}
    await client.call("session_message.update", session_id, **fields, text=f"As edited after turn {number}.")


async def test_backtracking_to_each_of_two_hundred_turns_restores_the_exact_state(tmp_path: Path, mass: Mass) -> None:
    import httpx

    async with open_house(Settings(data_dir=fill_folder(tmp_path), samples=False)) as house:
        transport = httpx.ASGITransport(create_app(house), client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            client = Client(http, house)
            session_id = await gate_session(client)
            known: dict[str, SessionView] = {}
            for number in range(1, mass(TURNS) + 1):
                session = await play(house, session_id, f"I wait and count to {number}.")
                known[session.head_turn_id] = session
                if number % 20 == 0:
                    await changed_by_hand(client, session_id, number)
                    amended = await get_session(house, OPERATOR, session_id, ShowSession())
                    known[amended.head_turn_id] = amended
        for turn_id, before in reversed(known.items()):
            back = await backtrack(house, OPERATOR, session_id, Backtrack(turn_id=turn_id))
            assert (back.state_hash, back.turn_index) == (before.state_hash, before.turn_index)
            assert (back.snapshot, back.history, back.status) == (before.snapshot, before.history, before.status)
            async with house.store.reading() as unit:
                assert state_hash(await state_at(unit, turn_id)) == before.state_hash
        await no_branch_is_lost(house, session_id, known)


async def no_branch_is_lost(house: House, session_id: str, known: dict[str, SessionView]) -> None:
    """New lines from old turns; every turn that ever was stays reachable, and reads as it did."""
    ids = list(known)
    for turn_id in (ids[len(ids) // 20], ids[len(ids) // 2], ids[len(ids) * 3 // 4]):
        await backtrack(house, OPERATOR, session_id, Backtrack(turn_id=turn_id))
        branched = await play(house, session_id, "I go another way.")
        known[branched.head_turn_id] = branched
    listed = {turn.turn_id: turn for turn in (await list_branches(house, OPERATOR, session_id, ListBranches())).turns}
    assert set(known) <= set(listed)
    for turn_id in (*ids[:3], ids[len(ids) // 20], ids[-1], *list(known)[-3:]):
        there = await switch_branch(house, OPERATOR, session_id, SwitchBranch(turn_id=turn_id))
        assert there.state_hash == listed[turn_id].state_hash == known[turn_id].state_hash
        assert there.history == known[turn_id].history
