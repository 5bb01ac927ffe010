"""The feeds keep their law."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from tests.conftest import Place

from fabula.adapters.bus.local_feeds import LocalFeeds
from fabula.adapters.bus.postgres_feeds import PostgresChannel
from fabula.adapters.bus.redis_feeds import CHANNEL, RedisChannel
from fabula.adapters.bus.shared_feeds import Channel, SharedFeeds
from fabula.ports.feeds import Feeds
from fabula.testing.cut_line import cut_line
from fabula.testing.feeds_kit import FeedsKit, connected, heard
from fabula.testing.redis import RedisServer


def shared(channel: Channel) -> SharedFeeds[bytes]:
    return SharedFeeds(channel, encode=bytes, decode=bytes)


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
            for junk in (b"\xff\xfe", b"", b"null", b"{}", b"[1, 2]", b'["a", {}, []]'):
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
