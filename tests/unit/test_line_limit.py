"""Lines of the log that anybody can cause are so many a minute, and of each kind where they are told apart."""

from __future__ import annotations

from fabula.ports.line_limit import MOST_REMEMBERED, LineLimit
from fabula.testing.world import FixedClock


def test_so_many_lines_a_minute_are_allowed_and_the_rest_is_counted() -> None:
    clock = FixedClock()
    lines = LineLimit(clock.monotonic, 2)
    assert [lines.allows() for _ in range(5)] == [True, True, False, False, False]
    assert lines.take_passed_over() == 0
    clock.advance(60_000)
    assert lines.take_passed_over() == 3 and lines.take_passed_over() == 0
    assert lines.allows()


def test_each_line_that_is_named_has_a_minute_of_its_own() -> None:
    clock = FixedClock()
    lines = LineLimit(clock.monotonic, 1)
    assert [lines.allows(line) for line in ("full", "away", "full", "away")] == [True, True, False, False]
    clock.advance(60_000)
    assert lines.allows("full") and not lines.allows("full")


def test_no_more_lines_are_remembered_than_a_bound() -> None:
    lines = LineLimit(FixedClock().monotonic, 1)
    assert all(lines.allows(str(number)) for number in range(3 * MOST_REMEMBERED))
    assert len(lines._minutes) <= MOST_REMEMBERED
