"""Ink stories in the terminal player: what is typed, what is shown, what bad input gets, and turns that are stopped."""

from __future__ import annotations

import asyncio
import io
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.fork_server import PROGRAM
from tests.ink_live import GATE, begin, play
from tests.knot_theatre import at_the_guard, says, theatre
from tests.live import Client, live_server
from tests.templates import fill_folder

from fabula.actions.house import House
from fabula.actions.library.ink_stories import UpdateInk, update_ink
from fabula.actions.library.stories import NameStory, show_story
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.cli.player.ink_files import publish_file
from fabula.cli.player.ink_session import InkSitting, ink_player_at
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.actors import OPERATOR
from fabula.settings import Settings
from fabula.story.values import JsonObject
from fabula.testing.model_script import Behaviour, Pace, Say
from fabula.testing.model_server import ModelServer
from fabula.testing.server_process import clean_environment
from fabula.wiring import open_house

INN = """\
# title: The Drowned Bell
VAR coins = 3
VAR paid = false
VAR name = ""
-> start
=== start
You come to an inn.
* [Talk] -> agent(-> cook, -> kitchen)
* [Talk] -> agent(-> ferryman, -> kitchen)
* [Sleep] -> bed
=== cook
I have cooked here for years.
The key lies under the salt.
-> DONE
=== ferryman
I pull the ferry.
-> DONE
=== kitchen
The kitchen door opens.
-> END
=== bed
~ name = input("Who sleeps here?")
Good night, {name}.
The rain is loud.
-> continue(-> morning)
=== morning
The morning is grey.
-> END
"""


def fabula(data: Path, *arguments: str, lines: bytes | str = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PROGRAM, *arguments, "--data-dir", str(fill_folder(data, "samples"))],
        input=lines.encode() if isinstance(lines, str) else lines,
        capture_output=True,
        env=clean_environment(),
        timeout=180,
        check=False,
    )


def inn(folder: Path, *lines: str | bytes, source: str = INN) -> str:
    """What is shown when the lines are typed into a play of a file."""
    file = folder / "inn.ink"
    file.write_text(source, "utf-8")
    typed = b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)
    done = fabula(folder / "data", "play", "--ink", str(file), "--seed", "3", lines=typed)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def back(folder: Path, told: str, *lines: str) -> str:
    """What is shown when the play of a transcript is taken up again."""
    session = re.findall(r"session_[0-9A-Z]{26}", told)[0]
    done = fabula(folder / "data", "play", "--session", session, lines="\n".join(lines) + "\n")
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_a_number_without_end_is_no_choice_and_ends_nothing(tmp_path: Path) -> None:
    nines = "9" * 5000
    told = inn(tmp_path, nines, f"/backtrack {nines}", f"/switch {nines}", "/backtrack 0", "/backtrack x", "3", "Wren")
    plain = " ".join(told.split())
    assert "Type the number of a choice, 1 to 3." in plain
    assert "This is the beginning: nothing has been played yet." in plain
    assert "There is only one line so far." in plain
    assert plain.count("Say how many turns to go back, as a number: /backtrack 2") == 2
    assert "Good night, Wren." in plain


def test_bytes_that_are_no_text_are_said_as_the_replacement_character(tmp_path: Path) -> None:
    told = inn(tmp_path, "1", b"The \xff\xfe key?", "/transcript")
    assert told.count("> The \ufffd\ufffd key?") == 2
    assert "Traceback" not in told and told.count("Cook: “") == 2


def test_a_file_that_is_not_utf_8_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "cafe.ink"
    file.write_bytes("Hello.\nA café.\n-> END\n".encode("latin-1"))
    done = fabula(tmp_path / "data", "play", "--ink", str(file))
    assert done.returncode == 1
    assert done.stderr.decode().strip() == "cafe.ink is not UTF-8: look at line 2. Save it as UTF-8 to play it."


