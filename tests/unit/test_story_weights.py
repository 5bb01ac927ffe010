"""What an Ink story becomes in memory is known from its marks, whatever it is made of."""

from __future__ import annotations

import gc

import pytest

from fabula.knots.published import MOST_MARKS, marks_in, publish

OBJECTS_A_MARK = 8
SHAPES = {
    "choices": "* c\n",
    "choices with a label": "* (l{n}) c\n",
    "choices of a gather": "- (g{n}) * c\n",
    "choices with ways": "* [c] -> END\n",
    "choices with conditions": "* {{v}} {{v}} c\n",
    "conditions": "{{v: a}}\n",
    "conditions with another": "{{v: a|b}}\n",
    "alternatives": "{{a|b}}\n",
    "many alternatives": "{{a|b|c|d|e|f|g|h|i|j}}\n",
    "branches": "{{\n- v: a\n- else: b\n}}\n",
    "lines": "a\n",
    "variables": "VAR v{n} = 1\n",
    "gathers": "- (g{n})\n",
    "sums": "~ v = v + v * v\n",
}


def written(shape: str, count: int) -> str:
    body = "".join(SHAPES[shape].format(n=n) for n in range(count))
    return f"VAR v = 1\nHello.\n{body}-> END\n"


@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_of_a_story_is_far_heavier_than_its_marks(shape: str) -> None:
    """A story of choices alone, 200 kB long, took 650 MB, and as much of the collector's time."""
    small, large = _weight(written(shape, 10)), _weight(written(shape, 210))
    assert large[0] - small[0] <= OBJECTS_A_MARK * (large[1] - small[1])


def test_branches_of_one_condition_weigh_what_they_become() -> None:
    few, many = ("{\n" + "- 0: a\n" * count + "}\n-> END\n" for count in (10, 210))
    small, large = _weight(few), _weight(many)
    assert large[0] - small[0] <= OBJECTS_A_MARK * (large[1] - small[1])


@pytest.mark.parametrize("part", ["* c\n", "{a|b}\n"])
def test_a_story_that_would_be_too_large_is_refused_by_what_it_would_become(part: str) -> None:
    published = publish(part * (MOST_MARKS // 8), {})
    assert "The story is too large" in published.errors[0]


def _weight(source: str) -> tuple[int, int]:
    gc.collect()
    before = len(gc.get_objects())
    published = publish(source, {})
    gc.collect()
    assert published.prototype is not None, published.errors
    return len(gc.get_objects()) - before, marks_in(source, {})
