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