@pytest.mark.parametrize("seed", ["-5", "99999999999999999999"])
def test_a_seed_that_cannot_be_is_answered_with_those_that_can(tmp_path: Path, seed: str) -> None:
    done = fabula(tmp_path, "play", "--story", "the-lamplighter", "--seed", seed)
    assert done.returncode == 2
    assert "a seed is a whole number from 0 to 2147483647" in done.stderr.decode()


def test_a_choice_that_stands_there_twice_is_asked_for_by_its_number(tmp_path: Path) -> None:
    told = inn(tmp_path, "talk", "Dance", "sleep")
    assert "That stands there more than once: type 1 or 2." in told
    assert "Type the number of a choice, 1 to 3." in told.partition("> Dance")[2]
    assert "[Who sleeps here?]" in told.partition("> sleep")[2]


def test_the_title_of_a_story_is_what_its_tag_says(tmp_path: Path) -> None:
    assert inn(tmp_path, "/status").startswith("THE DROWNED BELL\n")
    nameless = inn(tmp_path, "/save", source=INN.replace("# title: The Drowned Bell\n", ""))
    assert nameless.startswith("INN\n") and "This play is called “Inn”" in nameless


def test_status_tells_title_turn_variables_and_what_the_story_waits_for(tmp_path: Path) -> None:
    told = inn(tmp_path, "/status", "1", "/status", "/backtrack", "3", "/status", "Wren", "/status", "/help")
    first, listening, words, free, help = re.split(r"^> /(?:status|help)$", told, flags=re.MULTILINE)[1:]
    assert "The Drowned Bell\nTurn 0, open. The story waits for a choice.\n  coins: 3\n  paid: no\n" in first
    assert "Turn 1, open. The story waits for your words to Cook." in listening
    assert "Turn 1, open. The story waits for words: Who sleeps here?" in words
    assert "Turn 2, open. The story waits for what you do, in your own words." in free
    assert "  name: Wren\n" in free
    assert re.search(r"/status +Shows where you are, and what the story waits for\.\n", help)


def test_a_play_reads_alike_while_it_is_played_in_its_transcript_and_when_one_comes_back(tmp_path: Path) -> None:
    told = inn(tmp_path, "1", "Hello.", "The salt?", "/save", "/backtrack", "/transcript")
    spoken = re.findall(r"^Cook: “.+?”$", told, re.MULTILINE | re.DOTALL)
    assert spoken == [spoken[0], spoken[1], spoken[0], spoken[0]]
    transcript = told.partition("> /transcript\n")[2].strip()
    assert f"> Hello.\n\n{spoken[0]}" in transcript
    again = back(tmp_path, told, "/status")
    assert again.startswith(f"THE DROWNED BELL\n“The Drowned Bell”, turn 2\n\n{transcript}\n\n[Cook is listening]\n")


def test_what_the_story_waits_for_is_shown_again_wherever_one_goes(tmp_path: Path) -> None:
    told = inn(tmp_path, "3", "Wren", "/backtrack", "/switch 1", "/backtrack 2", "/switch 1", "/backtrack", "/save")
    commands = re.split(r"^> /", told, flags=re.MULTILINE)[1:]
    waits = [re.findall(r"^(?:\[|1: ).*", shown, re.MULTILINE) for shown in commands]
    asked, free = "[Who sleeps here?]", "[What do you do?]"
    assert waits == [[asked], [free], ["1: Talk"], [free], [asked], []]
    assert back(tmp_path, told, "/quit").count(asked) == 1


# With a model that can be slow, in this process


class Slow:
    """A model that answers at once, or only after a while."""

    def __init__(self) -> None:
        self.calls = 0
        self.first_token_ms = 0.0

    def __call__(self, request: JsonObject) -> Behaviour:
        self.calls += 1
        way = "INVALID_INPUT" if "xyzzy" in str(request["messages"]).rpartition("now says")[2] else "NEEDS_INPUT"
        said = says(way, f"Reply {self.calls}.", guidance="Try the lantern.")
        return Say(text=said.text, pace=Pace(first_token_ms=self.first_token_ms))

    async def was_asked(self, calls: int) -> None:
        while self.calls < calls:
            await asyncio.sleep(0.01)


