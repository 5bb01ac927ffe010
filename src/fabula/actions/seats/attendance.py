"""Who has a session open: each server says who is here with it, hears the others, and forgets who falls silent.

Nothing is stored. A server that begins to listen asks, and the others answer; who leaves says so; who dies is forgotten
after a while. A seat that was left is kept for a moment, because a page that is loaded again leaves and comes back.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from fabula.story.feed_events import FeedNote, Seat, SeatGone, SeatHere

FORGOTTEN_AFTER_S = 50.0
"""Longer than three times somebody says that they are here."""
LEFT_AFTER_S = 2.0
MOST_SEATS = 64
LONGEST_NAME = 60


def topic_of(session_id: str) -> str:
    """Where seats are told, apart from the events: they would push those out of what is remembered."""
    return f"seats:{session_id}"


def seat_of(*, token_id: str | None, seat: str, name: str) -> Seat:
    """The seat of somebody who names one. Nobody can sit down in the seat of another token."""
    mixed = hashlib.sha256(f"{token_id or ''}\0{seat}".encode()).hexdigest()
    return Seat(seat_id=f"seat_{mixed[:16]}", name=_clean_name(name))


def in_order(seats: Iterable[Seat]) -> tuple[Seat, ...]:
    return tuple(sorted(seats, key=lambda seat: (seat.name.casefold(), seat.seat_id)))


def _clean_name(name: str) -> str:
    """A name that stands in one line: no control or invisible characters, which could turn the text around."""
    visible = (letter if unicodedata.category(letter)[0] != "C" else " " for letter in name[: 4 * LONGEST_NAME])
    return " ".join("".join(visible).split())[:LONGEST_NAME].strip()


@dataclass(kw_only=True)
class Attendance:
    """What a server knows of who has a session open. `now` is any clock that only goes forward, in seconds."""

    _known: dict[str, tuple[Seat, float]] = field(default_factory=dict)
    _pages: Counter[str] = field(default_factory=Counter)

    def open_page(self, seat: Seat, now: float) -> bool:
        """Somebody opens a page with us; answers whether it is their first one here."""
        self._pages[seat.seat_id] += 1
        self.see(seat, now)
        return self._pages[seat.seat_id] == 1

    def close_page(self, seat: Seat) -> bool:
        """Somebody closes a page with us; answers whether it was their last one here."""
        self._pages -= Counter([seat.seat_id])
        return seat.seat_id not in self._pages

    def see(self, seat: Seat, now: float) -> None:
        """Somebody is here."""
        if seat.seat_id in self._known or len(self._known) < MOST_SEATS:
            self._known[seat.seat_id] = (seat, now + FORGOTTEN_AFTER_S)

    def hear(self, note: FeedNote, now: float) -> bool:
        """Takes in what was said; answers whether we should say who is here with us."""
        if isinstance(note, SeatHere):
            self.see(Seat(seat_id=note.seat_id, name=note.name), now)
            return note.asks
        if isinstance(note, SeatGone):
            if note.seat_id in self._pages:
                return True  # they closed a page with another server, and have one here
            if found := self._known.get(note.seat_id):
                self._known[note.seat_id] = (found[0], min(found[1], now + LEFT_AFTER_S))
        return False

    def forget(self, now: float) -> bool:
        """Lets go of those who left or fell silent; answers whether there were any."""
        before = len(self._known)
        self._known = {id: one for id, one in self._known.items() if one[1] > now}
        return len(self._known) < before

    def changes_at(self) -> float:
        """When somebody will be forgotten next."""
        return min((until for _, until in self._known.values()), default=float("inf"))

    def seats(self) -> tuple[Seat, ...]:
        """Who is here."""
        return in_order(seat for seat, _ in self._known.values())

    def ours(self) -> list[Seat]:
        """Who is here with us."""
        return [seat for seat, _ in self._known.values() if seat.seat_id in self._pages]

    @property
    def is_over(self) -> bool:
        """Whether nobody is here with us any more."""
        return not self._pages
