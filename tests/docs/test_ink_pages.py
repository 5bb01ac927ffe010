"""What the pages about Ink say beyond their console examples: lines, names, refusals, and which command knows what."""

from __future__ import annotations

import asyncio
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from docs.build import ROOT
from tests.fork_server import PROGRAM
from tests.ink_live import begin, play
from tests.knot_theatre import at_the_guard, decide, says, theatre
from tests.live import GATE_GRAPH, Client, live_server
from tests.templates import fill_folder
from typer.testing import CliRunner

from fabula.cli.ink import app
from fabula.knots.names import shown_name
from fabula.server.rpc.catalogue import build_catalogue
from fabula.server.rpc.streams import StreamingMethod
from fabula.testing.model_script import Pace, Say
from fabula.testing.server_process import clean_environment

HOW_TO = ROOT / "docs/how-to"
WRITING = (HOW_TO / "write-a-story-in-ink.md").read_text("utf-8")
TALKING = (HOW_TO / "put-a-talking-character-into-your-ink-story.md").read_text("utf-8")
OVER_HTTP = (HOW_TO / "play-an-ink-story-over-http.md").read_text("utf-8")


def told(folder: Path, command: str, source: str) -> tuple[int, str]:
    """How `fabula ink` ends on a file named inn.ink, and what it says on the error stream."""
    (folder / "inn.ink").write_text(source, "utf-8")
    done = CliRunner().invoke(app, [command, str(folder / "inn.ink")], input="")
    return done.exit_code, done.stderr


def first_ink(page: str) -> str:
    return page.partition("```ink\n")[2].partition("```")[0]


def test_the_slip_that_the_page_shows_is_told_with_the_pages_own_line(tmp_path: Path) -> None:
    _, said = told(tmp_path, "check", first_ink(WRITING).replace("-> road", "-> raod"))
    assert f"    {said.strip()}\n" in WRITING


def test_the_commands_that_know_ai_knots_are_those_that_the_page_names(tmp_path: Path) -> None:
    source = first_ink(OVER_HTTP)
    assert told(tmp_path, "check", source) == (0, "")
    for command in ("play", "compile"):
        assert f"`fabula ink {command}`" in TALKING
        assert told(tmp_path, command, source)[0] == 1


@pytest.mark.parametrize("ending", ["END", "DONE"])
def test_an_ending_cannot_be_a_goal_and_a_knot_that_ends_can(tmp_path: Path, ending: str) -> None:
    source = first_ink(OVER_HTTP)
    assert f"`-> {ending}`" in TALKING
    assert told(tmp_path, "check", source.replace("-> gate_opens)", f"-> {ending})"))[0] == 1
    the_end = "\n".join(line.strip() for line in re.findall(r"^      (.*)$", TALKING, re.MULTILINE))
    assert "=== the_end" in the_end
    assert told(tmp_path, "check", f"{source.replace('-> gate_opens)', '-> the_end)')}{the_end}\n")[0] == 0


@pytest.mark.parametrize("character", ["empty_knot", "gate_opens"])
def test_a_character_without_a_voice_or_as_its_own_goal_may_be_played_with_a_warning(
    tmp_path: Path, character: str
) -> None:
    source = first_ink(OVER_HTTP).replace("agent(-> guard,", f"agent(-> {character},")
    code, said = told(tmp_path, "check", f"{source}\n=== empty_knot\n-> DONE\n")
    assert code == 0 and f"'{character}'" in said and said.startswith("WARNING: ")


def test_the_names_that_readers_see_are_as_the_page_says() -> None:
    shown = re.findall(r"`([\w.]+)`(?: is shown)? as ([A-Z][\w ]*\w)", TALKING)
    assert [path for path, _ in shown] == ["old_guard", "inn.cook"]
    assert all(shown_name(path) == name for path, name in shown)


def test_the_lamplighters_lines_are_the_samples_own() -> None:
    sample = (ROOT / "stories/ink/the-lamplighter.ink").read_text("utf-8")
    quoted = re.findall(r"^    (\S.*)$", TALKING, re.MULTILINE)
    assert len(quoted) > 5 and all(line in sample for line in quoted)
    assert all(f"    {line}\n" in WRITING for line in sample.splitlines()[:2])


