"""JSON within values: it is taken as it is, whatever it holds, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from fabula.story.changes import LARGEST_STATE, Bounds, apply_all
from fabula.story.sizes import memory_size
from fabula.story.state import SetState, WorldState

LARGEST = 2**20
"""What the variables of a play take in memory at most, in bytes, whatever they are made of."""


def test_a_value_is_not_copied_and_costs_no_call_for_what_is_in_it() -> None:
    many: Any = [[] for _ in range(10)]
    assert SetState(key="k", value=many).value is many


@pytest.mark.parametrize("value", [None, True, 2**70, 1.5, "\ud800", {"a": [None, {"b": 2**70}]}, {}, [None]])
def test_every_json_value_is_taken(value: Any) -> None:
    assert SetState(key="k", value=value).value == value
    assert SetState(key="k", value=value).as_json()["value"] == value


@pytest.mark.parametrize(
    "value", [float("nan"), [float("inf"), None], {1: 2}, {"a": {1}}, object(), b"x", [2**70, {"a": b"x"}]]
)
def test_what_json_cannot_say_is_refused(value: Any) -> None:
    with pytest.raises(ValidationError):
        SetState(key="k", value=value)


SHAPES: dict[str, Any] = {
    "lists": [[] for _ in range(50)],
    "objects": [{} for _ in range(50)],
    "texts": [f"{n:02}" for n in range(50)],
    "names": {f"{n:02}": n for n in range(50)},
    "numbers": [n + 0.5 for n in range(50)],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_variables_of_a_play_take_little_memory_whatever_they_are_made_of(shape: str) -> None:
    ops = [SetState(key=f"k{n}", value=[SHAPES[shape]] * 20) for n in range(400)]
    after = apply_all(ops, WorldState(current_node="n"), Bounds())
    assert after.refused and after.ops
    assert LARGEST_STATE < memory_size(after.state.custom) < LARGEST
