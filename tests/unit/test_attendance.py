"""Who has a play open, as one feed knows it."""

from __future__ import annotations

from fabula.actions.turns.attendance import FORGOTTEN_AFTER_S, LEFT_AFTER_S, MOST_SEATS, Attendance, seat_of
from fabula.story.feed_events import SeatGone, SeatHere

ADA, BEN = (seat_of(token_id=None, seat=name, name=name) for name in ("Ada", "Ben"))


def here(seat_id: str, name: str, *, asks: bool = False) -> SeatHere:
    return SeatHere(seat_id=seat_id, name=name, asks=asks)


def names(attendance: Attendance, now: float) -> list[str]:
    return [seat.name for seat in attendance.seats(now)]


def test_who_asks_is_answered_and_who_answers_is_not() -> None:
    ada = Attendance(me=ADA)
    assert ada.hear(here(BEN.seat_id, "Ben", asks=True), 0.0)
    assert not ada.hear(here(BEN.seat_id, "Ben"), 0.0)
    assert not ada.hear(here(ADA.seat_id, "Ada", asks=True), 0.0)
    assert names(ada, 1.0) == ["Ada", "Ben"]


def test_who_falls_silent_is_forgotten_and_who_leaves_is_gone_a_moment_later() -> None:
    ada = Attendance(me=ADA)
    ada.hear(here(BEN.seat_id, "Ben"), 0.0)
    assert names(ada, FORGOTTEN_AFTER_S - 1) == ["Ada", "Ben"]
    assert names(ada, FORGOTTEN_AFTER_S + 1) == ["Ada"]
    ada.hear(here(BEN.seat_id, "Ben"), 100.0)
    ada.hear(SeatGone(seat_id=BEN.seat_id), 101.0)
    assert ada.changes_at() == 101.0 + LEFT_AFTER_S
    assert names(ada, 102.0) == ["Ada", "Ben"]
    assert names(ada, 104.0) == ["Ada"]


def test_who_comes_back_at_once_never_left() -> None:
    ada = Attendance(me=ADA)
    ada.hear(here(BEN.seat_id, "Ben"), 0.0)
    ada.hear(SeatGone(seat_id=BEN.seat_id), 1.0)
    ada.hear(here(BEN.seat_id, "Ben", asks=True), 1.5)
    assert names(ada, 10.0) == ["Ada", "Ben"]


def test_closing_one_of_two_pages_is_answered_by_the_other() -> None:
    assert Attendance(me=ADA).hear(SeatGone(seat_id=ADA.seat_id), 0.0)


def test_seats_and_names_are_bounded() -> None:
    ada = Attendance(me=ADA)
    for number in range(10 * MOST_SEATS):
        ada.hear(here(f"seat_{number}", "x"), 0.0)
    assert len(ada.seats(1.0)) == MOST_SEATS + 1
    odd = seat_of(token_id=None, seat="s", name="A\u202e\x00\n" + "b" * 500)
    assert odd.name == "A " + "b" * 58
