"""The feed of a session: whoever has it open learns what others do there, on any server that shares the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from fabula.actions.authority import allowed
from fabula.actions.care.tokens import is_valid, label_of
from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.actions.turns.attendance import Attendance, seat_of, topic_of
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, FabulaError
from fabula.ports.feeds import FeedEntry
from fabula.ports.plays import Play
from fabula.story.feed_events import (
    FeedEvent,
    FeedNote,
    FeedSessionDeleted,
    FeedSnapshot,
    Presence,
    Seat,
    SeatGone,
    SeatHere,
)

MOST_FEEDS = 64
"""So many feeds one caller may have open at one server."""

LOOK_EVERY_S = 15.0
"""How often it is asked whether the one who listens may still do so, and how often it says that it is here."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """An event of a feed, and the id after which a client goes on; one without an id is told anew after a break."""

    id: str
    event: FeedEvent


@allowed("player")
async def watch_feed(
    house: House,
    actor: Actor,
    session_id: str,
    last_event_id: str,
    *,
    seat: str = "",
    name: str = "",
    look_every_s: float = LOOK_EVERY_S,
) -> AsyncGenerator[Told, None]:
    """What happens to a session, from the event that was seen last; a snapshot comes first where one may be missing.

    `seat` is any word that a client gives to all its pages: with it, others see that somebody is here, by `name`.
    """
    await _play(house, actor, session_id)
    if house.open_feeds[_caller(actor)] >= MOST_FEEDS:
        raise Conflict(f"You have {MOST_FEEDS} feeds open already. Close one of them first.")
    me = seat_of(token_id=actor.token_id, seat=seat, name=name or await label_of(house, actor)) if seat else None
    return _Feed(house, actor, session_id, me).tell(last_event_id, look_every_s)


def _caller(actor: Actor) -> str:
    return actor.token_id or ""


class _Feed:
    """One who listens: the events of the session, and the seats of those who have it open."""

    def __init__(self, house: House, actor: Actor, session_id: str, me: Seat | None) -> None:
        self._house, self._actor, self._session_id = house, actor, session_id
        self._attendance = Attendance(me=me)
        self._told: tuple[Seat, ...] | None = None

    async def tell(self, last_event_id: str, look_every_s: float) -> AsyncGenerator[Told, None]:
        house, caller, now = self._house, _caller(self._actor), asyncio.get_running_loop().time
        events = _Follower(house.feeds.follow(self._session_id, last_event_id))
        seats = _Follower(house.feeds.follow(topic_of(self._session_id)))
        house.open_feeds[caller] += 1
        look_at = now() + look_every_s
        try:
            while True:
                until = max(0.0, min(look_at, self._attendance.changes_at()) - now())
                await asyncio.wait([events.next(), seats.next()], timeout=until, return_when=asyncio.FIRST_COMPLETED)
                if now() >= look_at:
                    if not await self._may_listen():
                        return
                    self._say_here()
                    look_at = now() + look_every_s
                if events.has_news:
                    entry = events.take()
                    if entry is None or (told := await self._event(entry)) is None:
                        return
                    yield told
                    if isinstance(told.event, FeedSessionDeleted):
                        return
                if seats.has_news:
                    if (entry := seats.take()) is None:
                        return
                    self._hear_seat(entry, now())
                if (presence := self._presence(now())) is not None:
                    yield Told(id="", event=presence)
        finally:
            house.open_feeds[caller] -= 1
            self._say_gone()
            await events.close()
            await seats.close()

    async def _event(self, entry: FeedEntry[FeedNote]) -> Told | None:
        """What to tell of an entry; nothing when the one who listens may no longer do so."""
        if entry.event is not None:
            assert not isinstance(entry.event, (SeatHere, SeatGone)), "seats have a topic of their own"
            return Told(id=entry.id, event=entry.event)
        if not await self._may_listen():
            return None
        play = await _play(self._house, self._actor, self._session_id)
        snapshot = FeedSnapshot(head_turn_id=play.head_turn_id, active_turn_id=play.active_turn_id)
        return Told(id=entry.id, event=snapshot)

    def _hear_seat(self, entry: FeedEntry[FeedNote], now: float) -> None:
        # Some may have been missed, and in the beginning nothing is known: ask.
        if entry.event is None:
            self._say_here(asks=True)
        elif self._attendance.hear(entry.event, now):
            self._say_here()

    def _presence(self, now: float) -> Presence | None:
        """Who is here, where that is news."""
        me, seats = self._attendance.me, self._attendance.seats(now)
        if seats == self._told or me is None:
            return None
        self._told = seats
        return Presence(seats=seats, you=me.seat_id)

    def _say_here(self, *, asks: bool = False) -> None:
        if (me := self._attendance.me) is not None:
            note = SeatHere(seat_id=me.seat_id, name=me.name, asks=asks)
            self._house.feeds.publish(topic_of(self._session_id), note)

    def _say_gone(self) -> None:
        if (me := self._attendance.me) is not None:
            self._house.feeds.publish(topic_of(self._session_id), SeatGone(seat_id=me.seat_id))

    async def _may_listen(self) -> bool:
        """Whether the token still holds, and still reaches a session that is there."""
        try:
            if not await is_valid(self._house, self._actor):
                return False
            await _play(self._house, self._actor, self._session_id)
        except FabulaError:
            return False
        return True


class _Follower:
    """What is heard of a topic, one entry after the other, while others are waited for as well."""

    def __init__(self, followed: AsyncGenerator[FeedEntry[FeedNote], None]) -> None:
        self._followed = followed
        self._waiting: asyncio.Task[FeedEntry[FeedNote] | None] | None = None

    def next(self) -> asyncio.Task[FeedEntry[FeedNote] | None]:
        # A task, because a generator that is interrupted while it waits cannot go on.
        self._waiting = self._waiting or asyncio.create_task(_next(self._followed))
        return self._waiting

    @property
    def has_news(self) -> bool:
        return self._waiting is not None and self._waiting.done()

    def take(self) -> FeedEntry[FeedNote] | None:
        """What came; nothing when the feeds are closed."""
        assert self._waiting is not None
        found, self._waiting = self._waiting.result(), None
        return found

    async def close(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.wait([self._waiting])
        await self._followed.aclose()


async def _next(followed: AsyncGenerator[FeedEntry[FeedNote], None]) -> FeedEntry[FeedNote] | None:
    return await anext(followed, None)


async def _play(house: House, actor: Actor, session_id: str) -> Play:
    async with house.store.reading() as unit:
        return await play_of(unit, actor, session_id)
