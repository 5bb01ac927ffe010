"""The buses keep their law."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import asyncpg  # type: ignore[import-untyped]
import pytest
from redis.asyncio import Redis
from tests.conftest import Place

from fabula.adapters.bus.local import LocalBus
from fabula.adapters.bus.postgres import PostgresTransport
from fabula.adapters.bus.redis import PREFIX, RedisTransport
from fabula.adapters.bus.shared import LARGEST_COPY, LARGEST_EVENT, Delivery, Entry, SharedBus, Transport, weight
from fabula.adapters.bus.shared import Place as StreamPlace
from fabula.adapters.world import SystemClock
from fabula.ports.bus import Bus
from fabula.testing import bus_kit
from fabula.testing.bus_kit import FORGOTTEN_AFTER, LONGEST, BusKit, TransportBusKit, finish, is_forgotten
from fabula.testing.cut_line import CutLine, cut_line
from fabula.testing.redis import RedisServer

FINISHED_S = 8.0
"""Long enough for a busy machine to read a stream that has just finished, short enough to wait for."""


class TestLocalBus(BusKit):
    @pytest.fixture
    def bus(self) -> Bus[bytes]:
        return LocalBus(weigh=len, finished_kept=FORGOTTEN_AFTER, longest_stream=LONGEST)

    @pytest.fixture
    def other(self, bus: Bus[bytes]) -> Bus[bytes]:
        return bus

    async def test_what_is_kept_of_finished_streams_is_bounded_in_bytes(self) -> None:
        bus: LocalBus[bytes] = LocalBus(weigh=len, finished_bytes=10_000)
        for number in range(100):
            await finish(bus, f"s{number}", b"x" * 1000)
        kept = [number for number in range(100) if not await is_forgotten(bus, f"s{number}")]
        assert kept == list(range(90, 100))


@asynccontextmanager
async def shared(transport: Transport) -> AsyncIterator[Bus[bytes]]:
    local: LocalBus[bytes] = LocalBus(weigh=len, finished_kept=FORGOTTEN_AFTER, longest_stream=LONGEST)
    bus: SharedBus[bytes] = SharedBus(
        transport, SystemClock(), encode=bytes, decode=bytes, local=local, finished_s=FINISHED_S, longest_stream=LONGEST
    )
    # Connecting may take longer than anything that follows.
    assert await bus.subscribe("nothing") is None
    yield bus
    await bus.close()


class TestRedisBus(TransportBusKit):
    @pytest.fixture
    async def line(self, redis_server: RedisServer) -> AsyncIterator[CutLine]:
        async with cut_line(port=redis_server.port) as line:
            yield line

    @pytest.fixture
    def transport(self, line: CutLine, redis_server: RedisServer) -> bus_kit.Transport:
        return _Redis(line, redis_server)

    @pytest.fixture
    async def bus(self, line: CutLine) -> AsyncIterator[Bus[bytes]]:
        async with shared(redis(line)) as bus:
            yield bus

    @pytest.fixture
    async def other(self, line: CutLine) -> AsyncIterator[Bus[bytes]]:
        async with shared(redis(line)) as bus:
            yield bus

    async def test_entries_that_others_wrote_are_passed_over(self, redis_server: RedisServer) -> None:
        transport = RedisTransport(redis_server.url)
        entry = Entry(sequence=0, kind="event", data=b"told")
        await transport.write([Delivery(stream="s", epoch=1, opening=True, entries=[entry], keep_s=60)])
        async with Redis.from_url(redis_server.url) as stranger:
            for number, junk in enumerate(["x y", "k e", "k ? d x", "d x"], 7):
                await stranger.execute_command(  # type: ignore[no-untyped-call]
                    "XADD", f"{PREFIX}s", f"1-{number}", *junk.split()
                )
        whole, (news,) = await transport.read("s"), await transport.news({"s": StreamPlace(epoch=1, sequence=-1)})
        assert whole == news
        assert news.entries == [entry]
        await transport.close()

    async def test_an_event_that_is_far_too_large_is_not_decoded_and_ends_its_stream(
        self, bus: Bus[bytes], other: Bus[bytes]
    ) -> None:
        sender = await bus.open("s")
        sender.send(b"one")
        sender.send(b"x" * (LARGEST_EVENT + 1))
        sender.send(b"two", last=True)
        await sender.flush()
        assert [frame.event for frame in await bus_kit.heard_to_the_end(other, "s")] == [b"one"]

    async def test_of_a_copy_that_is_far_too_large_the_newest_events_are_read_and_no_more(
        self, redis_server: RedisServer
    ) -> None:
        transport = RedisTransport(redis_server.url)
        large = b"," * 100_000
        entries = [Entry(sequence=number, kind="event", data=large) for number in range(60)]
        await transport.write([Delivery(stream="s", epoch=1, opening=True, entries=entries, keep_s=60)])
        news = await transport.read("s")
        assert news is not None and news.entries[-1].sequence == 59
        assert LARGEST_COPY <= sum(weight(one.data) for one in news.entries) < LARGEST_COPY + 16 * weight(large)
        await transport.close()

    async def test_of_news_that_are_large_a_few_are_read_at_once_and_of_short_ones_more(
        self, redis_server: RedisServer
    ) -> None:
        transport = RedisTransport(redis_server.url)
        sizes, read = [*[100_000] * 40, *[4] * 60], list[int]()
        entries = [Entry(sequence=number, kind="event", data=b"x" * size) for number, size in enumerate(sizes)]
        for _ in range(3):
            # Nothing has come, and says nothing of what will.
            await transport.wake()
            assert await transport.news({"s": StreamPlace(epoch=1, sequence=-1)}) == []
        await transport.write([Delivery(stream="s", epoch=1, opening=True, entries=entries, keep_s=60)])
        reached = -1
        while reached < 99:
            (news,) = await transport.news({"s": StreamPlace(epoch=1, sequence=reached)})
            read.append(sum(len(one.data) for one in news.entries))
            reached = news.entries[-1].sequence
        assert max(read) == 200_000 and len(read) < 30
        await transport.close()

    async def test_a_stream_ends_where_somebody_wrote_what_is_no_event(
        self, bus: Bus[bytes], other: Bus[bytes], redis_server: RedisServer
    ) -> None:
        sender = await bus.open("s")
        sender.send(b"one")
        await sender.flush()
        frames = await bus_kit.heard(other, "s")
        assert await bus_kit.next_of(frames) == b"one"
        async with Redis.from_url(redis_server.url) as stranger:
            last = (await stranger.xrevrange(f"{PREFIX}s", count=1))[0][0].decode()
            await stranger.xadd(f"{PREFIX}s", {"x": "y"}, id=f"{last.partition('-')[0]}-9")
        assert await bus_kit.to_the_end(frames) == []

    async def test_a_long_copy_is_read_whole(self, redis_server: RedisServer) -> None:
        transport = RedisTransport(redis_server.url)
        entries = [Entry(sequence=number, kind="event", data=b"word") for number in range(3000)]
        await transport.write([Delivery(stream="s", epoch=1, opening=True, entries=entries, keep_s=60)])
        news = await transport.read("s")
        assert news is not None and [one.sequence for one in news.entries] == list(range(3000))
        await transport.close()

    @pytest.mark.parametrize("spoil", [["SET", "x"], ["XADD", f"{2**64 - 1}-{2**64 - 1}", "k", "e"]])
    async def test_a_stream_that_others_overwrote_is_lost_and_no_other(
        self, bus: Bus[bytes], other: Bus[bytes], redis_server: RedisServer, spoil: list[str]
    ) -> None:
        spoiled, whole = await bus.open("spoiled"), await bus.open("whole")
        for sender in (spoiled, whole):
            sender.send(b"one")
            await sender.flush()
        cut, followed = await bus_kit.heard(other, "spoiled"), await bus_kit.heard(other, "whole")
        assert await bus_kit.next_of(cut) == await bus_kit.next_of(followed) == b"one"
        async with Redis.from_url(redis_server.url) as stranger:
            await stranger.execute_command(spoil[0], f"{PREFIX}spoiled", *spoil[1:])  # type: ignore[no-untyped-call]
        for sender in (spoiled, whole):
            sender.send(b"two", last=True)
        assert await bus_kit.to_the_end(cut) == []
        assert await bus_kit.next_of(followed) == b"two"
        await finish(bus, "spoiled")
        await finish(bus, "later", b"three")
        assert [frame.event for frame in await bus_kit.heard_to_the_end(other, "later")] == [b"three"]


def redis(line: CutLine) -> RedisTransport:
    return RedisTransport(f"redis://127.0.0.1:{line.port}/0", longest_stream=LONGEST)


class _Redis:
    def __init__(self, line: CutLine, server: RedisServer) -> None:
        self._line, self._server = line, server
        self.stop, self.start = line.cut, line.start

    async def lose(self) -> None:
        await asyncio.to_thread(self._server.kill)
        await asyncio.to_thread(self._server.start)


class TestPostgresBus(TransportBusKit):
    @pytest.fixture
    async def line(self, postgres_place: Place) -> AsyncIterator[CutLine]:
        folder = parse_qs(urlsplit(postgres_place.settings.database_url).query)["host"][0]
        async with cut_line(path=f"{folder}/.s.PGSQL.5432") as line:
            yield line

    @pytest.fixture
    def transport(self, line: CutLine, postgres_place: Place) -> bus_kit.Transport:
        return _Postgres(line, postgres_place)

    @pytest.fixture
    async def bus(self, line: CutLine, postgres_place: Place) -> AsyncIterator[Bus[bytes]]:
        async with shared(postgres(line, postgres_place)) as bus:
            yield bus

    @pytest.fixture
    async def other(self, line: CutLine, postgres_place: Place) -> AsyncIterator[Bus[bytes]]:
        async with shared(postgres(line, postgres_place)) as bus:
            yield bus

    async def test_a_stream_that_is_opened_anew_leaves_no_rows_of_the_one_before(
        self, bus: Bus[bytes], postgres_place: Place
    ) -> None:
        for event in (b"old", b"older", b"new"):
            sender = await bus.open("again")
            sender.send(event)
            await sender.flush()
        connection = await asyncpg.connect(postgres_place.settings.database_url)
        kept = await connection.fetch("SELECT data FROM fabula.bus_entries WHERE stream = 'again'")
        await connection.close()
        assert [bytes(row["data"]) for row in kept] == [b"new"]


def postgres(line: CutLine, place: Place) -> PostgresTransport:
    parts = urlsplit(place.settings.database_url)
    address = f"postgresql://{parts.username}@127.0.0.1:{line.port}{parts.path}"
    return PostgresTransport(address, longest_stream=LONGEST)


class _Postgres:
    def __init__(self, line: CutLine, place: Place) -> None:
        self._place = place
        self.stop, self.start = line.cut, line.start

    async def lose(self) -> None:
        connection = await asyncpg.connect(self._place.settings.database_url)
        await connection.execute("TRUNCATE fabula.bus_streams, fabula.bus_entries")
        await connection.close()
