"""Every benchmark stands ready: what it imports is there, and `python -m bench` finds it."""

from __future__ import annotations

import importlib
import inspect

import pytest
from bench.__main__ import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_can_be_started(name: str) -> None:
    found = importlib.import_module(f"bench.{name}")
    assert inspect.iscoroutinefunction(found.main) or callable(found.main)
    assert found.__doc__


def test_the_promised_benchmarks_are_there() -> None:
    promised = {"turns", "growth", "ink_speed", "ai_knots", "game_socket", "storyteller", "followers", "capacity"}
    assert promised | {"scene_changes"} <= set(NAMES)
