"""What failed is run again alone, and passes or fails by that; nothing, or much, that failed is no accident."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.again import MOST, main

HERE = "tests/unit/test_again.py"


def lists(folder: Path, *tests: str) -> Path:
    file = folder / "lastfailed"
    file.write_text(json.dumps(dict.fromkeys(tests, True)))
    return file


def test_nothing_that_failed_and_too_much_that_failed_are_not_run_again(tmp_path: Path) -> None:
    assert main([], tmp_path / "missing") == 1
    assert main([], lists(tmp_path, *(f"{HERE}::test_{number}" for number in range(MOST + 1)))) == 1


@pytest.mark.all
def test_what_passes_alone_passes_and_what_is_not_there_fails(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    alone = ["--rootdir", str(tmp_path), "-p", "no:cacheprovider", "--noconftest", "-c", "/dev/null"]
    passes = tmp_path / "test_passes.py"
    passes.write_text("def test_it(): assert True\ndef test_not(): assert False\n")
    assert main(alone, lists(tmp_path, f"{passes}::test_it")) == 0
    assert "They passed alone." in capfd.readouterr().out
    assert main(alone, lists(tmp_path, f"{passes}::test_it", f"{passes}::test_not")) == 1
    assert "They failed again." in capfd.readouterr().out


@pytest.mark.all
def test_a_scene_in_a_browser_which_is_marked_for_one_of_many_workers_is_run_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The marks and hooks of many workers are known where there is one."""
    scene = "tests/browser/test_shell.py::test_the_first_load_brings_few_fonts_and_is_soon_there"
    assert main(["--collect-only", "-q", "-p", "no:cacheprovider"], lists(tmp_path, scene)) == 0
    assert "1 test collected" in capfd.readouterr().out
