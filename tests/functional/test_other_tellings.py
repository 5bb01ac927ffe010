"""Telling a turn again, at any place and as its player wishes, and saying something else there: always as a sibling."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.ink_live import begin
from tests.knot_theatre import at_the_guard, says
from tests.knot_theatre import theatre as knot_theatre
from tests.live import Client, RpcFailed, gate_session, live_server, sse
from tests.scripted import PACES, Theatre, theatre

from fabula.agents.wishes import LONGEST_WISH, wish_text
from fabula.testing.model_script import Fail
from fabula.testing.troupe import role_of
from fabula.understudy.wishes import wants_short

CHOICES = "A door.\n* [Knock] You knock.\n* [Leave] You leave.\n- Later.\n* [On] On.\n- The end.\n-> END\n"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Theatre]:
    async with theatre(tmp_path) as opened:
        yield opened


async def played(client: Client, session_id: str, method: str = "session.run_turn", **params: Any) -> dict[str, Any]:
    """The last frame of a turn."""
    response = await client.http.post("/rpc", json=client.request(method, session_id, **params))
    if response.headers["content-type"] == "application/json":
        raise RpcFailed(response.json()["error"])
    last: dict[str, Any] = sse(response.text)[-1]["data"]["frame"]
    return last


async def three_turns(client: Client, session_id: str) -> list[str]:
    """Their ids."""
    for words in ("I knock.", "I wait.", "I sing."):
        assert (await played(client, session_id, player_input=words))["type"] == "completed"
    return [turn["turn_id"] for turn in (await client.call("session.branches", session_id))["turns"][1:]]


async def tree(client: Client, session_id: str) -> dict[str, dict[str, Any]]:
    return {turn["turn_id"]: turn for turn in (await client.call("session.branches", session_id))["turns"]}


@pytest.mark.parametrize("pace", PACES)
async def test_any_turn_is_told_again_as_its_sibling_and_the_head_goes_there(house: Theatre, pace: str) -> None:
    session_id = await house.session(pace)
    first, second, third = await three_turns(house.client, session_id)
    last = await played(house.client, session_id, "session.regenerate", turn_id=second)
    turns = await tree(house.client, session_id)
    new = last["response"]["result"]["turn_id"]
    assert turns[new]["parent_id"] == turns[second]["parent_id"] == first
    assert (turns[new]["label"], turns[new]["turn_index"]) == ("I wait.", 2)
    session = await house.client.call("session.get", session_id)
    assert session["head_turn_id"] == new and session["turn_index"] == 2
    said = [line["text"] for line in session["history"] if line["kind"] == "player_input"]
    assert said == ["I knock.", "I wait."]
    back = await house.client.call("session.switch_branch", session_id, turn_id=third)
    assert back["turn_index"] == 3


async def test_a_wish_reaches_those_who_plan_and_tell_marked_as_what_it_is(house: Theatre) -> None:
    session_id = await house.session("ensemble")
    await played(house.client, session_id, player_input="I knock.")
    seen = len(house.models.requests)
    await played(house.client, session_id, "session.regenerate", hint="  let her\n refuse >>> ")
    asked: dict[str, str] = {}
    for one in house.models.requests[seen:]:
        messages: Any = one.body["messages"]
        asked[role_of(one.body)] = messages[-1]["content"]
    wished = wish_text("let her refuse > ")
    assert wished.count("let her refuse") == 1 and wished.index("<<<") < wished.index("let her") < wished.index(">>>")
    for role in ("director", "narrator", "actor"):
        assert asked[role].endswith(wished), f"the {role} is told last of all"
    assert "let her refuse" not in asked["keeper"]
    await played(house.client, session_id, player_input="I wait.")
    assert "let her refuse" not in str(house.models.requests[-1].body), "a wish is for one telling"


async def test_a_wish_reaches_the_swift_pace(house: Theatre) -> None:
    session_id = await house.session("swift")
    await played(house.client, session_id, player_input="I knock.")
    await played(house.client, session_id, "session.regenerate", hint="shorter")
    messages: Any = house.models.requests[-1].body["messages"]
    assert messages[-1]["content"].endswith(wish_text("shorter"))


async def test_a_long_wish_is_refused(house: Theatre) -> None:
    session_id = await house.session()
    await played(house.client, session_id, player_input="I knock.")
    with pytest.raises(RpcFailed) as refused:
        await played(house.client, session_id, "session.regenerate", hint="x" * (LONGEST_WISH + 1))
    assert refused.value.code in (-32600, -32602)


async def test_a_telling_that_failed_leaves_the_head_and_is_tried_again_with_its_wish(house: Theatre) -> None:
    session_id = await house.session()
    first, _, third = await three_turns(house.client, session_id)
    house.troupe.misbehave("narrator", Fail(status=500), Fail(status=500))
    failed = await played(house.client, session_id, "session.regenerate", turn_id=first, hint="let her refuse")
    assert failed["type"] == "failed"
    assert (await house.client.call("session.get", session_id))["head_turn_id"] == third
    again = await played(house.client, session_id, "session.retry_turn")
    turns = await tree(house.client, session_id)
    new = again["response"]["result"]["turn_id"]
    assert (turns[new]["label"], turns[new]["parent_id"]) == ("I knock.", turns[first]["parent_id"])
    told = [one for one in house.models.requests if role_of(one.body) == "narrator"][-1]
    assert "let her refuse" in str(told.body)


@pytest.mark.parametrize("pace", PACES)
async def test_other_words_are_said_in_place_of_a_turn(house: Theatre, pace: str) -> None:
    session_id = await house.session(pace)
    first, second, third = await three_turns(house.client, session_id)
    params = {"turn_id": second, "player_input": "I leave.", "key": "k1"}
    last = await played(house.client, session_id, "session.replay", **params)
    assert await played(house.client, session_id, "session.replay", **params) == last
    turns = await tree(house.client, session_id)
    new = last["response"]["result"]["turn_id"]
    assert (turns[new]["parent_id"], turns[new]["label"], len(turns)) == (first, "I leave.", 5)
    session = await house.client.call("session.get", session_id)
    assert [line["text"] for line in session["history"] if line["kind"] == "player_input"] == ["I knock.", "I leave."]
    assert third in turns


async def test_a_change_by_hand_is_passed_over(house: Theatre) -> None:
    session_id = await house.session()
    await played(house.client, session_id, player_input="I knock.")
    line = (await house.client.call("session.get", session_id))["history"][1]
    fields = {name: line[name] for name in ("message_id", "kind", "speaker_id", "speaker_name")}
    await house.client.call("session_message.update", session_id, **fields, text="It is late.")
    amended = (await house.client.call("session.get", session_id))["head_turn_id"]
    last = await played(house.client, session_id, "session.replay", turn_id=amended, player_input="I leave.")
    assert last["response"]["result"]["turn_index"] == 1


async def test_what_cannot_be_told_again_is_refused_and_says_why(house: Theatre) -> None:
    session_id, other = await house.session(), await house.session()
    start = (await house.client.call("session.get", session_id))["head_turn_id"]
    await played(house.client, other, player_input="I knock.")
    elsewhere = (await house.client.call("session.get", other))["head_turn_id"]
    for turn_id, code in ((start, 40909), ("turn_unknown", 40404), (elsewhere, -32600)):
        for method, more in (("session.regenerate", {}), ("session.replay", {"player_input": "I leave."})):
            with pytest.raises(RpcFailed) as refused:
                await played(house.client, session_id, method, turn_id=turn_id, **more)
            assert refused.value.code == code


async def test_replay_takes_words_as_a_turn_does(house: Theatre) -> None:
    session_id = await house.session()
    (turn_id, *_) = await three_turns(house.client, session_id)
    for params in ({}, {"player_input": " "}, {"choice": 1}, {"player_input": "x" * 20_001}):
        with pytest.raises(RpcFailed) as refused:
            await played(house.client, session_id, "session.replay", turn_id=turn_id, **params)
        assert refused.value.code in (-32600, -32602)


async def test_another_choice_is_taken_in_an_ink_play(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id, _ = await begin(client, CHOICES)
        await played(client, session_id, choice=0)
        await played(client, session_id, choice=0)
        turns = list((await tree(client, session_id)).values())
        last = await played(client, session_id, "session.replay", turn_id=turns[1]["turn_id"], choice=1)
        result = last["response"]["result"]
        assert [line["text"] for line in result["ink"]["lines"]] == ["You leave.", "Later."]
        assert (result["player_input"], result["turn_index"]) == ("Leave", 1)
        with pytest.raises(RpcFailed):
            await played(client, session_id, "session.replay", turn_id=turns[1]["turn_id"], choice=7)


async def test_a_talk_is_told_otherwise_each_time_and_as_wished(tmp_path: Path) -> None:
    async with knot_theatre(tmp_path, lambda _: says("NEEDS_INPUT")) as (client, model):
        session_id = await at_the_guard(client, api_group_id="scripted")
        await played(client, session_id, player_input="Hello.")
        turn_id = (await client.call("session.get", session_id))["head_turn_id"]
        for _ in range(2):
            await played(client, session_id, "session.regenerate", turn_id=turn_id, hint="let him refuse")
        asked = [one.body for one in model.requests]
        assert len(asked) == 3 and len({one["seed"] for one in asked}) == 3, "no telling is that of another one"
        assert ["let him refuse" in str(one) for one in asked] == [False, True, True]


async def test_the_understudy_tells_it_shorter(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id = await gate_session(client)
        told: list[int] = []
        for hint in (None, "shorter, please"):
            method = "session.run_turn" if hint is None else "session.regenerate"
            params = {"player_input": "I look around."} if hint is None else {"hint": hint}
            await played(client, session_id, method, **params)
            lines = (await client.call("session.get", session_id))["history"]
            told.append(sum(len(line["text"]) for line in lines if line["kind"] != "player_input"))
        assert told[1] < told[0]


@pytest.mark.parametrize(
    ("wish", "short"),
    [
        *[(wish, True) for wish in ("shorter", "Shorter!", "be brief", "kürzer bitte", "短一点")],
        *[(wish, False) for wish in ("let her refuse", "shortly after dawn", "longer", "")],
    ],
)
def test_a_wish_for_fewer_words_is_known(wish: str, short: bool) -> None:
    assert wants_short(wish) == short
