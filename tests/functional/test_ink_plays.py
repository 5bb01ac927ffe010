"""Ink stories played as sessions: choices, texts, endings, and the tree of turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.ink_live import GATE, begin, of_type, outcome, play, told
from tests.live import RpcFailed, live_server

from fabula.actions.plays.play_states import state_at


async def test_a_play_opens_with_the_text_before_the_first_choice(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, started = await begin(client)
        assert "Rain falls" in started["history"][0]["text"]
        assert "orders" not in started["history"][0]["text"], "a context line is not for the reader"
        assert [one["text"] for one in started["ink"]["choices"]] == ["Turn back", "Talk to the guard"]
        assert (await client.call("session.get", session))["ink"]["input"] == {"kind": "choice"}


async def test_a_choice_goes_on_and_an_ending_ends_the_session(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client)
        frames = await play(client, session, choice=0)
        assert of_type(frames, "story_ended") and frames[-1]["type"] == "completed"
        assert frames[-1]["response"]["result"]["completed_beats"] == [], "clients look for it in every turn"
        assert (await client.call("session.get", session))["status"] == "ended"
        with pytest.raises(RpcFailed, match="The story has ended"):
            await play(client, session, choice=0)


async def test_what_does_not_fit_the_moment_is_refused_before_the_turn_begins(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client)
        for wrong in ({"choice": 7}, {"player_input": "dance"}, {}, {"choice": 0, "player_input": "Turn back"}):
            with pytest.raises(RpcFailed) as refused:
                await play(client, session, **wrong)
            assert refused.value.code == -32600
        assert (await client.call("session.get", session))["turn_index"] == 0
        assert of_type(await play(client, session, player_input="turn BACK"), "story_ended")


async def test_a_text_is_asked_for_and_kept(tmp_path: Path) -> None:
    source = 'VAR who = ""\n~ who = input("Your name")\nHello, {who}.\n~ input("Again", "who")\nBye, {who}.\n-> END'
    async with live_server(tmp_path) as client:
        session, started = await begin(client, source)
        assert started["ink"]["input"] == {"kind": "text", "placeholder": "Your name"}
        assert told(await play(client, session, player_input="Ann")) == ["Hello, Ann."]
        assert told(await play(client, session, player_input="Bo")) == ["Bye, Bo."]


async def test_generated_text_is_shown_in_place_or_kept(tmp_path: Path) -> None:
    source = 'VAR x = ""\n~ x = generate("a storm")\n~ generate("a lamp")\nKept: {x}\n-> END'
    async with live_server(tmp_path) as client:
        _, started = await begin(client, source)
        lines = [one["text"] for one in started["ink"]["lines"]]
        assert len(lines) == 2 and "a lamp" in lines[0] and lines[1].startswith("Kept: ") and "a storm" in lines[1]


async def test_talk_brings_the_reader_through_the_gate_with_no_model(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client)
        frames = await play(client, session, choice=1)
        assert frames[-1]["response"]["result"]["snapshot"]["world_state"]["current_node"] == "gate"
        assert of_type(frames, "ink_input_requested") == [
            {"type": "ink_input_requested", "kind": "agent", "character": "Guard"}
        ]
        assert outcome(await play(client, session, player_input="Hello!"))["outcome"] == "NEEDS_INPUT"
        frames = await play(client, session, player_input="The lantern is for a friend. Lift it and open the gate.")
        assert outcome(frames)["outcome"] in ("DIRECT_CONTINUE", "BRIDGE_AND_CONTINUE")
        assert "gate opens" in told(frames)[-1]
        assert of_type(frames, "ink_choices")[0]["choices"][0]["text"] == "Go in"


async def test_going_back_into_a_talk_restores_it_exactly(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client, seed=5)
        await play(client, session, choice=1)
        await play(client, session, player_input="Hello!")
        before = await client.call("session.get", session)
        first = await play(client, session, player_input="Tell me about the winters?")
        await client.call("session.backtrack", session, turns=1)
        assert (await client.call("session.get", session))["state_hash"] == before["state_hash"]
        again = await play(client, session, player_input="Tell me about the winters?")
        assert outcome(again) == outcome(first)


async def test_a_fork_and_a_regenerated_turn_stand_on_the_same_tree(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client)
        await play(client, session, choice=1)
        await play(client, session, player_input="Hello!")
        await client.turn(session, "", method="session.regenerate")
        fork = (await client.raw("session.fork", session))["session_id"]
        assert outcome(await play(client, fork, player_input="The winters?"))["reply"]
        tree = (await client.call("session.branches", session))["turns"]
        assert [one["label"] for one in tree].count("Hello!") == 2


async def test_an_edited_story_goes_on_where_its_place_is_unchanged_and_is_refused_where_it_is_gone(
    tmp_path: Path,
) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client)
        story = (await client.call("session.get", session))["story_id"]
        await play(client, session, choice=1)
        await client.call("story.update_ink", story_id=story, source=GATE.replace("eleven winters", "twelve winters"))
        assert outcome(await play(client, session, player_input="Hello!"))["outcome"] == "NEEDS_INPUT"
        gone = GATE.replace("gate_opens", "gate_lifts")
        await client.call("story.update_ink", story_id=story, source=gone)
        with pytest.raises(RpcFailed) as refused:
            await play(client, session, player_input="Hello again!")
        assert refused.value.code == 40909 and "gate_opens" in refused.value.data["reason"]
        await client.call("session.backtrack", session, turn_id=refused.value.data["resume_turn_id"])
        assert of_type(await play(client, session, choice=0), "story_ended")


async def test_choices_that_read_alike_are_told_apart(tmp_path: Path) -> None:
    source = "+ [Go] First.\n+ [Go] Second.\n- -> END"
    async with live_server(tmp_path) as client:
        session, _ = await begin(client, source)
        assert told(await play(client, session, choice=1)) == ["Second."]


KINDS_OF_TURNS = """
VAR half = 0.5
VAR whole = 2.0
VAR who = ""
VAR open = false
-> road
=== road
A road. # rain
* [On] -> name
=== name
~ who = input("Your name")
~ half = half * 3
~ open = true
Hello, {who}.
-> agent(-> guard, -> gate_opens)
=== guard
Nobody passes without a word about the lantern.
-> DONE
=== gate_opens
The guard lifts the lantern, and the gate opens.
-> END
"""


async def test_a_play_that_is_remembered_stands_exactly_as_it_is_stored(tmp_path: Path) -> None:
    moves: list[dict[str, Any]] = [
        {"choice": 0},
        {"player_input": "Zoë ’n’ 1.0"},
        {"player_input": ""},
        {"player_input": "The lantern?"},
    ]
    async with live_server(tmp_path) as client:
        session, _ = await begin(client, KINDS_OF_TURNS)
        for move in moves:
            assert (await play(client, session, **move))[-1]["type"] == "completed"
            head = (await client.call("session.get", session))["head_turn_id"]
            remembered = client.house.turn_states.after(head)
            async with client.house.store.reading() as unit:
                stored = await state_at(unit, head)
            assert remembered is not None and remembered.play == stored
            assert remembered.play.as_json() == stored.as_json()


async def test_a_session_that_is_bound_to_other_models_asks_those_at_its_next_turn(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client)
        await play(client, session, choice=1)
        await play(client, session, player_input="Hello!")
        api = {"provider": "open_ai", "base_url": "http://127.0.0.1:9", "api_key": "sk-none", "model": "nobody"}
        await client.call("api.create", api_id="gone", display_name="Gone", **api)
        group = await client.call("api_group.get", api_group_id="builtin")
        bindings = dict.fromkeys(group["bindings"], "gone")
        await client.call("api_group.create", api_group_id="gone", display_name="Gone", bindings=bindings)
        await client.call("session.update_config", session, api_group_id="gone")
        assert (await play(client, session, player_input="And now?"))[-1]["type"] == "failed"
        await client.call("session.update_config", session, api_group_id="builtin")
        assert outcome(await play(client, session, player_input="And now?"))["reply"]


async def test_a_save_that_would_be_far_too_long_is_never_written(tmp_path: Path) -> None:
    deep = "VAR d = 0\n* [Go] -> on\n=== on\n~ d = d + 1\n{d < 900: -> on -> }\n" + "+ [x] -> END\n" * 49 + "- ->->\n"
    wide = "".join(f"~ v{n} = s\n" for n in range(100))
    wide = f'VAR s = "xxxxxxxx"\n{wide.replace("~", "VAR").replace("= s", "= 0")}* [Go] -> on\n=== on\n' + (
        "~ s = s + s\n" * 12 + f"{wide}+ [x] -> END\n"
    )
    async with live_server(tmp_path) as client:
        for source in (deep, wide):
            session, _ = await begin(client, source)
            failed = (await play(client, session, choice=0))[-1]["error"]["message"]
            assert "letters or more; 1000000 is the most" in failed
            assert int(failed.split("grown to ")[1].split()[0]) < 1_100_000, "counting ended there, too"
