"""What anybody can cause is done so often in a period, and of each name where it is named."""

from __future__ import annotations

from fabula.ports.throttle import MOST_REMEMBERED, Throttle
from fabula.testing.world import FixedClock


def test_so_many_lines_a_minute_are_allowed_and_the_rest_is_counted() -> None:
    clock = FixedClock()
    lines = Throttle(clock.monotonic, 2)
    assert [lines.allows() for _ in range(5)] == [True, True, False, False, False]
    assert lines.take_passed_over() == 0
    clock.advance(60_000)
    assert lines.take_passed_over() == 3 and lines.take_passed_over() == 0
    assert lines.allows()


def test_each_line_that_is_named_has_a_minute_of_its_own() -> None:
    clock = FixedClock()
    lines = Throttle(clock.monotonic, 1)
    assert [lines.allows(line) for line in ("full", "away", "full", "away")] == [True, True, False, False]
    clock.advance(60_000)
    assert lines.allows("full") and not lines.allows("full")


def test_no_more_lines_are_remembered_than_a_bound() -> None:
    lines = Throttle(FixedClock().monotonic, 1)
    assert all(lines.allows(str(number)) for number in range(3 * MOST_REMEMBERED))
    assert len(lines._periods) <= MOST_REMEMBERED


def test_names_that_began_first_are_forgotten_first() -> None:
    clock = FixedClock()
    noted = Throttle(clock.monotonic, 1)
    for number in range(MOST_REMEMBERED):
        assert noted.allows(str(number))
    clock.advance(60_000)
    assert noted.allows("0") and noted.allows("new")
    assert not noted.allows("0") and len(noted._periods) == MOST_REMEMBERED


def test_a_period_may_be_short() -> None:
    clock = FixedClock()
    complaints = Throttle(clock.monotonic, 1, every_s=1.0)
    assert complaints.allows() and not complaints.allows()
    clock.advance(1_000)
    assert complaints.allows()
