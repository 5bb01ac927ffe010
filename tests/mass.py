"""How much of a mass test runs: a tenth while you work, the whole in `make test-all`.

A mass test tries very many cases of one kind: mutated files, random sequences, kills, interleavings. Say its whole
number, and let the run decide. Three ways, and each marks the test `mass`, so that `make test-all` finds it:

    @examples(600)                      a property of Hypothesis
    def test_...(text: str): ...

    @seeds(60)                          one test for each seed
    def test_...(seed: int): ...

    def test_...(mass: Mass):           anything else; ask the fixture
        for number in range(mass(1000)): ...

The two decorators stand outermost. `pytest --whole` runs the whole number of every mass test that is selected.

Of things that are tried with each other `make test` takes as few pairs as have all of them in, and `make test-all` the
rest:

    @crossed("fault, pace", FAULTS, PACES)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import cycle, islice, product
from typing import Any, TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")
Mass = Callable[[int], int]

_PART = 10
_whole = False


def choose_whole(whole: bool) -> None:
    """Called once, before any test module is imported."""
    global _whole
    _whole = whole


def mass(number: int) -> int:
    """How many of so many cases this run tries; at least one."""
    return number if _whole else max(1, number // _PART)


def examples(number: int, **options: Any) -> Callable[[T], T]:
    """So many examples of a property; the options are those of `hypothesis.settings`."""
    chosen: Any = settings(max_examples=mass(number), deadline=None, **options)
    return lambda test: pytest.mark.mass(chosen(test))


def seeds(number: int, name: str = "seed") -> Callable[[T], T]:
    """The test runs with each number from 0 as its argument of this name."""
    chosen: Any = pytest.mark.parametrize(name, range(mass(number)))
    return lambda test: pytest.mark.mass(chosen(test))


def crossed(names: str, *axes: Iterable[Any]) -> Callable[[T], T]:
    """The test runs with each of the first axis and each of the second; `make test` has each of them once at least."""
    lists = [list(axis) for axis in axes]
    longest = max(len(values) for values in lists)
    quick = set(zip(*(islice(cycle(range(len(values))), longest) for values in lists), strict=True))
    rows = [
        pytest.param(
            *(values[at] for values, at in zip(lists, places, strict=True)),
            marks=() if places in quick else pytest.mark.all,
        )
        for places in product(*(range(len(values)) for values in lists))
    ]
    chosen: Any = pytest.mark.parametrize(names, rows)
    return lambda test: chosen(test)
