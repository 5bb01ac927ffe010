"""The seats of a session at one server: they are listened to once, for all feeds of the session that are open here.

What is said grows with the number of seats, and no faster, however many come, leave or miss something at once:

1. Whoever comes or goes says so once, and those who stay say so now and then.
2. A server asks once, when the first feed is opened, and never again: what it misses later it hears when those who
   stay say so. An answer to having missed something would be more to be missed.
3. Whoever asks hears a server's seats in one answer, which is given once to many who ask.
4. The feeds hear who is here as a whole, and of many who come at once together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from fabula.actions.seats.attendance import Attendance, topic_of
from fabula.actions.seats.follower import Follower
from fabula.ports.feeds import Feeds
from fabula.story.feed_events import FeedNote, Seat, SeatGone, SeatHere

ANSWER_AFTER_S = 0.1
ANSWER_EVERY_S = 1.0
"""Shorter than a seat that was left is kept, or somebody with pages at two servers would vanish for a moment."""
TELL_EVERY_S = 0.25
NEVER = float("inf")


class SessionSeats:
    """Who has one session open."""

    def __init__(self, feeds: Feeds[FeedNote], session_id: str) -> None:
        self._feeds, self._topic = feeds, topic_of(session_id)
        self._now = asyncio.get_running_loop().time
        self._attendance = Attendance()
        self._listens = False
        self._telling = Gathered(after_s=0.0, every_s=TELL_EVERY_S)
        self._answering = Gathered(after_s=ANSWER_AFTER_S, every_s=ANSWER_EVERY_S)
        self._seats: tuple[Seat, ...] = ()
        self._news = asyncio.Event()
        self._listening = asyncio.create_task(self._listen())

    def come(self, seat: Seat) -> None:
        # Before we listen nothing is said: those who are here by then are told of with the question.
        if self._attendance.open_page(seat, self._now()) and self._listens:
            self._say_here(seat)

    def stay(self, seat: Seat) -> None:
        self._attendance.see(seat, self._now())
        self._say_here(seat)

    def go(self, seat: Seat) -> None:
        if self._attendance.close_page(seat):
            self._feeds.publish(self._topic, SeatGone(seat_id=seat.seat_id))

    @property
    def is_over(self) -> bool:
        return self._attendance.is_over

    async def follow(self) -> AsyncGenerator[tuple[Seat, ...], None]:
        """Who is here: at once, and whenever that is news."""
        while True:
            news = self._news
            yield self._seats
            await news.wait()

    async def close(self) -> None:
        self._listening.cancel()
        await asyncio.wait([self._listening])

    async def _listen(self) -> None:
        notes = Follower(self._feeds.follow(self._topic))
        try:
            while True:
                due = min(self._attendance.changes_at(), self._telling.due_at, self._answering.due_at)
                until = None if due == NEVER else max(0.0, due - self._now())
                await asyncio.wait([notes.next()], timeout=until)
                if notes.has_news:
                    if (entry := notes.take()) is None:
                        return
                    self._hear(entry.event)
                if self._attendance.forget(self._now()):
                    self._telling.want(self._now())
                if self._telling.take(self._now()):
                    self._tell()
                if self._answering.take(self._now()):
                    self._say_who_is_here()
        finally:
            await notes.close()

    def _hear(self, note: FeedNote | None) -> None:
        if note is not None:
            if self._attendance.hear(note, self._now()):
                self._answering.want(self._now())
        elif not self._listens:
            self._listens = True
            self._say_who_is_here(asks=True)
        self._telling.want(self._now())

    def _tell(self) -> None:
        if (seats := self._attendance.seats()) != self._seats:
            self._seats = seats
            self._news.set()
            self._news = asyncio.Event()

    def _say_who_is_here(self, *, asks: bool = False) -> None:
        for number, seat in enumerate(self._attendance.ours()):
            self._say_here(seat, asks=asks and number == 0)

    def _say_here(self, seat: Seat, *, asks: bool = False) -> None:
        self._feeds.publish(self._topic, SeatHere(seat_id=seat.seat_id, name=seat.name, asks=asks))


@dataclass(kw_only=True)
class Gathered:
    """What is done once for many who want it: so long after the first of them, and so long after the last time."""

    after_s: float
    every_s: float
    due_at: float = NEVER
    _not_before: float = 0.0

    def want(self, now: float) -> None:
        if self.due_at == NEVER:
            self.due_at = max(now + self.after_s, self._not_before)

    def take(self, now: float) -> bool:
        """Whether it is to be done now."""
        if now < self.due_at:
            return False
        self.due_at, self._not_before = NEVER, now + self.every_s
        return True


class TakenSeat:
    """The seat of one feed: others see it from now on until it is left. `all` has the seats of this server."""

    def __init__(self, all: dict[str, SessionSeats], feeds: Feeds[FeedNote], session_id: str, me: Seat) -> None:
        self._all, self._session_id, self._me = all, session_id, me
        self._seats = all.get(session_id) or SessionSeats(feeds, session_id)
        all[session_id] = self._seats
        self._seats.come(me)
        self.heard = Follower(self._seats.follow())

    def stay(self) -> None:
        self._seats.stay(self._me)

    async def leave(self) -> None:
        self._seats.go(self._me)
        if self._seats.is_over:
            # Let go of first: who comes while this one is closed begins anew.
            del self._all[self._session_id]
            await self._seats.close()
        await self.heard.close()