class Typed:
    """What somebody types, and then no more."""

    def __init__(self, *lines: str) -> None:
        self._lines = iter(lines)

    async def next(self, prompt: str = "> ") -> str | None:
        return next(self._lines, None)


@asynccontextmanager
async def guarded(folder: Path) -> AsyncIterator[tuple[Client, Slow, str]]:
    """A play at the guard, whose words come from a model that can be slow."""
    model = Slow()
    async with theatre(folder, model) as (client, _):
        yield client, model, await at_the_guard(client, api_group_id="scripted")


async def sit(house: House, session_id: str, *lines: str) -> tuple[InkSitting, io.StringIO]:
    out = io.StringIO()
    writer = TerminalWriter(Console(file=out, soft_wrap=True, highlight=False, markup=False))
    return await ink_player_at(house, session_id, writer=writer, lines=Typed(*lines)), out


async def test_a_talk_that_leads_nowhere_gets_a_hint_at_every_second_reply(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (client, _, session_id):
        player_session, out = await sit(client.house, session_id, "One.", "Two.", "Three.", "Four.", "/backtrack 2")
        await player_session.play()
        parts = out.getvalue().split("[Guard is listening]")[1:-1]
        assert ["Try the lantern." in part for part in parts] == [False, True, False, True, True]


async def test_words_that_are_no_use_get_a_hint_at_once(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (client, _, session_id):
        player_session, out = await sit(client.house, session_id, "One.", "/backtrack", "Say xyzzy.")
        await player_session.play()
        assert out.getvalue().count("Try the lantern.") == 1
        assert "Guard: “Reply 2.”\n\nTry the lantern.\n\n[Guard is listening]" in out.getvalue()
        again, out = await sit(client.house, session_id)
        await again.play()
        assert out.getvalue().count("Try the lantern.") == 1, "it stands there when one comes back"


async def test_a_free_moment_shows_its_hint_again_after_going_back_to_it(tmp_path: Path) -> None:
    async with theatre(tmp_path, Slow()) as (client, _):
        source = "Rain.\n-> continue(-> yard)\n=== yard\nA yard.\n-> END\n"
        session_id, _ = await begin(client, source, api_group_id="scripted")
        player_session, out = await sit(client.house, session_id, "I wait.", "I wait on.", "/backtrack")
        await player_session.play()
        assert out.getvalue().count("\n\nReply 1.\n\nTry the lantern.\n\n[What do you do?]\n") == 2


async def test_ctrl_c_stops_an_ink_turn_and_keeps_the_words(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (client, model, session_id):
        player_session, out = await sit(client.house, session_id, "Open the gate.", "/retry")
        model.first_token_ms = 60_000
        before = signal.getsignal(signal.SIGINT)
        playing = asyncio.create_task(player_session.play())
        await model.was_asked(1)
        model.first_token_ms = 0
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.wait_for(playing, 120)
        told = out.getvalue()
        assert "Stopped. Your words are kept: /retry says them again." in told
        assert "Guard: “Reply 2.”" in told.partition("Stopped.")[2]
        session = await player_session.session()
        assert (session.turn_index, session.history[-2].text) == (2, "Open the gate.")
        assert signal.getsignal(signal.SIGINT) == before


async def test_who_comes_back_while_a_turn_is_played_hears_its_end(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (client, model, session_id):
        model.first_token_ms = 1_500
        await run_turn(client.house, OPERATOR, session_id, RunTurn(player_input="Hello."), request_id="play")
        player_session, out = await sit(client.house, session_id, "And you?")
        await asyncio.wait_for(player_session.play(), 120)
        told = out.getvalue()
        assert "Your last words are still being played. Ctrl+C stops them." in told
        assert "> Hello.\n\nGuard: “Reply 1.”\n\n[Guard is listening]" in told
        assert "Guard: “Reply 2.”" in told and "still running" not in told


async def test_a_turn_that_another_process_plays_is_heard_to_its_end_too(tmp_path: Path) -> None:
    async with guarded(tmp_path) as (client, model, session_id), open_house(Settings(data_dir=tmp_path)) as other:
        model.first_token_ms = 1_500
        await run_turn(client.house, OPERATOR, session_id, RunTurn(player_input="Hello."), request_id="play")
        player_session, out = await sit(other, session_id)
        await asyncio.wait_for(player_session.play(), 120)
        assert "> Hello.\n\nGuard: “Reply 1.”\n\n[Guard is listening]" in out.getvalue()


async def test_a_turn_that_a_killed_player_left_behind_is_heard_when_one_comes_back(tmp_path: Path) -> None:
    model, file = Slow(), tmp_path / "inn.ink"
    file.write_text(INN, "utf-8")
    async with ModelServer(model) as models:
        use = ["models", "use", "--base-url", models.base_url, "--model", "scripted", "--anyway"]
        await asyncio.to_thread(fabula, tmp_path / "data", *use)
        # It was asked before it was used; what counts here are the calls of the play.
        model.calls, model.first_token_ms = 0, 60_000
        told = await _killed_at_its_first_call(model, tmp_path / "data", "play", "--ink", str(file))
        model.first_token_ms = 500
        again = await asyncio.to_thread(back, tmp_path, told, "And you?")
    assert "> Hello.\n\nCook: “Reply 2.”\n\n[Cook is listening]" in again
    assert "Cook: “Reply 3.”" in again.partition("> And you?")[2]


async def _killed_at_its_first_call(model: Slow, data: Path, *arguments: str) -> str:
    """What a player had shown when it was killed in the middle of a talk."""
    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        *arguments,
        "--data-dir",
        str(data),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=clean_environment(),
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b"/save\n1\nHello.\n")
    await model.was_asked(1)
    process.kill()
    return (await process.stdout.read()).decode()


async def test_a_story_that_was_kept_under_the_name_of_its_file_gets_its_title(tmp_path: Path) -> None:
    file = tmp_path / "inn.ink"
    file.write_text(INN, "utf-8")
    async with open_house(Settings(data_dir=tmp_path / "data")) as house:
        story_id = await publish_file(house, file)
        for kept, shown in {"Inn": "The Drowned Bell", "My own name": "My own name"}.items():
            await update_ink(house, OPERATOR, UpdateInk(story_id=story_id, display_name=kept))
            assert await publish_file(house, file) == story_id
            assert (await show_story(house, OPERATOR, NameStory(story_id=story_id))).display_name == shown


async def test_a_place_that_was_edited_away_is_left_with_a_command(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id, _ = await begin(client)
        await play(client, session_id, choice=1)
        await play(client, session_id, player_input="Hello!")
        await _edit(client, session_id, GATE.replace("gate_opens", "gate_lifts"))
        player_session, out = await sit(
            client.house, session_id, "Hello again!", "/retry", "/regenerate", "/backtrack 2", "1"
        )
        await player_session.play()
        told = " ".join(out.getvalue().split())
        assert "does not exist any more. /backtrack 2 goes back to the last turn that is still in the story." in told
        assert "session.backtrack" not in told and "earlier turn with /backtrack." in told
        assert "THE END" in told


async def test_a_story_of_which_nothing_is_left_is_begun_anew(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session_id, _ = await begin(client)
        await _edit(client, session_id, "Another story.\n* [On] -> END\n")
        player_session, out = await sit(client.house, session_id, "1")
        await player_session.play()
        assert "Nothing of the last turns is left in it: begin it anew." in " ".join(out.getvalue().split())


async def _edit(client: Client, session_id: str, source: str) -> None:
    story: dict[str, Any] = await client.call("session.get", session_id)
    await client.call("story.update_ink", story_id=story["story_id"], source=source)
