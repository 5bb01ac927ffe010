"""The terminal player as a user meets it: in a pipe, with every command, and with what bad input gets."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.fork_server import PROGRAM
from tests.templates import fill_folder

from fabula.cli.player.commands import COMMANDS, INK_COMMANDS
from fabula.testing.server_process import clean_environment

STORY = "lighthouse-the-unlit-hour"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder where the samples are installed."""
    return fill_folder(tmp_path, "samples")


def fabula(data: Path, *arguments: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments, "--data-dir", str(data)],
        input=lines,
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=180,
        check=False,
    )


def play(data: Path, *lines: str, story: str = STORY) -> str:
    done = fabula(data, "play", "--story", story, "--seed", "1", lines="\n".join(lines) + "\n")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_story_is_picked_by_its_number(data: Path) -> None:
    told = fabula(data, "play", lines="1\n").stdout
    assert "1. The Walking Court (caravan-the-walking-court)" in told
    assert "THE WALKING COURT" in told.partition("Number: 1")[2]


def test_what_cannot_be_played_is_told_in_a_sentence(data: Path) -> None:
    missing = fabula(data, "play", "--story", "nowhere")
    assert (missing.returncode, missing.stderr.strip()) == (1, "There is no story named 'nowhere'.")
    none = fabula(data, "play", lines="9\n")
    assert none.returncode == 1 and "Answer with a number from 1 to 6." in none.stderr
    both = fabula(data, "play", "--story", STORY, "--session", "x")
    assert both.returncode == 1 and "give --session alone" in both.stderr


def test_a_script_learns_of_failed_turns_from_the_exit_code(data: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "play", "--story", STORY, "--data-dir", str(data)],
        input="I look around.\n",
        capture_output=True,
        text=True,
        env=clean_environment({"FABULA_TURN_DEADLINE_S": "0.000001"}),
        timeout=180,
        check=False,
    )
    assert re.search(r"/retry +(?:asks|says it) again\.", done.stdout)
    assert done.returncode == 1


def test_help_lists_every_command_and_unknown_ones_are_answered(data: Path) -> None:
    lines = ["/help", "/stauts", "/back", "/sing", "/backtrack x", "/switch 9", "/backtrack 5", "/suggest 99"]
    told = play(data, *lines, "/regenerate")
    for name, command in COMMANDS.items():
        assert re.search(rf"^  /{name}\b.*\s{{2,}}{re.escape(command.sentence)}$", told, re.MULTILINE | re.DOTALL)
    plain = " ".join(told.split())
    assert "There is no command /stauts. Did you mean /status?" in plain
    assert "There is no command /back. Did you mean /backtrack?" in plain
    assert "There is no command /sing. /help lists them all" in plain
    assert "Say how many turns to go back" in plain
    assert "This is the beginning: nothing has been played yet." in plain
    assert "There is only one line so far." in plain
    assert "Ask for 2 to 5 suggestions: /suggest 3" in plain
    assert "Nothing has been played yet that could be played again." in plain


def test_going_back_branching_and_switching_leave_nothing_lost(data: Path) -> None:
    lines = [
        "Hello.",
        "/backtrack 2",
        "/backtrack",
        "I go to the inn.",
        "/branches",
        "/switch 1",
        "/switch 9",
        "/status",
    ]
    told = play(data, *lines)
    assert "Only 1 turn has been played." in told
    assert "Back at turn 0." in told
    assert "Say which line, a number from 1 to 2" in told
    tree = told.partition("> /branches")[2]
    assert "- 1: Hello.  [1]" in tree
    assert "* 1: I go to the inn.  [2]  (you are here)" in tree
    assert "On line 1 now, at turn 1." in told
    assert "The Unlit Hour: The Jetty" in told.partition("> /status")[2]


def test_a_turn_can_be_played_anew(data: Path) -> None:
    told = play(data, "What happened here?", "/regenerate", "/branches")
    assert told.count("1: What happened here?  [") == 2


def test_what_models_would_be_told_next_is_listed_with_its_tokens(data: Path) -> None:
    told = play(data, "Hello.", "/context I light the lamp.").partition("> /context")[2]
    assert "of 16000 tokens" in told and "shared_history" in told and "Nothing to tell:" in told


