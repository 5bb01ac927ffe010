"""The transcript of a play, in the form of inklecate's play mode."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest
from tests.unit.ink.runtime.ink_support import start

import fabula.ink.runtime
from fabula.ink import play_transcript

MODULES = [f"fabula.ink.runtime.{module.name}" for module in pkgutil.iter_modules(fabula.ink.runtime.__path__)]


def transcript(source: str, *typed: str) -> str:
    out: list[str] = []
    play_transcript(start(source), iter(typed), out.append)
    return "".join(out)


def test_text_tags_choices_and_prompt() -> None:
    source = "Hello. # a # b\n* One\n* [Two] # t\n- Bye.\n-> END\n"
    assert transcript(source, "2") == "Hello.\n# tags: a, b\n\n1: One\n2: Two\n?> \n# tags: t\nBye.\n"


def test_it_asks_again_for_what_is_not_a_choice() -> None:
    typed = transcript("* One\n- Bye.\n-> END\n", "5", "x", "1")
    assert typed == "\n1: One\n?> Choice out of range\n?> Please type the number of a choice\n?> One\nBye.\n"


def test_it_ends_with_the_input() -> None:
    assert transcript("* One\n- -> END\n") == "\n1: One\n?> "


def test_errors_are_lines() -> None:
    assert transcript("-> k\n=== k\nHi.\n") == (
        "Hi.\nRUNTIME ERROR: ran out of content. Do you need a '-> DONE' or '-> END'?\n"
    )
    assert "RUNTIME ERROR: Attempted to divide by zero." in transcript("VAR zero = 0\nHi.\n{1 / zero}\n-> END\n")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
