"""What an evening with each sample story reads like: folders of plain files that an author can read.

`arguments.txt` is how the play was started, `lines.txt` what the player typed, `transcript.txt` what stood on the
screen. After a wanted change, write them anew with `FABULA_WRITE_TRANSCRIPTS=1`, and read them before you commit.
"""

from __future__ import annotations

import os
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from tests.fork_server import PROGRAM
from tests.templates import fill_folder

from fabula.testing.server_process import clean_environment

PLAYS_FOLDER = Path(__file__).parent / "play"
PLAYS = sorted(folder for folder in PLAYS_FOLDER.iterdir() if folder.is_dir())
QUICK = ("the-ferry-inn", "the-unlit-hour-long-meg", "the-walking-court-missing-page")
PLAYED = [pytest.param(folder, marks=() if folder.name in QUICK else pytest.mark.all) for folder in PLAYS]
DOCS_PLAY = Path(__file__).parents[2] / "docs" / "start" / "a-whole-play.md"
WRITE = "FABULA_WRITE_TRANSCRIPTS" in os.environ


def played(folder: Path, data: Path) -> str:
    arguments = (folder / "arguments.txt").read_text("utf-8").split()
    done = subprocess.run(
        [*PROGRAM, "play", "--data-dir", str(fill_folder(data, "samples")), *arguments],
        input=(folder / "lines.txt").read_text("utf-8"),
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return re.sub(r"session_[0-9A-Z]{26}", "session_...", done.stdout)


@pytest.mark.parametrize("folder", PLAYED, ids=lambda folder: folder.name)
def test_the_same_seed_and_the_same_words_make_the_same_play(folder: Path, tmp_path: Path) -> None:
    told = played(folder, tmp_path)
    if WRITE:
        (folder / "transcript.txt").write_text(told, "utf-8")
    assert told == (folder / "transcript.txt").read_text("utf-8")


@pytest.mark.parametrize("folder", PLAYS, ids=lambda folder: folder.name)
def test_every_evening_comes_to_an_ending_and_says_nothing_twice_in_a_row(folder: Path) -> None:
    text = (folder / "transcript.txt").read_text("utf-8")
    assert "THE END" in text
    assert not re.search(r"\b(player|node|goal|None|variable)\b|\{\{", text.partition("/help lists the commands.")[2])
    # Going back shows a turn once more.
    onward = text.partition("> /backtrack")[0]
    spoken = re.findall(r"^[A-Z][\w ]+: “(.+?)”", onward, re.MULTILINE | re.DOTALL)
    assert all(one != following for one, following in pairwise(spoken))


def test_the_play_in_the_docs_is_one_of_these() -> None:
    transcript = (PLAYS_FOLDER / "the-unlit-hour-long-meg" / "transcript.txt").read_text("utf-8")
    shown = f"```text\n{transcript.strip()}\n```\n"
    page = DOCS_PLAY.read_text("utf-8")
    if WRITE:
        page = page[: page.index("```text\n")] + shown
        DOCS_PLAY.write_text(page, "utf-8")
    assert page.endswith(shown)
