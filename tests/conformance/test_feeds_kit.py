"""The feeds keep their law."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

import orjson
import pytest
from redis.asyncio import Redis
from tests.conftest import Place

from fabula.adapters.bus.local_feeds import LocalFeeds
from fabula.adapters.bus.postgres_feeds import PostgresChannel
from fabula.adapters.bus.redis_feeds import CHANNEL, RedisChannel
from fabula.adapters.bus.shared_feeds import LONGEST_NOTE, Channel, SharedFeeds
from fabula.ports.feeds import Feeds
from fabula.testing.cut_line import cut_line
from fabula.testing.feeds_kit import FeedsKit, connected, following, heard
from fabula.testing.redis import RedisServer


def shared(channel: Channel) -> SharedFeeds[bytes]:
    return SharedFeeds(channel, encode=bytes, decode=bytes)


class Notebook:
    """A channel that writes down what it is given each time."""

    name = "The notebook"

    def __init__(self) -> None:
        self.sent: list[list[str]] = []

    async def send(self, notes: Sequence[str]) -> None:
        self.sent.append([orjson.loads(note)[2] for note in notes])

    async def listen(self, listening: Callable[[], None], heard: Callable[[str], None]) -> None:
        self.tell = heard
        listening()
        await asyncio.Event().wait()

    async def close(self) -> None:
        pass


async def test_events_that_come_thick_and_fast_are_sent_to_others_together_and_in_order() -> None:
    channel = Notebook()
    feeds = shared(channel)
    for number in range(20):
        feeds.publish("s", b"%d" % number)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    await feeds.close()
    first, *rest = channel.sent
    assert first == ["0"] and len(rest) == 1
    assert rest[0] == [str(number) for number in range(1, 20)]


async def decoded_of(topics: Iterable[str], *, followed: str) -> list[bytes]:
    """What is decoded of notes about topics of which one is followed here."""
    decoded: list[bytes] = []

    def decode(data: bytes) -> bytes:
        decoded.append(data)
        return data

    channel = Notebook()
    feeds: SharedFeeds[bytes] = SharedFeeds(channel, encode=bytes, decode=decode)
    entries, _ = await following(feeds, followed)
    await asyncio.sleep(0)
    for topic in topics:
        channel.tell(orjson.dumps(["stranger", topic, "x"]).decode())
    await entries.aclose()
    await feeds.close()
    return decoded


async def test_notes_about_what_nobody_follows_here_are_neither_decoded_nor_kept() -> None:
    assert await decoded_of(["s", *(f"t{number}" for number in range(5_000)), "s"], followed="s") == [b"x", b"x"]


async def test_who_missed_more_than_is_kept_of_others_reads_anew_and_what_this_process_says_counts_nothing() -> None:
    feeds: LocalFeeds[bytes] = LocalFeeds(heard_kept=1_000)
    slow, id = await following(feeds)
    for number in range(20):
        feeds.hear("s", b"%d" % number, weighs=100)
        feeds.publish("own", b"x" * 100)
    assert (await heard(slow)).event is None
    assert [(await heard(feeds.follow("s", id))).event] == [None]
    for _ in range(10):
        feeds.hear("s", b"few", weighs=100)
    assert [(await heard(slow)).event for _ in range(10)] == [b"few"] * 10


async def test_who_comes_back_hears_what_others_said_meanwhile() -> None:
    feeds: LocalFeeds[bytes] = LocalFeeds()
    gone, id = await following(feeds)
    await gone.aclose()
    assert feeds.expects("s")
    feeds.hear("s", b"meanwhile", weighs=100)
    assert (await heard(feeds.follow("s", id))).event == b"meanwhile"


class TestLocalFeeds(FeedsKit):
    @pytest.fixture
    async def feeds(self) -> AsyncIterator[Feeds[bytes]]:
        feeds: LocalFeeds[bytes] = LocalFeeds()
        yield feeds
        await feeds.close()

    @pytest.fixture
    def other(self, feeds: Feeds[bytes]) -> Feeds[bytes]:
        return feeds

    async def test_topics_are_forgotten_beyond_a_bound(self) -> None:
        feeds: LocalFeeds[bytes] = LocalFeeds(topics_kept=10)
        entries = feeds.follow("s")
        id = (await heard(entries)).id
        for number in range(20):
            feeds.publish(f"t{number}", b"x")
        again = feeds.follow("t0", id)
        assert (await heard(again)).event is None


LONG = orjson.dumps(["a", "s", "x" * LONGEST_NOTE])
"""A note of the right form that none of ours is as long as."""


class TestRedisFeeds(FeedsKit):
    @pytest.fixture
    async def feeds(self, redis_server: RedisServer) -> AsyncIterator[Feeds[bytes]]:
        feeds = shared(RedisChannel(redis_server.url))
        yield feeds
        await feeds.close()

    @pytest.fixture
    async def other(self, redis_server: RedisServer) -> AsyncIterator[Feeds[bytes]]:
        feeds = shared(RedisChannel(redis_server.url))
        yield feeds
        await feeds.close()

    async def test_what_others_write_to_the_same_redis_stops_no_feed(self, redis_server: RedisServer) -> None:
        feeds, other = shared(RedisChannel(redis_server.url)), shared(RedisChannel(redis_server.url))
        entries, _ = await connected(feeds, other)
        async with Redis.from_url(redis_server.url) as stranger:
            for junk in (b"\xff\xfe", b"", b"null", b"{}", b"[1, 2]", b'["a", {}, []]', LONG):
                await stranger.publish(CHANNEL, junk)
        other.publish("s", b"heard")
        assert (await heard(entries)).event == b"heard"
        await feeds.close()
        await other.close()

    async def test_when_the_way_was_broken_everyone_is_told_to_read_anew_and_everything_here_goes_on(
        self, redis_server: RedisServer
    ) -> None:
        async with cut_line(port=redis_server.port) as line:
            feeds, other = (
                shared(RedisChannel(f"redis://127.0.0.1:{line.port}/0")),
                shared(RedisChannel(redis_server.url)),
            )
            entries, _ = await connected(feeds, other)
            await line.cut()
            other.publish("s", b"missed")
            feeds.publish("s", b"here")
            assert (await heard(entries)).event == b"here"
            await line.start()
            assert (await heard(entries)).event is None
            other.publish("s", b"heard")
            assert (await heard(entries)).event == b"heard"
            await feeds.close()
            await other.close()


class TestPostgresFeeds(FeedsKit):
    @pytest.fixture
    async def feeds(self, postgres_place: Place) -> AsyncIterator[Feeds[bytes]]:
        feeds = shared(PostgresChannel(postgres_place.environment["FABULA_DATABASE_URL"]))
        yield feeds
        await feeds.close()

    @pytest.fixture
    async def other(self, postgres_place: Place) -> AsyncIterator[Feeds[bytes]]:
        feeds = shared(PostgresChannel(postgres_place.environment["FABULA_DATABASE_URL"]))
        yield feeds
        await feeds.close()