def test_a_turn_says_what_happened_in_it(data: Path) -> None:
    told = play(data, "Hello.", "/trace", "/trace 9").partition("> /trace")[2]
    assert "Turn 1, committed." in told and "load_context" in told and "1. " in told
    assert "There is no turn 9" in told or "turn" in told.partition("> /trace 9")[2]
    session = json.loads(fabula(data, "sessions", "list", "--json").stdout)[0]["session_id"]
    shown = fabula(data, "sessions", "explain", session, "--turn", "1", "--prompts").stdout
    assert "[system]" in shown and "[reply]" in shown
    traced = json.loads(fabula(data, "sessions", "explain", session, "--json").stdout)
    assert traced["type"] == "turn_trace" and traced["calls"]


def test_a_play_is_named_left_and_taken_up_again(data: Path) -> None:
    told = play(data, "Hello.", "/save Rainy evening", "/quit", "this is never read")
    assert "This play is called “Rainy evening”" in told
    assert "never read" not in told
    session = re.findall(r"session_[0-9A-Z]{26}", told)[0]
    again = fabula(data, "play", "--session", session, lines="/transcript\n").stdout
    assert "“Rainy evening”, turn 1" in again
    assert again.count("> Hello.") == 2


def test_dice_are_rolled_and_the_story_so_far_is_told(data: Path) -> None:
    told = play(data, "/recap", "Hello. Who are you?", "/roll 2d6+1 to climb", "/roll", "/recap", "/character")
    assert "Nothing has happened yet." in told
    assert re.search(r"rolls 2d6\+1 to climb: \d+ \[\d, \d\]\.", told)
    assert "Say which dice" in told
    assert "Tobias Finch" in told.rpartition("> /recap")[2]
    assert "This play has no game system." in told


def test_what_is_believed_is_listed(data: Path) -> None:
    told = play(data, "The king is dead.", "/beliefs", "/beliefs nobody")
    assert "nobody takes nothing to be true yet." in told


def test_a_fork_goes_on_beside_the_first_play(data: Path) -> None:
    told = play(data, "Hello.", "/fork What if", "I go to the inn.", "/status")
    assert "You go on in a copy, “What if”." in told
    first, second = dict.fromkeys(re.findall(r"session_[0-9A-Z]{26}", told))
    assert first != second
    back = fabula(data, "play", "--session", first, lines="/status\n").stdout
    assert "Turn 1, open." in back


def test_a_suggestion_is_said_by_its_number(data: Path) -> None:
    told = play(data, "/suggest 2", "1", "/transcript")
    suggested = re.search(r"^  1\. (.+)$", told, re.MULTILINE)
    assert suggested is not None
    assert f"> {suggested[1]}" in told.partition("> /transcript")[2]


def test_what_is_wished_out_of_character_is_followed_or_answered(data: Path) -> None:
    told = play(data, "/ooc Shorter, please.", "/ooc More spiders.")
    shorter, _, spiders = told.partition("> /ooc More spiders.")
    assert "(Out of character: no model tells this story" in " ".join(spiders.split())
    assert "Out of character" not in shorter


def test_thoughts_are_private_until_asked_for(data: Path) -> None:
    told = play(data, "Hello.", "/thoughts", "Who are you?", "I look around.", "Tell me more.")
    before, _, after = told.partition("> /thoughts")
    assert not re.search(r"^\(.+\)$", before, re.MULTILINE)
    assert re.search(r"^\(.+\)$", after, re.MULTILINE)


def test_nothing_is_played_after_the_end(data: Path) -> None:
    road = [
        "I walk up to the lighthouse.",
        "I read the logbook.",
        "I follow Captain Lund aboard.",
        "I pocket the envelope.",
        "And now?",
    ]
    told = play(data, *road)
    assert "THE END" in told
    assert "This play has ended." in told.partition("> And now?")[2]


def test_samples_are_installed_by_hand_too(tmp_path: Path) -> None:
    first = fabula(tmp_path, "samples", "install").stdout
    assert "The Unlit Hour" in first and "things added" in first
    assert fabula(tmp_path, "samples", "install").stdout.count("was there already") == 6


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")
@pytest.mark.parametrize(("story", "hint"), [(STORY, "own words"), ("the-lamplighter", "Walk on into the fog")])
def test_at_a_terminal_ctrl_c_asks_and_a_second_one_leaves(data: Path, story: str, hint: str) -> None:
    leader, follower = pty.openpty()
    environment = {
        **clean_environment(),
        "TERM": "xterm-256color",
        "PROMPT_TOOLKIT_NO_CPR": "1",
        "COLUMNS": "80",
        "LINES": "40",
    }
    command = [*PROGRAM, "play", "--story", story, "--data-dir", str(data)]
    process = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    try:
        shown = wait_for(leader, hint, PROMPTED)
        assert "\x1b[1" in shown, "a terminal gets colours"
        os.write(leader, b"\x03")
        wait_for(leader, "Press Ctrl+C again", PROMPTED)
        os.write(leader, b"\x03")
        wait_for(leader, "Saved. Come back with")
        assert process.wait(timeout=60) == 0
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
        os.close(leader)


