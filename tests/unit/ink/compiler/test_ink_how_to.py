"""The how-to pages about Ink: every Python example runs, and every Ink example compiles."""

import re
from pathlib import Path

import pytest

from fabula.ink import compile_ink

HOW_TO = Path(__file__).parents[4] / "docs" / "how-to"
PAGES = ["embed-ink-in-python.md", "write-a-story-in-ink.md"]


def examples(language: str) -> list[str]:
    fence = re.compile(rf"^```{language}\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return [code for page in PAGES for code in fence.findall((HOW_TO / page).read_text("utf-8"))]


@pytest.mark.parametrize("code", examples("python"))
def test_a_python_example_runs(code: str) -> None:
    exec(compile(code, "how-to", "exec"), {})  # noqa: S102


@pytest.mark.parametrize("source", examples("ink"))
def test_an_ink_example_compiles_without_a_problem(source: str) -> None:
    assert [str(problem) for problem in compile_ink(source).problems] == []
