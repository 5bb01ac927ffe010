"""Who has a play open, as one feed knows it."""

from __future__ import annotations

from fabula.actions.seats.attendance import FORGOTTEN_AFTER_S, LEFT_AFTER_S, MOST_SEATS, Attendance, seat_of
from fabula.actions.seats.session_seats import Gathered
from fabula.story.feed_events import SeatGone, SeatHere

ADA, BEN = (seat_of(token_id=None, seat=name, name=name) for name in ("Ada", "Ben"))


def here(seat_id: str, name: str, *, asks: bool = False) -> SeatHere:
    return SeatHere(seat_id=seat_id, name=name, asks=asks)


def with_ada() -> Attendance:
    """A server where Ada has opened a page."""
    attendance = Attendance()
    attendance.open_page(ADA, 0.0)
    return attendance


def names(attendance: Attendance, now: float) -> list[str]:
    attendance.forget(now)
    return [seat.name for seat in attendance.seats()]


def test_who_asks_is_answered_with_those_who_are_here_with_us_and_who_answers_is_not() -> None:
    attendance = with_ada()
    assert attendance.hear(here(BEN.seat_id, "Ben", asks=True), 0.0)
    assert attendance.ours() == [ADA]
    assert not attendance.hear(here(BEN.seat_id, "Ben"), 0.0)
    assert names(attendance, 1.0) == ["Ada", "Ben"]


def test_who_falls_silent_is_forgotten_and_who_leaves_is_gone_a_moment_later() -> None:
    attendance = with_ada()
    attendance.see(ADA, 100.0)
    attendance.hear(here(BEN.seat_id, "Ben"), 0.0)
    assert names(attendance, FORGOTTEN_AFTER_S - 1) == ["Ada", "Ben"]
    assert names(attendance, FORGOTTEN_AFTER_S + 1) == ["Ada"]
    attendance.hear(here(BEN.seat_id, "Ben"), 100.0)
    attendance.hear(SeatGone(seat_id=BEN.seat_id), 101.0)
    assert attendance.changes_at() == 101.0 + LEFT_AFTER_S
    assert names(attendance, 102.0) == ["Ada", "Ben"]
    assert names(attendance, 104.0) == ["Ada"]


def test_who_comes_back_at_once_never_left() -> None:
    attendance = with_ada()
    attendance.hear(here(BEN.seat_id, "Ben"), 0.0)
    attendance.hear(SeatGone(seat_id=BEN.seat_id), 1.0)
    attendance.hear(here(BEN.seat_id, "Ben", asks=True), 1.5)
    assert names(attendance, 10.0) == ["Ada", "Ben"]


def test_only_the_first_and_the_last_page_of_a_seat_are_told_of() -> None:
    attendance = with_ada()
    assert not attendance.open_page(ADA, 0.0)
    assert not attendance.close_page(ADA)
    assert attendance.close_page(ADA)
    assert attendance.is_over


def test_closing_a_page_with_another_server_is_answered_where_there_is_one_more() -> None:
    attendance = with_ada()
    assert attendance.hear(SeatGone(seat_id=ADA.seat_id), 0.0)
    assert names(attendance, 10.0) == ["Ada"]


def test_seats_and_names_are_bounded() -> None:
    attendance = with_ada()
    for number in range(10 * MOST_SEATS):
        attendance.hear(here(f"seat_{number}", "x"), 0.0)
    assert len(attendance.seats()) == MOST_SEATS
    odd = seat_of(token_id=None, seat="s", name="A\u202e\x00\n" + "b" * 500)
    assert odd.name == "A " + "b" * 58


def test_what_many_want_at_once_is_done_once_and_not_again_for_a_while() -> None:
    answering = Gathered(after_s=0.1, every_s=1.0)
    for _ in range(100):
        answering.want(5.0)
    assert [answering.take(now) for now in (5.0, 5.1, 5.2)] == [False, True, False]
    answering.want(5.3)
    assert [answering.take(now) for now in (6.0, 6.1, 9.0)] == [False, True, False]