PROMPTED = "\x1b[?2004h"


def wait_for(leader: int, words: str, sign: str = "") -> str:
    """What was shown until words and sign came; words may be coloured one by one, so they are looked for without."""
    shown, end = "", time.monotonic() + 90
    while words not in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown) or sign not in shown:
        ready, _, _ = select.select([leader], [], [], max(0, end - time.monotonic()))
        assert ready, shown
        shown += os.read(leader, 4096).decode("utf-8", "replace")
    return shown


WIZARD = """\
A night train stops between two stations, and one passenger too many gets off.
The Extra Passenger
99
new
Odile Marsh
The conductor of the night train, gruff and exact.
Short, clipped sentences.
done
again
edit
Opening Situation:
The train has stopped in the snow, and nobody knows why.

Suggested Beats:
- Odile counts the passengers, and counts again.
- In the last carriage somebody is humming.
- The extra passenger asks for a ticket home.
.
keep
yes
yes
Hello.
"""


def test_a_story_is_made_from_answers_in_a_pipe_and_played_at_once(data: Path) -> None:
    done = fabula(data, "story", "new", lines=WIZARD)
    assert (done.returncode, done.stderr) == (0, "")
    told = done.stdout
    assert "That is none of them." in told
    first, again, _ = (part.partition("Keep this plan")[0] for part in told.split("Opening Situation:")[1:4])
    assert first != again, "another plan was asked for"
    assert "In the last carriage somebody is humming." in told
    assert re.search(r"^\[(\d+)/\1\] ", told, re.MULTILINE), "the progress comes to its end"
    assert "Nothing looks wrong with it." in told
    assert "THE EXTRA PASSENGER" in told
    assert re.search(r"Odile Marsh: “.+", told.partition("> Hello.")[2])


def test_answers_that_end_too_soon_are_told(data: Path) -> None:
    done = fabula(data, "story", "new", lines="A house without doors.\n")
    assert done.returncode == 1
    assert done.stderr.startswith("The answers ended before this was known: Name.")


def test_an_ink_story_knows_the_same_commands_and_none_of_them_is_said_to_a_character(data: Path) -> None:
    lines = [
        "/help",
        "1",
        "/sing",
        "/status",
        "Hello.",
        "/backtrack",
        "/branches",
        "/fork Mine",
        "/regenerate",
        "/save",
    ]
    told = play(data, *lines, story="the-lamplighter")
    for name, command in INK_COMMANDS.items():
        assert re.search(rf"^  /{name}\b.*\s{{2,}}{re.escape(command.sentence)}$", told, re.MULTILINE | re.DOTALL)
    plain = " ".join(told.split())
    assert "There is no command /sing. /help lists them all" in plain
    assert "Turn 1, open. The story waits for your words to Lamplighter." in plain
    assert "Back at turn 1. The other line stays" in plain
    assert "- 2: Hello." in told.partition("/branches")[2]
    assert "You go on in a copy, “Mine”." in plain
    assert "This play is called “Mine”" in plain
    session = told.strip().rpartition("fabula play --session ")[2].split()[0]
    transcript = fabula(data, "play", "--session", session, lines="/transcript\n/quit\n").stdout
    assert "> /" not in transcript.partition("/transcript")[2].partition("/quit")[0].replace("> /quit", "")


def test_canon_is_shown_as_far_as_the_player_may_know_it(data: Path) -> None:
    told = play(
        data, "/entities", "/facts the-long-bridge", "/facts", "/inventory", "/canon", story="toll-the-drowned-toll"
    )
    named = play(data, "/facts pell", "/facts the provost", "/facts bridge", story="toll-the-drowned-toll")
    assert "Pell's age is eleven." in named and "Provost Isaude Marrow owns two clocks" in named
    assert "stands on seven piers" in named.partition("> /facts bridge")[2]
    assert "Provost Isaude Marrow (character, toll-isaude, also the Provost, Isaude)" in told
    assert "stands on seven piers" in told.partition("> /facts the-long-bridge")[2]
    assert "Nothing is written down of what you carry." in told and "Nothing was proposed in this play yet." in told
    plain = play(data, "/facts", "/canon")
    assert "Nothing is canon in this play yet." in plain
