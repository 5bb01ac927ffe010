"""What stands beside a turn is there again when the play is opened later: changes, refusals, help, scenes, tags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.ink_live import begin, play
from tests.live import live_server
from tests.scripted import Theatre, theatre

from fabula.actions.plays.list_turn_notes import ListTurnNotes, list_turn_notes
from fabula.ports.actors import Actor
from fabula.testing.model_script import Say, say_json

TAGGED = """
The lamp is lit. # clear # title: The Lamp
* [Go on] -> on
=== on
Who goes there? # speaker: Guard
A bell.
-> END
"""


async def notes(house: Theatre, session: str) -> list[dict[str, Any]]:
    lines = (await house.client.call("session.get", session))["history"]
    ids = list(dict.fromkeys(line["turn_id"] for line in lines))
    found = await house.client.call("session_turn.notes", session, turn_ids=ids)
    turns: list[dict[str, Any]] = found["turns"]
    return turns


async def test_a_turn_tells_what_it_changed_and_on_whose_word(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        session = await house.session()
        opened = say_json({"ops": [{"type": "SetState", "key": "gate_open", "value": True}]})
        house.troupe.misbehave("keeper", opened)
        await house.client.turn(session, "I open the gate.")
        (turn,) = await notes(house, session)
        change = {"scope": "world", "owner": "", "key": "gate_open", "before": False, "after": True}
        assert turn["changes"] == [{**change, "by": "after_player_input"}]
        assert turn["scene"] == "garden"
        assert "refused" not in turn and "helped" not in turn
        ids = [turn["turn_id"]]
        answer = await house.client.call("session_turn.notes", session, turn_ids=ids)
        assert answer["scenes"] == {"garden": "The Garden"}


async def test_what_was_refused_and_who_helped_out_is_kept(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        session = await house.session()
        house.troupe.misbehave("keeper", say_json({"ops": [{"type": "SetState", "key": "gate_open", "value": "wide"}]}))
        house.troupe.misbehave("director", *[Say(text="no plan")] * 8)
        await house.client.turn(session, "I push the gate.")
        (turn,) = await notes(house, session)
        (refused,) = turn["refused"]
        assert refused["about"] == "gate_open" and refused["reason"]
        assert [one["agent"] for one in turn["helped"]] == ["director"]


async def test_thoughts_are_told_to_those_who_see_plans_and_to_nobody_else(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        session = await house.session()
        await house.client.turn(session, "Good evening.")
        (turn,) = await notes(house, session)
        assert turn["thoughts"] and turn["thoughts"][0]["speaker_id"] == "mara"
        guest = Actor(role="player", token_id="guest")
        async with house.client.house.store.writing() as unit:
            await unit.plays.invite(session, "guest")
        command = ListTurnNotes(turn_ids=[str(turn["turn_id"]), "turn_unknown"])
        seen = await list_turn_notes(house.client.house, guest, session, command)
        assert [one.thoughts for one in seen.turns] == [[]]


async def test_lines_of_an_ink_story_keep_their_tags(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, started = await begin(client, TAGGED)
        assert started["ink"]["lines"][0]["tags"] == ["clear", "title: The Lamp"]
        await play(client, session, choice=0)
        lines = (await client.call("session.get", session))["history"]
        ids = [lines[0]["turn_id"], lines[-1]["turn_id"]]
        found = await client.call("session_turn.notes", session, turn_ids=ids)
        assert found["turns"][0] == {
            "turn_id": ids[0],
            "lines": [{"text": "The lamp is lit.", "tags": ["clear", "title: The Lamp"]}],
        }
        assert found["turns"][1]["lines"] == [
            {"text": "Who goes there?", "tags": ["speaker: Guard"]},
            {"text": "A bell.", "tags": []},
        ]


async def test_variables_say_what_they_may_be(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        weather = {"value_type": "string", "default": "rain", "enum_values": ["rain", "fog"], "description": "Sky."}
        schema = await house.client.call("schema.get", schema_id="gate-world")
        fields = {**schema["fields"], "weather": weather}
        await house.client.call("schema.update", schema_id="gate-world", fields=fields)
        session = await house.session()
        assert "types" not in await house.client.call("session.get_variables", session)
        types = (await house.client.call("session.get_variables", session, types=True))["types"]
        named = {(one["scope"], one["owner"], one["key"]): one for one in types}
        assert named["world", "", "weather"]["enum_values"] == ["rain", "fog"]
        assert named["world", "", "gate_open"]["value_type"] == "bool"
        assert named["character", "mara", "trust"]["value_type"] == "int"


async def test_what_the_dice_decided_is_kept(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        story = (await house.client.call("session.get", await house.session()))["story_id"]
        started = await house.client.call("story.start_session", story_id=story, rules="d20", seed=3)
        await house.client.turn(started["session_id"], "I climb the gate.")
        (turn,) = await notes(house, started["session_id"])
        (rolled,) = turn["rolls"]
        assert (rolled["check"]["skill"], rolled["target"]) == ("athletics", 12)
        assert rolled["margin"] == rolled["roll"]["total"] - 12
