"""The command line: `fabula ink compile`, `play` and `check`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fabula.cli.ink import app

STORY = "Hello.\n* [One] First. -> END\n* [Two] Second. -> END\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "story.ink").write_text(STORY, "utf-8")
    (tmp_path / "broken.ink").write_text("-> nowhere\n", "utf-8")
    return tmp_path


def test_compile_writes_json_that_play_reads(folder: Path) -> None:
    runner = CliRunner()
    done = runner.invoke(app, ["compile", str(folder / "story.ink"), "-o", str(folder / "out.json")])
    assert (done.exit_code, done.output) == (0, "")
    played = runner.invoke(app, ["play", str(folder / "out.json")], input="2\n")
    assert played.output == "Hello.\n\n1: One\n2: Two\n?> Second."


def test_compile_tells_problems_and_fails(folder: Path) -> None:
    done = CliRunner().invoke(app, ["compile", str(folder / "broken.ink")])
    assert done.exit_code == 1
    assert done.stderr == "ERROR: 'broken.ink' line 1: Divert target not found: '-> nowhere'\n"
    assert not (folder / "broken.json").exists()


def test_play_takes_a_source_with_its_includes(folder: Path) -> None:
    (folder / "main.ink").write_text("INCLUDE story.ink\n", "utf-8")
    played = CliRunner().invoke(app, ["play", str(folder / "main.ink")], input="1\n")
    assert played.output.endswith("?> First.")


def test_play_refuses_a_broken_source(folder: Path) -> None:
    assert CliRunner().invoke(app, ["play", str(folder / "broken.ink")]).exit_code == 1


def test_check_tells_what_is_known(folder: Path) -> None:
    done = CliRunner().invoke(app, ["check", str(folder / "story.ink")])
    assert done.exit_code == 0
    assert "5 words, 0 knots and stitches, 2 choices" in done.output


def test_check_gives_json(folder: Path) -> None:
    done = CliRunner().invoke(app, ["check", str(folder / "broken.ink"), "--json"])
    report = json.loads(done.stdout)
    assert done.exit_code == 1
    assert report["problems"][0]["line"] == 1
    assert report["unreachable"] == []
