"""Very many seats of a session: what is said of them grows with their number and no faster, and comes to rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.live import gate_session, live_server

from fabula.actions.house import House
from fabula.actions.turns.watch_feed import watch_feed
from fabula.adapters.bus.local_feeds import KEPT_PER_TOPIC, LocalFeeds
from fabula.adapters.bus.shared_feeds import SharedFeeds
from fabula.ports.actors import Actor
from fabula.ports.feeds import FeedEntry, Feeds
from fabula.story.feed_events import FeedNote, Presence, SeatHere, decode_feed_event, encode_feed_event

ADMIN = Actor(role="admin")
SEATS = 60
A_WHILE_S = 1.5
"""Longer than anything is gathered. At rest everybody says at most once in it that they are here."""


class CountedFeeds:
    """Feeds that count what is published."""

    def __init__(self, feeds: Feeds[FeedNote]) -> None:
        self._feeds, self.published = feeds, 0

    def publish(self, topic: str, event: FeedNote) -> None:
        self.published += 1
        self._feeds.publish(topic, event)

    def follow(self, topic: str, after: str = "") -> AsyncGenerator[FeedEntry[FeedNote], None]:
        return self._feeds.follow(topic, after)

    async def close(self) -> None:
        await self._feeds.close()


class Wire:
    """A way between the servers of a test, which carries everything at once. `break_off` loses it for a moment."""

    name = "The wire"

    def __init__(self) -> None:
        self._listeners: list[Callable[[str], None]] = []
        self._broken: list[Callable[[], None]] = []

    async def send(self, notes: Sequence[str]) -> None:
        for note in notes:
            for heard in self._listeners:
                heard(note)

    async def listen(self, listening: Callable[[], None], heard: Callable[[str], None]) -> None:
        self._listeners.append(heard)
        self._broken.append(listening)
        listening()
        await asyncio.Event().wait()

    def break_off(self) -> None:
        for listening in self._broken:
            listening()

    async def close(self) -> None:
        pass


class Watcher:
    """Somebody who has a session open: whom they see."""

    def __init__(self, house: House, session_id: str, name: str) -> None:
        self.seen: tuple[str, ...] = ()
        self.told = 0
        self._reading = asyncio.create_task(self._read(house, session_id, name))

    async def _read(self, house: House, session_id: str, name: str) -> None:
        async with aclosing(await watch_feed(house, ADMIN, session_id, "", seat=name, name=name)) as feed:
            async for one in feed:
                if isinstance(one.event, Presence):
                    self.told += 1
                    self.seen = tuple(seat.name for seat in one.event.seats)

    async def leave(self) -> None:
        self._reading.cancel()
        await asyncio.wait([self._reading])


class Gathering:
    """Those who have a session open, on so many servers of one store."""

    def __init__(self, houses: list[House], session_id: str, counted: list[CountedFeeds], wire: Wire) -> None:
        self._houses, self._session_id, self._counted, self.wire = houses, session_id, counted, wire
        self.watchers: list[Watcher] = []

    @property
    def published(self) -> int:
        return sum(one.published for one in self._counted)

    def come(self, number: int) -> None:
        for _ in range(number):
            at, house = len(self.watchers), self._houses[len(self.watchers) % len(self._houses)]
            self.watchers.append(Watcher(house, self._session_id, f"n{at:02}"))

    async def leave(self, number: int) -> None:
        for _ in range(number):
            await self.watchers.pop().leave()

    async def all_seen(self) -> None:
        """Waits until everybody sees everybody and nobody else."""
        everybody = tuple(f"n{number:02}" for number in range(len(self.watchers)))
        async with asyncio.timeout(120):
            while any(one.seen != everybody for one in self.watchers):
                await asyncio.sleep(0.01)

    def flood(self) -> None:
        """More is said of seats at once than is kept: everybody misses something."""
        note = SeatHere(seat_id="seat_elsewhere", name="n00", asks=True)
        for _ in range(2 * KEPT_PER_TOPIC):
            self._houses[0].feeds.publish(f"seats:{self._session_id}", note)


@pytest.fixture(params=[1, 4], ids=["one server", "four servers"])
async def gathering(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Gathering]:
    async with _gathering(tmp_path, servers=request.param) as gathering:
        yield gathering


@asynccontextmanager
async def _gathering(tmp_path: Path, *, servers: int) -> AsyncIterator[Gathering]:
    wire = Wire()
    async with live_server(tmp_path) as client:
        counted = [CountedFeeds(_feeds(wire, is_shared=servers > 1)) for _ in range(servers)]
        houses = [replace(client.house, feeds=one, session_seats={}) for one in counted]
        gathering = Gathering(houses, await gate_session(client), counted, wire)
        try:
            yield gathering
        finally:
            await gathering.leave(len(gathering.watchers))
            for one in counted:
                await one.close()


def _feeds(wire: Wire, *, is_shared: bool) -> Feeds[FeedNote]:
    return SharedFeeds(wire, encode=encode_feed_event, decode=decode_feed_event) if is_shared else LocalFeeds()


async def test_of_many_who_come_and_go_at_once_each_is_told_of_a_few_times(gathering: Gathering) -> None:
    gathering.come(SEATS)
    await gathering.all_seen()
    await asyncio.sleep(A_WHILE_S)
    assert gathering.published <= 6 * SEATS
    assert max(one.told for one in gathering.watchers) <= SEATS / 2, "of many who come at once, all are told together"
    at_rest = gathering.published
    await asyncio.sleep(A_WHILE_S)
    assert gathering.published - at_rest <= SEATS
    await gathering.leave(SEATS // 2)
    await gathering.all_seen()
    assert gathering.published - at_rest <= 4 * SEATS


async def test_who_comes_where_many_are_already_makes_none_of_them_speak(gathering: Gathering) -> None:
    gathering.come(SEATS - 10)
    await gathering.all_seen()
    await asyncio.sleep(A_WHILE_S)
    before = gathering.published
    for _ in range(10):
        gathering.come(1)
        await gathering.all_seen()
    assert gathering.published - before <= 3 * SEATS


async def test_those_who_all_missed_something_ask_for_nothing(gathering: Gathering) -> None:
    gathering.come(SEATS)
    await gathering.all_seen()
    await asyncio.sleep(A_WHILE_S)
    before = gathering.published
    gathering.flood()
    gathering.wire.break_off()
    await asyncio.sleep(A_WHILE_S)
    assert gathering.published - before <= 2 * KEPT_PER_TOPIC + 4 * SEATS, "they answer the flood, and then are at rest"
    at_rest = gathering.published
    await asyncio.sleep(A_WHILE_S)
    assert gathering.published - at_rest <= SEATS
