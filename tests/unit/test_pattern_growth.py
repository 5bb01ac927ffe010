"""No text makes a pattern explode: what an outsider wrote costs time in proportion to its length, and no more.

Every pattern of the package is tried on texts that grow, made of the characters that it names itself. A pattern that
takes more than three times as long for twice the text is quadratic or worse.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from itertools import product
from re import _parser  # type: ignore[attr-defined]
from time import process_time
from typing import Any

import pytest

import fabula

SMALLEST, LARGEST = 250, 8_000
NOTICEABLE_S = 0.005
MOST_UNITS = 10
CATEGORIES = {
    "CATEGORY_SPACE": " \n",
    "CATEGORY_NOT_SPACE": "a",
    "CATEGORY_WORD": "a_",
    "CATEGORY_NOT_WORD": " -",
    "CATEGORY_DIGIT": "1",
    "CATEGORY_NOT_DIGIT": "a",
}


def modules() -> Iterator[str]:
    for found in pkgutil.walk_packages(fabula.__path__, "fabula."):
        # Migrations are steps of the database, and the command line is the operator's own.
        if ".migrations" not in found.name and not found.name.startswith("fabula.cli"):
            yield found.name


def patterns_of(name: str) -> dict[str, re.Pattern[str]]:
    module = importlib.import_module(name)
    return {
        label: value
        for label, value in vars(module).items()
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str)
    }


def characters_of(pattern: re.Pattern[str]) -> list[str]:
    """The characters that a pattern names, and one of each class that it names."""
    found: dict[str, None] = {}

    def walk(node: Any) -> None:
        match node:
            case (op, code) if str(op) in ("LITERAL", "NOT_LITERAL") and isinstance(code, int):
                found.setdefault(chr(code))
            case (op, (low, _)) if str(op) == "RANGE":
                found.setdefault(chr(low))
            case (op, category) if str(op) == "CATEGORY":
                found.update(dict.fromkeys(CATEGORIES.get(str(category), "a")))
            case (op, _) if str(op) == "ANY":
                found.setdefault("a")
            case str() | int() | None:
                pass
            case _ if isinstance(node, (tuple, list, _parser.SubPattern)):
                for part in node:
                    walk(part)

    walk(_parser.parse(pattern.pattern, pattern.flags))
    return [*dict.fromkeys([*list(found)[:MOST_UNITS], " ", "a", "\n"])]


def hostile_texts(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """Beginning, what is repeated, and end."""
    characters = characters_of(pattern)
    beginning = "".join(_leading(pattern))
    for unit in [*characters, *(a + b for a, b in product(characters[:4], repeat=2) if a != b)]:
        for head in dict.fromkeys(["", beginning, beginning + "a"]):
            yield head, unit, "\0"


def _leading(pattern: re.Pattern[str]) -> Iterator[str]:
    for op, code in _parser.parse(pattern.pattern, pattern.flags):
        if str(op) != "LITERAL":
            return
        yield chr(code)


def seconds(pattern: re.Pattern[str], text: str) -> float:
    started = process_time()
    pattern.search(text)
    for _ in pattern.finditer(text):
        pass
    return process_time() - started


def explodes(pattern: re.Pattern[str]) -> str | None:
    """The text on which a pattern takes more than three times as long when it is twice as long."""
    for head, unit, end in hostile_texts(pattern):
        size = SMALLEST
        while size <= LARGEST:
            took = seconds(pattern, head + unit * size + end)
            if took > NOTICEABLE_S:
                small, large = size // 2, size
                ratios = [
                    seconds(pattern, head + unit * large + end) / max(1e-9, seconds(pattern, head + unit * small + end))
                    for _ in range(3)
                ]
                if min(ratios) > 3:
                    return f"{head!r} + {unit!r} * {size} + {end!r}: {took:.3f} s"
                break
            size *= 2
    return None


def named_patterns() -> list[tuple[str, str]]:
    return [(name, label) for name in modules() for label in patterns_of(name)]


@pytest.mark.parametrize(("module", "label"), named_patterns())
def test_a_pattern_costs_no_more_than_its_text_is_long(module: str, label: str) -> None:
    assert explodes(patterns_of(module)[label]) is None
