"""Back to a play: what was played is offered first, and plays and stories are listed, named, exported and removed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.fork_server import PROGRAM
from tests.templates import fill_folder
from typer.testing import CliRunner

from fabula.actions.library.samples import sample_folder
from fabula.actions.plays import export_session
from fabula.cli.sessions import app
from fabula.ports.errors import InvalidRequest
from fabula.testing.server_process import clean_environment

STORY = "lighthouse-the-unlit-hour"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder where the samples are installed."""
    return fill_folder(tmp_path / "data", "samples")


def fabula(data: Path, *arguments: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *arguments, "--data-dir", str(data)]
    return subprocess.run(
        command, input=lines, capture_output=True, text=True, env=clean_environment(), timeout=180, check=False
    )


def done(data: Path, *arguments: str, lines: str = "") -> str:
    outcome = fabula(data, *arguments, lines=lines)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    return outcome.stdout


def played(data: Path, *lines: str) -> str:
    """Plays a few lines; answers the id of the play."""
    done(data, "play", "--story", STORY, "--seed", "1", lines="\n".join(lines) + "\n")
    return str(json.loads(done(data, "sessions", "list", "--json"))[0]["session_id"])


def test_playing_offers_the_last_plays_by_name_date_and_last_line(data: Path) -> None:
    played(data, "Hello.", "/save The storm")
    told = done(data, "play", lines="1\n/status\n")
    offered = told.partition("Number, or `new`")[0]
    assert "Go on where you were?" in offered
    assert "1. The storm (The Unlit Hour), 20" in offered and ", 1 turn" in offered
    assert "new. Begin another play." in offered
    assert "“The storm”, turn 1" in told
    again = done(data, "play", lines=f"new\n{STORY}\n")
    assert "Which story?" in again and "THE UNLIT HOUR" in again
    none = fabula(data, "play", lines="7\n")
    assert none.returncode == 1 and "Answer with a number from 1 to 2, or `new`." in none.stderr


def test_a_play_takes_a_model_of_its_own_and_one_that_is_not_there_is_told(data: Path) -> None:
    done(data, "play", "--story", STORY, "--model", "understudy", lines="Hello.\n")
    missing = fabula(data, "play", "--story", STORY, "--model", "mixtral")
    assert missing.returncode == 1
    assert missing.stderr.startswith("No model or model server named 'mixtral' was found. There are: understudy")
    session = json.loads(done(data, "sessions", "list", "--json"))[0]["session_id"]
    assert "/model understudy" in done(data, "play", "--session", session, "--model", "understudy", lines="/model\n")


def test_nothing_is_offered_before_the_first_play(data: Path) -> None:
    assert "Go on where you were?" not in done(data, "play", lines="3\n")


