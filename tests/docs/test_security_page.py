"""The page on security: every line of defence names a test, and every test that it names is there."""

from __future__ import annotations

import re
from functools import cache

import pytest
from docs.build import ROOT

PAGE = (ROOT / "docs/why/security.md").read_text("utf-8")
LINES = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| what ")]


@cache
def every_test() -> frozenset[str]:
    """The names of all tests, and of those in the conformance kits."""
    files = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "src/fabula/testing").rglob("*.py")]
    return frozenset(name for file in files for name in re.findall(r"def (test_\w+)", file.read_text("utf-8")))


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.split("|")[1].strip()[:60])
def test_every_line_of_defence_names_tests_that_exist(line: str) -> None:
    named = re.findall(r"`(test_\w+)`", line)
    assert named and set(named) <= every_test(), set(named) - every_test()


@pytest.mark.parametrize("who", ["A stranger", "A player", "An author", "A model", "A file"])
def test_everybody_who_could_do_harm_has_a_part(who: str) -> None:
    part = PAGE.partition(f"\n## {who}\n")[2].partition("\n## ")[0]
    assert part.count("`test_") >= 5


def test_the_page_says_what_is_not_defended() -> None:
    assert PAGE.partition("## What we do not defend against")[2].count("\n- **") >= 5
