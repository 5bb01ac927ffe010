"""Any part of a transcript is read by itself: before, after and around a message, at the end, and of another branch."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.conftest import Place
from tests.live import Client, RpcFailed, gate_session, live_server
from tests.long_play import lengthen

LONG = 10_000


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as found:
        yield found


def ids(answer: dict[str, Any]) -> list[str]:
    return [line["message_id"] for line in answer["messages"]]


async def edit(client: Client, session: str, line: dict[str, Any], text: str) -> dict[str, Any]:
    names = ("message_id", "kind", "speaker_id", "speaker_name")
    return await client.call("session_message.update", session, **{name: line[name] for name in names}, text=text)


async def test_a_session_is_shown_with_as_much_of_its_history_as_is_asked_for(client: Client) -> None:
    session = await gate_session(client)
    await lengthen(client.house, session, 20)
    whole = (await client.call("session.get", session))["history"]
    assert len(whole) >= 60
    assert (await client.call("session.get", session, history="all"))["history"] == whole
    assert (await client.call("session.get", session, history="none"))["history"] == []
    assert (await client.call("session.get", session, history=7))["history"] == whole[-7:]
    assert (await client.call("session.get", session, history=1000))["history"] == whole
    for wrong in (0, -1, 1001, "some", True):
        with pytest.raises(RpcFailed) as refused:
            await client.call("session.get", session, history=wrong)
        assert refused.value.code == -32602


async def test_moves_show_as_much_of_the_history_as_is_asked_for(client: Client) -> None:
    session = await gate_session(client)
    line = await lengthen(client.house, session, 12)
    assert len((await client.call("session.backtrack", session, turns=2, history=4))["history"]) == 4
    there = await client.call("session.switch_branch", session, turn_id=line.end, history="none")
    assert (there["head_turn_id"], there["history"]) == (line.end, [])
    assert (await client.call("session.fork", session, history="none"))["history"] == []
    assert (await client.call("session.update", session, display_name="On the road", history=1))["turn_index"] == 12
    assert (await client.call("session.set_player_profile", session, history="none"))["history"] == []
    assert len((await client.call("session.backtrack", session))["history"]) >= 33


async def test_parts_before_after_and_around_a_message(client: Client) -> None:
    session = await gate_session(client)
    await lengthen(client.house, session, 40)
    every = ids(await client.call("session_message.list", session))
    for at in (0, 1, 50, len(every) - 2, len(every) - 1):
        before = await client.call("session_message.list", session, before=every[at], limit=10)
        assert ids(before) == every[max(0, at - 10) : at][::-1]
        assert before.get("more_before", False) is (at > 10)
        after = await client.call("session_message.list", session, after=every[at], limit=10)
        assert ids(after) == every[at + 1 : at + 11]
        assert after.get("more_after", False) is (at + 11 < len(every))
        around = await client.call("session_message.list", session, around=every[at], limit=9)
        start = min(max(0, at - 4), len(every) - 9)
        assert ids(around) == every[start : start + 9]
        assert around.get("more_before", False) is (start > 0)
        assert around.get("more_after", False) is (start + 9 < len(every))
    assert ids(await client.call("session_message.list", session, around=every[5], limit=1)) == [every[5]]
    assert len(ids(await client.call("session_message.list", session, before=every[-1]))) == 100


async def test_a_transcript_is_read_from_its_end_page_by_page(client: Client) -> None:
    session = await gate_session(client)
    await lengthen(client.house, session, 15)
    every = ids(await client.call("session_message.list", session))
    assert ids(await client.call("session_message.list", session, order="newest")) == every[::-1]
    found: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        page = await client.call("session_message.list", session, order="newest", limit=7, **cursor)
        found += ids(page)
        if "next_cursor" not in page:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert found == every[::-1]


async def test_a_branch_is_read_without_going_there(client: Client) -> None:
    session = await gate_session(client)
    trunk = await lengthen(client.house, session, 5)
    left = await lengthen(client.house, session, 4, below=trunk.turn_ids[2], says=" on the left")
    right = await lengthen(client.house, session, 3, below=trunk.turn_ids[2], says=" on the right")
    read = await client.call("session_message.list", session, turn_id=left.end)
    said = [line["text"] for line in read["messages"]]
    assert sum("on the left" in text for text in said) == 12 and not any("on the right" in text for text in said)
    newest = await client.call("session_message.list", session, turn_id=left.end, order="newest", limit=3)
    assert newest["messages"] == read["messages"][:-4:-1]
    assert {line["turn_id"] for line in newest["messages"]} == {left.end}
    assert (await client.call("session.get", session, history="none"))["head_turn_id"] == right.end
    elsewhere = read["messages"][-1]["message_id"]
    with pytest.raises(RpcFailed) as refused:
        await client.call("session_message.list", session, before=elsewhere)
    assert refused.value.code == 40404
    with pytest.raises(RpcFailed) as unknown:
        await client.call("session_message.list", session, turn_id="turn_x")
    assert unknown.value.code == 40404


async def test_a_corrected_line_is_marked_and_its_old_words_are_kept(client: Client) -> None:
    session = await gate_session(client)
    await lengthen(client.house, session, 3)
    lines = (await client.call("session_message.list", session))["messages"]
    assert not any(line["edited"] for line in lines)
    line = lines[-2]
    assert (await edit(client, session, line, "The road ends."))["edited"]
    await edit(client, session, line, "The road ends here.")
    shown = (await client.call("session.get", session, history=2))["history"]
    assert [(one["text"], one["edited"]) for one in shown] == [
        ("The road ends here.", True),
        (lines[-1]["text"], False),
    ]
    one = await client.call("session_message.get", session, message_id=line["message_id"])
    assert [earlier["text"] for earlier in one["earlier_wordings"]] == [line["text"], "The road ends."]
    assert "earlier_wordings" not in await client.call(
        "session_message.get", session, message_id=lines[0]["message_id"]
    )
    await client.call("session.backtrack", session, turn_id=line["turn_id"])
    back = await client.call("session_message.get", session, message_id=line["message_id"])
    assert (back["text"], back["edited"]) == (line["text"], False)


async def test_pages_go_on_from_a_line_that_was_struck_out_meanwhile(client: Client) -> None:
    session = await gate_session(client)
    await lengthen(client.house, session, 6)
    every = ids(await client.call("session_message.list", session))
    await client.call("session_message.delete", session, message_id=every[9])
    assert ids(await client.call("session_message.list", session, before=every[9], limit=3)) == every[6:9][::-1]
    assert ids(await client.call("session_message.list", session, after=every[9], limit=3)) == every[10:13]
    with pytest.raises(RpcFailed) as gone:
        await client.call("session_message.list", session, around=every[9], limit=3)
    assert gone.value.code == 40404
    with pytest.raises(RpcFailed) as both:
        await client.call("session_message.list", session, before=every[3], after=every[1])
    assert both.value.code == -32600


@pytest.mark.all
async def test_a_part_of_ten_thousand_turns_costs_a_fraction_of_the_whole(client: Client) -> None:
    session = await gate_session(client)
    await lengthen(client.house, session, LONG)
    end = await client.call("session.get", session, history=60)
    middle = await client.call("session_message.list", session, limit=1, around=end["history"][0]["message_id"])
    far = middle["messages"][0]["message_id"]
    ways: list[dict[str, Any]] = [{"before": far}, {"around": far}, {"order": "newest"}, {}]

    async def cost(method: str, **params: Any) -> float:
        started = time.perf_counter()
        await client.call(method, session, **params)
        return time.perf_counter() - started

    whole = await cost("session_message.list")
    parts = [min([await cost("session_message.list", limit=60, **way) for _ in range(3)]) for way in ways]
    parts.append(min([await cost("session.get", history=60) for _ in range(3)]))
    assert max(parts) < whole / 5, (whole, parts)