def fabula(data: Path, *arguments: str, lines: str = "/quit\n") -> str:
    """What `fabula play` shows for these lines."""
    done = subprocess.run(
        [*PROGRAM, "play", "--data-dir", str(fill_folder(data, "samples")), *arguments],
        input=lines,
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=120,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.stdout


def test_an_edited_file_is_another_story_and_an_old_play_goes_on_with_the_old_text(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "the-old-inn.ink"
    file.write_text("Hello.\n+ [Go] It rains.\n-> END\n", "utf-8")
    saved = fabula(data, "--ink", str(file), lines="/save\n").split("--session ")[1].split()[0]
    fabula(data, "--ink", str(file))
    file.write_text("# title: Elsewhere\nHello.\n+ [Go] It snows.\n-> END\n", "utf-8")
    fabula(data, "--ink", str(file))
    assert sorted(re.findall(r"(\w[\w ]*) \(ink-\w+\)", fabula(data, lines="new\n"))) == ["Elsewhere", "The Old Inn"]
    assert "It rains." in fabula(data, "--session", saved, lines="1\n")


PARAMS: dict[str, dict[str, Any]] = {
    "session.roll": {"formula": "2d6"},
    "session.flashback": {"text": "Yesterday it rained."},
    "session_zero.update": {"premise": "It rains."},
    "boundary.update": {"lines": ["fog"]},
    "session.explain_turn": {"turn_id": "TURN"},
    "session.find": {"query": "rain"},
    "session_turn.get": {"turn_id": "TURN"},
    "session_turn.notes": {"turn_ids": ["turn_x"]},
    "session_turn.siblings": {"turn_ids": ["turn_x"]},
    "session_turn.update": {"turn_id": "TURN", "bookmarked": True},
    "session.export_prepare": {"format": "text"},
    "preset_preview.runtime": {"preset_id": "builtin", "agent": "narrator", "narrator_purpose": "describe_scene"},
    "session.switch_branch": {"turn_id": "TURN"},
    "session.update": {"display_name": "A rainy evening"},
    "session.update_player_description": {"player_description": "Tall."},
    "session.update_variables": {"update": {"ops": [{"type": "SetState", "key": "asked", "value": 1}]}},
    "session_character.create": {"display_name": "Dog", "personality": "kind", "style": "", "system_prompt": ""},
    "session_message.create": {"kind": "narration", "speaker_id": "x", "speaker_name": "X", "text": "It rains."},
    "session_message.delete": {"message_id": "MESSAGE"},
    "session_message.get": {"message_id": "MESSAGE"},
    "session_message.update": {
        "message_id": "MESSAGE",
        "kind": "narration",
        "speaker_id": "x",
        "speaker_name": "X",
        "text": "It snows.",
    },
    "story.get": {"story_id": "STORY"},
    "story.update": {"story_id": "STORY", "display_name": "The Gate"},
    "story.update_graph": {"story_id": "STORY", "graph": GATE_GRAPH},
    "story.update_ink": {"story_id": "STORY"},
}
NOT_ASKED = re.compile(r"session_character\.(?!create|list)|session\.(delete|cancel_turn|list)|story\.(delete|list)")
ABOUT_PLAYS = re.compile(r"session|boundary|story\.(get|update)|preset_preview\.runtime")


async def test_the_methods_that_refuse_an_ink_play_are_those_of_the_table(tmp_path: Path) -> None:
    refusing = set()
    async with live_server(tmp_path) as client:
        session, _ = await begin(client)
        await play(client, session, choice=1)
        for method in build_catalogue():
            asked = ABOUT_PLAYS.match(method.name) and not NOT_ASKED.match(method.name)
            if asked and not isinstance(method, StreamingMethod):
                params = await named(client, session, PARAMS.get(method.name, {}))
                answer = await client.raw(method.name, session, **params)
                if "error" in answer:
                    assert answer["error"]["code"] == -32600 and "of kind 'ink'" in answer["error"]["message"], answer
                    refusing.add(method.name)
    table = OVER_HTTP.partition("| method | why not |\n|---|---|\n")[2].partition("\n\n")[0]
    assert refusing == {name for row in table.splitlines() for name in re.findall(r"`([\w.]+)`", row.split("|")[1])}


async def named(client: Client, session: str, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters with the names of this play in them."""
    view = await client.call("session.get", session)
    names = {"STORY": view["story_id"], "TURN": view["head_turn_id"], "MESSAGE": view["history"][-1]["message_id"]}
    return {key: names.get(value, value) if isinstance(value, str) else value for key, value in params.items()}


async def test_a_second_message_is_refused_with_the_turn_in_flight_and_a_failed_one_may_be_sent_again(
    tmp_path: Path,
) -> None:
    slow = Say(text=str(says("NEEDS_INPUT", "One at a time.").text), pace=Pace(first_token_ms=1_500))
    async with theatre(tmp_path, [slow]) as (client, model):
        session = await at_the_guard(client)
        first = asyncio.create_task(decide(client, session, "message-1", "Hello."))
        while not model.requests:
            await asyncio.sleep(0.01)
        second = await decide(client, session, "message-2", "Well?")
        assert second.status_code == 409 and second.json()["data"]["active_turn_id"].startswith("turn_")
        assert "`data.active_turn_id`" in OVER_HTTP
        assert (await first).status_code == 200
        assert (await decide(client, session, "message-2", "Well?")).status_code == 200


def test_every_page_is_linked_from_the_first_one() -> None:
    first = (ROOT / "docs/README.md").read_text("utf-8")
    pages = [
        page for folder in ("start", "how-to", "why", "reference") for page in (ROOT / "docs" / folder).glob("*.md")
    ]
    assert [page.name for page in pages if f"{page.parent.name}/{page.name})" not in first] == []
    assert "docs/how-to/write-a-story-in-ink.md" in (ROOT / "README.md").read_text("utf-8")