def test_a_play_is_listed_shown_renamed_exported_and_deleted(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = played(data, "Hello.")
    assert session in done(data, "sessions", "list")
    assert "“Wet night” now" in done(data, "sessions", "rename", session, "Wet night")
    shown = done(data, "sessions", "show", "wet night")
    assert "> Hello." in shown and "1 turn, open, last played 20" in shown
    file = tmp_path / "night.md"
    assert "1 turn of “Wet night”" in done(data, "sessions", "export", session, str(file))
    text = file.read_text("utf-8")
    assert text.startswith("# Wet night\n\n") and "> Hello." in text
    again = fabula(data, "sessions", "export", session, str(file))
    assert again.returncode == 1 and "add --force" in again.stderr
    plain = json.loads(done(data, "sessions", "export", session, "--format", "json"))
    assert plain["lines"][0] == {
        "turn": 1,
        "kind": "player_input",
        "speaker": plain["lines"][0]["speaker"],
        "text": "Hello.",
    }
    monkeypatch.setattr(export_session, "MOST_TURNS", 1)
    done(data, "play", "--session", session, lines="And again.\n")
    asked = ["export", session, str(file), "--force", "--data-dir", str(data)]
    told = CliRunner().invoke(app, asked)
    assert told.exit_code == 0 and "night-2.md are written: 2 turns of" in told.stdout.replace("\n", " "), told.output
    parts = [file.read_text("utf-8"), file.with_stem("night-2").read_text("utf-8")]
    assert [("> Hello." in part, "> And again." in part) for part in parts] == [(True, False), (False, True)]
    too_long = CliRunner().invoke(app, ["export", session, "--data-dir", str(data)])
    assert isinstance(too_long.exception, InvalidRequest) and "name a FILE" in str(too_long.exception)
    unsure = fabula(data, "sessions", "delete", session)
    assert (unsure.returncode, unsure.stderr.strip()) == (1, "Not a terminal: confirm with --yes")
    assert "“Wet night” is removed." in done(data, "sessions", "delete", session, "--yes")
    assert "Nothing was played yet" in done(data, "sessions", "list")


def test_a_play_that_is_not_there_is_told_in_a_sentence(data: Path) -> None:
    missing = fabula(data, "sessions", "show", "nowhere")
    assert (missing.returncode, missing.stderr.strip()) == (
        1,
        "There is no play 'nowhere'. `fabula sessions list` shows them.",
    )


def test_a_name_that_two_plays_share_asks_for_the_id(data: Path) -> None:
    first, second = played(data, "Hello."), played(data, "Good evening.")
    outcome = fabula(data, "sessions", "show", "The Unlit Hour")
    assert outcome.returncode == 1 and first in outcome.stderr and second in outcome.stderr


def test_a_story_is_copied_and_the_copy_is_removed_with_its_plays(data: Path) -> None:
    copied = json.loads(done(data, "stories", "copy", STORY, "The Dark Hour", "--json"))
    done(data, "play", "--story", copied["story_id"], lines="Hello.\n")
    rows = {row["id"]: row for row in json.loads(done(data, "stories", "list", "--json"))}
    assert (rows[copied["story_id"]]["title"], rows[copied["story_id"]]["plays"]) == ("The Dark Hour", 1)
    refused = fabula(data, "stories", "delete", copied["story_id"], "--yes")
    assert refused.returncode == 1 and "has 1 play. To remove them with it, add --with-plays." in refused.stderr
    done(data, "stories", "delete", copied["story_id"], "--with-plays", "--yes")
    assert copied["story_id"] not in done(data, "stories", "list")
    assert STORY in done(data, "stories", "list")


def test_a_world_of_ones_own_is_installed_from_its_folder(data: Path, tmp_path: Path) -> None:
    own = tmp_path / "my-world"
    shutil.copytree(sample_folder() / "the-unlit-hour", own)
    story = json.loads((own / "story.json").read_text("utf-8"))
    (own / "story.json").write_text(json.dumps({**story, "story_id": "mine", "display_name": "Mine"}), "utf-8")
    (own / "portraits.json").unlink()
    (own / "plan.txt").unlink()
    assert "Mine: 1 thing added. Play it with: fabula play --story mine" in done(data, "samples", "install", str(own))
    (tmp_path / "tales").mkdir()
    (tmp_path / "tales" / "gate.ink").write_text("The gate is shut.\n-> END\n", "utf-8")
    assert "Gate: 1 thing added." in done(data, "samples", "install", str(tmp_path / "tales"))


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("story.json", "{", "story.json is not JSON"),
        ("story.json", "[]", "story.json must hold one JSON object."),
        ("story.json", '{"story_id": "x"}', "story.json cannot be used: display_name: Field required."),
        ("resources.json", None, "resources.json cannot be read: No such file or directory."),
        ("bad.ink", "{", "cannot be used"),
        ("a b.ink", "Hello.", "it is its id."),
    ],
)
def test_what_is_wrong_in_a_folder_is_named_and_nothing_is_installed(
    data: Path, tmp_path: Path, file: str, content: str | None, sentence: str
) -> None:
    own = tmp_path / "own"
    shutil.copytree(sample_folder() / "the-unlit-hour", own)
    (own / file).write_text(content, "utf-8") if content is not None else (own / file).unlink()
    before = done(data, "stories", "list")
    outcome = fabula(data, "samples", "install", str(own))
    assert outcome.returncode == 1 and sentence in outcome.stderr
    assert done(data, "stories", "list") == before


def test_a_folder_that_holds_no_story_is_told(data: Path, tmp_path: Path) -> None:
    empty = fabula(data, "samples", "install", str(tmp_path))
    assert "there is neither a world (a folder with a story.json) nor an .ink file" in empty.stderr
    missing = fabula(data, "samples", "install", str(tmp_path / "nowhere"))
    assert (missing.returncode, missing.stderr.strip()) == (1, f"There is no folder {tmp_path / 'nowhere'}.")
