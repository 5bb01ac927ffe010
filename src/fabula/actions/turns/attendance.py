"""Who has a session open: each feed says that it is here, hears the others say it, and forgets who falls silent.

Nothing is stored. A newcomer asks, and everybody answers; who leaves says so; who dies is forgotten after a while.
A seat that was left is kept for a moment, because a page that is loaded again leaves and comes back.
"""

from __future__ import annotations

import hashlib
import unicodedata
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


def _clean_name(name: str) -> str:
    """A name that stands in one line: no control or invisible characters, which could turn the text around."""
    visible = (letter if unicodedata.category(letter)[0] != "C" else " " for letter in name[: 4 * LONGEST_NAME])
    return " ".join("".join(visible).split())[:LONGEST_NAME].strip()


@dataclass(kw_only=True)
class Attendance:
    """What one feed knows of who is here. `now` is any clock that only goes forward, in seconds."""

    me: Seat | None
    _others: dict[str, tuple[Seat, float]] = field(default_factory=dict)

    def hear(self, note: FeedNote, now: float) -> bool:
        """Takes in what was said; answers whether we should say that we are here."""
        if isinstance(note, SeatHere):
            mine = self.me is not None and note.seat_id == self.me.seat_id
            if not mine and (note.seat_id in self._others or len(self._others) < MOST_SEATS):
                self._others[note.seat_id] = (Seat(seat_id=note.seat_id, name=note.name), now + FORGOTTEN_AFTER_S)
            return note.asks and not mine and self.me is not None
        if isinstance(note, SeatGone):
            if self.me is not None and note.seat_id == self.me.seat_id:
                return True  # another page of ours was closed
            if found := self._others.get(note.seat_id):
                self._others[note.seat_id] = (found[0], min(found[1], now + LEFT_AFTER_S))
        return False

    def seats(self, now: float) -> tuple[Seat, ...]:
        """Who is here, we among them."""
        self._others = {id: one for id, one in self._others.items() if one[1] > now}
        all = [seat for seat, _ in self._others.values()] + ([self.me] if self.me is not None else [])
        return tuple(sorted(all, key=lambda seat: (seat.name.casefold(), seat.seat_id)))

    def changes_at(self) -> float:
        """When somebody will be forgotten next."""
        return min((until for _, until in self._others.values()), default=float("inf"))
