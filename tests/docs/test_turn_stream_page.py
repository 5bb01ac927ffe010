"""The reference of the turn stream lists what is told, with its fields: by the types, and by plays."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from docs.build import ROOT
from tests import knot_theatre
from tests.ink_live import begin, play
from tests.knot_theatre import says
from tests.live import bodies
from tests.scripted import PACES, theatre

from fabula.server.stream.envelope import StreamFrame
from fabula.story.events import Event, InkEvent, SceneEvent
from fabula.story.ink_stories import Outcome, WaitingKind
from fabula.testing.model_script import Say

PAGE = (ROOT / "docs/reference/turn-stream.md").read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \|(.*?)\|", re.MULTILINE)
SECTIONS: dict[str, Any] = {"Events of an Ink play": InkEvent, "Events of a scene play": SceneEvent}


def rows(section: str, heading: str = "event") -> dict[str, set[str]]:
    """The names of a table with their fields; those that may be missing end in `?`."""
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    table = text.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return {name: set(re.findall(r"`([\w?]+)`", fields)) for name, fields in ROW.findall(table)}


def fields_of(kind: type[Event]) -> set[str]:
    """What an event carries; fields that may be missing end in `?`."""
    return {f"{one.name}{'?' if one.name in kind.optional else ''}" for one in fields(kind) if one.name != "type"}


@pytest.mark.parametrize("section", SECTIONS)
def test_every_event_has_a_row_with_its_fields_and_every_row_is_an_event(section: str) -> None:
    kinds: tuple[Any, ...] = get_args(SECTIONS[section])
    assert rows(section) == {kind.__dataclass_fields__["type"].default: fields_of(kind) for kind in kinds}


def test_frames_outcomes_and_kinds_of_input_are_all_there() -> None:
    assert rows("Frames", "frame").keys() == {
        get_args(get_type_hints(one)["type"])[0] for one in get_args(get_args(StreamFrame)[0])
    }
    assert rows("Events of an Ink play", "outcome").keys() == set(get_args(Outcome))
    assert rows("Events of an Ink play", "kind").keys() == set(get_args(WaitingKind)) - {"nothing"}


def assert_documented(section: str, told: list[dict[str, Any]]) -> None:
    documented = rows(section)
    for body in told:
        fields = documented[body["type"]]
        needed = {name for name in fields if not name.endswith("?")}
        assert needed <= body.keys() - {"type"} <= {name.rstrip("?") for name in fields}, body


STORY = """
VAR name = ""
~ name = input("Your name")
Good evening, {name}.
+ [Talk to the guard] -> agent(-> guard, -> gate_opens)
+ [Turn back] -> END
=== guard
I have stood at this gate for eleven winters.
-> DONE
=== gate_opens
The gate opens with a groan, and somebody says: {generate("a greeting")}
-> continue(-> courtyard)
=== courtyard
You are in.
-> END
"""


async def test_an_ink_play_tells_what_the_page_says_and_all_of_it(tmp_path: Path) -> None:
    answers = [
        *[Say(text="no decision")] * 2,
        says("NEEDS_INPUT", "Hm.", guidance="Speak of the gate."),
        says("BRIDGE_AND_CONTINUE", "", bridge_text="He nods."),
        Say(text="Come in."),
        says("DIRECT_CONTINUE", ""),
    ]
    async with knot_theatre.theatre(tmp_path, answers) as (client, _):
        session, _ = await begin(client, STORY)
        told: list[dict[str, Any]] = []
        turns: list[dict[str, Any]] = [{"player_input": "Ann"}, {"choice": 0}]
        for words in (*turns, *({"player_input": f"Words {n}."} for n in range(4))):
            frames = await play(client, session, **words)
            told += bodies(frames)
            result = frames[-1]["response"]["result"]
            assert result.keys() - {"notes"} == listed("`result` of a completed turn is", ink=True)
            degraded = [body for body in bodies(frames) if body["type"] == "agent_degraded"]
            assert result.get("notes", []) == [{k: v for k, v in body.items() if k != "type"} for body in degraded]
            assert frames[-1]["response"]["result"]["ink"].keys() == listed("`ink` is", ink=True)
    assert_documented("Events of an Ink play", told)
    assert {body["type"] for body in told} == rows("Events of an Ink play").keys()
    written = next(body["text"] for body in told if body["type"] == "generated_text")
    assert sum(written in body["text"] for body in told if body["type"] == "ink_text") == 1
    choices = next(body["choices"] for body in told if body["type"] == "ink_choices")
    assert [one["index"] for one in choices] == [0, 1] and choices[0].keys() == {"index", "text", "tags"}


@pytest.mark.parametrize("pace", PACES)
async def test_a_scene_play_tells_what_the_page_says(tmp_path: Path, pace: str) -> None:
    async with theatre(tmp_path) as house:
        frames = await house.client.turn(await house.session(pace), "Who are you?")
    assert_documented("Events of a scene play", bodies(frames))
    assert frames[-1]["response"]["result"].keys() == listed("`result` of a completed turn is", ink=False)


def listed(sentence: str, *, ink: bool) -> set[str]:
    """The fields that stand in braces after a sentence of one of the two sections."""
    before, _, after = PAGE.partition("## Events of a scene play")
    text = " ".join((before if ink else after).split())
    return set(text.partition(f"{sentence} `{{")[2].partition("}`")[0].split(", "))
