"""Saves are written fast where they can be, and always as the reference writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.ink import Story, compile_ink
from fabula.ink.runtime.tokens import parse_json, write_json

LEAVES = st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner))


@settings(max_examples=200, deadline=None)
@given(PLAIN)
def test_what_has_no_floats_is_plain_json_without_blanks(value: Any) -> None:
    assert write_json(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert parse_json(write_json(value)) == value


@pytest.mark.parametrize("around", ["{}", "[{}]", '{{"x":{}}}', '["a",{},1]', '{{"a":[[-1,{}]],"b":"1.5"}}'])
@pytest.mark.parametrize(
    ("number", "written"),
    [(1.0, "1.0"), (0.5, "0.5"), (-2.25, "-2.25"), (1e30, "1E+30"), (float("inf"), "3.4E+38"), (float("nan"), "0.0")],
)
def test_floats_are_written_as_the_reference_does_wherever_they_stand(around: str, number: float, written: str) -> None:
    mark = "here"
    value = json.loads(around.format(f'"{mark}"'))

    def put(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: put(member) for key, member in item.items()}
        return [put(member) for member in item] if isinstance(item, list) else number if item == mark else item

    assert write_json(put(value)) == around.format(written)


def test_depth_costs_no_stack() -> None:
    deep: Any = []
    for _ in range(50_000):
        deep = [deep]
    assert write_json(deep) == "[" * 50_001 + "]" * 50_001


def test_a_story_with_floats_has_the_same_name_as_before() -> None:
    """Saves name the story that they were made with: another name would make every save one of an edited story."""
    assert digest("VAR x = 0.50\n{x}\n-> END\n") == "70e6e8eac12f0871"
    assert digest("VAR x = 1\nOnce.\n-> END\n") == "73e06f1640340955"


def digest(source: str) -> str:
    story_json = compile_ink(source).story_json
    assert story_json is not None
    return Story(story_json).digest
