"""Turns as things: a tree in outline, a turn with its tellings, names and bookmarks; all of it within reach only."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Place
from tests.doors import doors
from tests.ink_live import begin, play
from tests.live import Client, RpcFailed, gate_session, live_server
from tests.long_play import lengthen

LONG = 10_000


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as found:
        yield found


def leaf_ids(found: dict[str, Any]) -> dict[str, list[str]]:
    return {one["turn_id"]: [sibling["leaf_turn_id"] for sibling in one["siblings"]] for one in found["turns"]}


async def test_a_tree_is_shown_in_outline(client: Client) -> None:
    session = await gate_session(client)
    trunk = await lengthen(client.house, session, 40)
    left = await lengthen(client.house, session, 10, below=trunk.turn_ids[19], says=" on the left")
    drawn = await client.call("session.branches", session, collapse=True)
    start = drawn["turns"][0]
    assert (start["kind"], start["parent_id"]) == ("start", None)
    assert [turn["turn_id"] for turn in drawn["turns"][1:]] == [
        trunk.turn_ids[19],
        trunk.turn_ids[20],
        trunk.end,
        left.turn_ids[0],
        left.end,
    ]
    assert [(run["first_turn_id"], run["last_turn_id"], run["count"], run["parent_id"]) for run in drawn["runs"]] == [
        (trunk.turn_ids[0], trunk.turn_ids[18], 19, start["turn_id"]),
        (trunk.turn_ids[21], trunk.turn_ids[38], 18, trunk.turn_ids[20]),
        (left.turn_ids[1], left.turn_ids[8], 8, left.turn_ids[0]),
    ]
    first = drawn["turns"][4]
    assert first["label"] == "I walk on on the left, step 21."
    assert first["preview"].startswith("The road on the left goes on past milestone 21")
    assert drawn["head_turn_id"] == left.end and "left_out" not in drawn
    whole = await client.call("session.branches", session)
    assert len(whole["turns"]) == 51 and "runs" not in whole


async def test_a_part_of_a_tree_is_shown_around_a_turn(client: Client) -> None:
    session = await gate_session(client)
    trunk = await lengthen(client.house, session, 30)
    for at in range(2, 28, 2):
        await lengthen(client.house, session, 2, below=trunk.turn_ids[at])
    part = await client.call("session.branches", session, collapse=True, around=trunk.turn_ids[14], limit=7)
    assert trunk.turn_ids[14] in {turn["turn_id"] for turn in part["turns"]}
    assert len(part["turns"]) + len(part.get("runs", [])) == 7
    whole = await client.call("session.branches", session, collapse=True)
    assert part["left_out"] == len(whole["turns"]) + len(whole.get("runs", [])) - 7
    plain = await client.call("session.branches", session, around=trunk.end, limit=3)
    assert [turn["turn_id"] for turn in plain["turns"]] == trunk.turn_ids[-3:] and plain["left_out"] == 54
    with pytest.raises(RpcFailed) as refused:
        await client.call("session.branches", session, collapse=True, around="turn_x")
    assert refused.value.code == 40404


async def test_a_turn_is_shown_with_its_result_its_messages_and_what_it_cost(client: Client) -> None:
    session = await gate_session(client)
    frames = await client.turn(session, "I knock at the gate.")
    result = frames[-1]["response"]["result"]
    turn = await client.call("session_turn.get", session, turn_id=result["turn_id"])
    assert turn["type"] == "session_turn" and turn["result"] == result
    assert (turn["turn_index"], turn["kind"], turn["status"]) == (1, "play", "committed")
    assert turn["player_input"] == "I knock at the gate." and "choice" not in turn
    assert (turn["name"], turn["bookmarked"]) == (None, False)
    history = (await client.call("session.get", session))["history"]
    assert turn["message_ids"] == [line["message_id"] for line in history if line["turn_id"] == turn["turn_id"]]
    assert [sibling["turn_id"] for sibling in turn["siblings"]] == [turn["turn_id"]]
    totals = (await client.call("usage.list", session_id=session))["totals"]
    assert turn["usage"] == totals and totals["calls"] > 0
    assert await client.call("session_turn.get", session, turn_index=1) == turn
    start = await client.call("session_turn.get", session, turn_index=0)
    assert (start["kind"], start["result"], start["siblings"]) == ("start", None, [])
    for params in ({}, {"turn_id": turn["turn_id"], "turn_index": 1}, {"turn_index": 2}):
        with pytest.raises(RpcFailed) as refused:
            await client.call("session_turn.get", session, **params)
        assert refused.value.code == -32600


async def test_tellings_of_a_place_know_the_newest_end_of_their_lines(client: Client) -> None:
    session = await gate_session(client)
    trunk = await lengthen(client.house, session, 6)
    second = await lengthen(client.house, session, 3, below=trunk.turn_ids[2])
    third = await lengthen(client.house, session, 1, below=trunk.turn_ids[2])
    deeper = await lengthen(client.house, session, 2, below=second.turn_ids[1])
    found = await client.call("session_turn.siblings", session, turn_ids=[*trunk.turn_ids, deeper.end, "turn_x"])
    tellings = [trunk.turn_ids[3], second.turn_ids[0], third.end]
    assert leaf_ids(found) == {trunk.turn_ids[3]: [trunk.end, deeper.end, third.end]}
    assert [sibling["turn_id"] for sibling in found["turns"][0]["siblings"]] == tellings
    one = await client.call("session_turn.get", session, turn_id=third.end)
    assert [sibling["turn_id"] for sibling in one["siblings"]] == tellings
    assert one["siblings"] == found["turns"][0]["siblings"]
    await client.call("session.switch_branch", session, turn_id=second.turn_ids[0], history="none")
    assert leaf_ids(await client.call("session_turn.siblings", session, turn_ids=[second.turn_ids[0]])) == {
        second.turn_ids[0]: [trunk.end, deeper.end, third.end]
    }


async def test_names_and_bookmarks_stand_beside_turns_and_are_listed(client: Client) -> None:
    session = await gate_session(client)
    line = await lengthen(client.house, session, 20)
    cellar, stairs, flag = line.turn_ids[4], line.turn_ids[9], line.turn_ids[14]
    named = await client.call("session_turn.update", session, turn_id=cellar, name="  The   cellar ", bookmarked=True)
    assert (named["name"], named["bookmarked"]) == ("The cellar", True)
    await client.call("session_turn.update", session, turn_id=stairs, name="Stairs")
    await client.call("session_turn.update", session, turn_id=flag, bookmarked=True)
    before = await client.call("session.get", session)
    assert before["head_turn_id"] == line.end and before["turn_index"] == 20

    async def listed(**params: Any) -> list[tuple[str, str | None, bool]]:
        turns = (await client.call("session_turn.list", session, **params))["turns"]
        return [(turn["turn_id"], turn["name"], turn["bookmarked"]) for turn in turns]

    assert await listed() == [(cellar, "The cellar", True), (stairs, "Stairs", False), (flag, None, True)]
    assert await listed(bookmarked=True) == [(cellar, "The cellar", True), (flag, None, True)]
    page = await client.call("session_turn.list", session, limit=2)
    assert [turn["turn_id"] for turn in page["turns"]] == [cellar, stairs]
    assert await listed(limit=2, cursor=page["next_cursor"]) == [(flag, None, True)]
    drawn = await client.call("session.branches", session, collapse=True)
    assert {cellar, stairs, flag} < {turn["turn_id"] for turn in drawn["turns"]} and len(drawn["runs"]) == 4
    whole = await client.call("session.branches", session)
    assert [turn["name"] for turn in whole["turns"] if turn["bookmarked"]] == ["The cellar", None]
    await client.call("session.backtrack", session, turn_id=line.turn_ids[1])
    await client.call("session_turn.update", session, turn_id=cellar, name="", bookmarked=False)
    await client.call("session_turn.update", session, turn_id=flag, bookmarked=False)
    assert await listed() == [(stairs, "Stairs", False)]
    with pytest.raises(RpcFailed) as refused:
        await client.call("session_turn.update", session, turn_id=cellar, name="x" * 121)
    assert refused.value.code == -32600


async def test_a_choice_of_an_ink_story_is_told_by_its_index(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client, "* One\n  First.\n* Two\n  Second.\n- -> END\n")
        await play(client, session, choice=1)
        turn = await client.call("session_turn.get", session, turn_index=1)
        assert (turn["choice"], turn["player_input"]) == (1, "Two")


async def test_other_peoples_turns_on_a_shared_tree_are_neither_shown_nor_marked() -> None:
    async with doors() as house:
        owner, other, admin = house["owner"], house["other"], house["admin"]
        session = await owner.play(house.story_id)
        trunk = await lengthen(house.house, session, 6)
        forked = await admin.client.call("session.fork", session, turn_id=trunk.turn_ids[2], history="none")
        async with house.house.store.writing() as unit:
            assert other.token_id is not None
            await unit.plays.invite(forked["session_id"], other.token_id)
        theirs = await lengthen(house.house, forked["session_id"], 3, says=" apart")
        await owner.client.call("session_turn.update", session, turn_id=trunk.turn_ids[1], name="Shared")
        await owner.client.call("session_turn.update", session, turn_id=trunk.end, name="Mine alone")
        await other.client.call("session_turn.update", forked["session_id"], turn_id=theirs.end, name="Apart")
        mine = await owner.client.call("session_turn.list", session)
        assert [turn["name"] for turn in mine["turns"]] == ["Shared", "Mine alone"]
        others = await other.client.call("session_turn.list", forked["session_id"])
        assert [turn["name"] for turn in others["turns"]] == ["Shared", "Apart"]
        place = await other.client.call("session_turn.siblings", forked["session_id"], turn_ids=[theirs.turn_ids[0]])
        assert place["turns"] == []
        for person, where, told in ((owner, session, theirs), (other, forked["session_id"], trunk)):
            drawn = json.dumps(await person.client.call("session.branches", where, collapse=True))
            assert not any(turn_id in drawn for turn_id in told.turn_ids[3 if told is trunk else 0 :])
            for method, params in (
                ("session_turn.get", {"turn_id": told.end}),
                ("session_turn.update", {"turn_id": told.end, "bookmarked": True}),
                ("session.branches", {"collapse": True, "around": told.end}),
                ("session_message.list", {"turn_id": told.end}),
            ):
                assert await person.error_code(method, where, **params) == 40404
            hidden = await person.client.call("session_turn.siblings", where, turn_ids=[told.turn_ids[-1]])
            assert hidden["turns"] == []
        everything = await admin.client.call("session_turn.list", session)
        assert len(everything["turns"]) == 3


@pytest.mark.all
async def test_an_outline_of_ten_thousand_turns_is_small(client: Client) -> None:
    session = await gate_session(client)
    trunk = await lengthen(client.house, session, LONG)
    for fork in range(12):
        await lengthen(client.house, session, 3, below=trunk.turn_ids[800 * fork + 7])
    drawn = await client.call("session.branches", session, collapse=True)
    assert len(drawn["runs"]) + len(drawn["turns"]) <= 90
    assert len(json.dumps(drawn)) < 40_000
    near = [turn["turn_id"] for turn in drawn["turns"]]
    assert len((await client.call("session_turn.siblings", session, turn_ids=near))["turns"]) == 24
