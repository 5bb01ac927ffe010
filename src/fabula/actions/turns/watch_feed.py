"""The feed of a session: whoever has it open learns what others do there, on any server that shares the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from fabula.actions.authority import allowed
from fabula.actions.care.tokens import is_valid, label_of
from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.actions.seats.attendance import in_order, seat_of
from fabula.actions.seats.follower import Follower
from fabula.actions.seats.session_seats import TakenSeat
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
        self._house, self._actor, self._session_id, self._me = house, actor, session_id, me
        self._told: tuple[Seat, ...] | None = None

    async def tell(self, last_event_id: str, look_every_s: float) -> AsyncGenerator[Told, None]:
        house, caller, now = self._house, _caller(self._actor), asyncio.get_running_loop().time
        events = Follower(house.feeds.follow(self._session_id, last_event_id))
        seat = TakenSeat(house.session_seats, house.feeds, self._session_id, self._me) if self._me else None
        house.open_feeds[caller] += 1
        look_at = now() + look_every_s
        try:
            while True:
                waits = [events.next(), seat.heard.next()] if seat else [events.next()]
                await asyncio.wait(waits, timeout=max(0.0, look_at - now()), return_when=asyncio.FIRST_COMPLETED)
                if now() >= look_at:
                    if not await self._may_listen():
                        return
                    if seat:
                        seat.stay()
                    look_at = now() + look_every_s
                if events.has_news:
                    entry = events.take()
                    if entry is not None and isinstance(entry.event, (SeatHere, SeatGone)):
                        # Seats have a topic of their own: somebody else wrote this to what servers share.
                        continue
                    if entry is None or (told := await self._event(entry)) is None:
                        return
                    yield told
                    if isinstance(told.event, FeedSessionDeleted):
                        return
                if seat and seat.heard.has_news and (presence := self._presence(seat.heard.take() or ())) is not None:
                    yield Told(id="", event=presence)
        finally:
            house.open_feeds[caller] -= 1
            if seat:
                await seat.leave()
            await events.close()

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

    def _presence(self, seats: tuple[Seat, ...]) -> Presence | None:
        """Who is here, we among them, where that is news."""
        assert self._me is not None, "without a seat nobody hears of seats"
        if all(seat.seat_id != self._me.seat_id for seat in seats):
            seats = in_order([*seats, self._me])
        if seats == self._told:
            return None
        self._told = seats
        return Presence(seats=seats, you=self._me.seat_id)

    async def _may_listen(self) -> bool:
        """Whether the token still holds, and still reaches a session that is there."""
        try:
            if not await is_valid(self._house, self._actor):
                return False
            await _play(self._house, self._actor, self._session_id)
        except FabulaError:
            return False
        return True


async def _play(house: House, actor: Actor, session_id: str) -> Play:
    async with house.store.reading() as unit:
        return await play_of(unit, actor, session_id)
