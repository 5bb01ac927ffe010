"""The limits keep their law."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from fabula.adapters.limits.local import LocalLimits
from fabula.adapters.limits.redis import PREFIX, RedisLimits
from fabula.ports.limits import Allowance, Limits
from fabula.testing.limits_kit import LimitsKit
from fabula.testing.redis import RedisServer


class TestLocalLimits(LimitsKit):
    @pytest.fixture
    def limits(self) -> Limits:
        return LocalLimits(time.monotonic)

    @pytest.fixture
    def other(self, limits: Limits) -> Limits:
        return limits

    async def test_memory_is_bounded_however_many_names_there_are(self) -> None:
        limits = LocalLimits(time.monotonic, most_names=10)
        for number in range(100):
            await limits.take(Allowance(name=str(number), a_minute=1))
            await limits.claim(str(number), for_s=60)
        assert await limits.take(Allowance(name="0", a_minute=1)) == 0.0, "it was forgotten"
        assert await limits.take(Allowance(name="99", a_minute=1)) > 0
        assert len(limits._buckets) == len(limits._claims) == 10


HOSTILE_BUCKETS: dict[str, dict[str, str | bytes]] = {
    "words": {"left": "many", "at": "0"},
    "bytes": {"left": b"\xff\xfe", "at": b"\x00"},
    "no number": {"left": "nan", "at": "nan"},
    "without end": {"left": "inf", "at": "0"},
    "empty without end": {"left": "-inf", "at": "0"},
    "far below nothing": {"left": "-1e308", "at": "0"},
    "from the future": {"left": "0", "at": "1e18"},
    "very long": {"left": "9" * 4000, "at": "0"},
    "a half": {"left": "5"},
}


class TestRedisLimits(LimitsKit):
    @pytest.fixture
    async def limits(self, redis_server: RedisServer) -> AsyncIterator[Limits]:
        limits = RedisLimits(redis_server.url, time.monotonic)
        yield limits
        await limits.close()

    @pytest.fixture
    async def other(self, redis_server: RedisServer) -> AsyncIterator[Limits]:
        limits = RedisLimits(redis_server.url, time.monotonic)
        yield limits
        await limits.close()

    async def test_while_redis_is_away_each_server_counts_for_itself_and_together_again_when_it_is_back(
        self, redis_server: RedisServer, limits: Limits, other: Limits, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, "fabula.limits")
        once = Allowance(name="once", a_minute=1)
        assert await limits.take(once) == 0.0 and await other.take(once) > 0
        await asyncio.to_thread(redis_server.kill)
        assert [await limits.take(once), await other.take(once)] == [0.0, 0.0]
        assert await limits.take(once) > 0
        assert [await limits.claim("a", for_s=60) for _ in range(2)] == [True, False]
        await asyncio.to_thread(redis_server.start)
        async with asyncio.timeout(120):
            while await limits.claim("b", for_s=60) and await other.claim("b", for_s=60):
                await limits.release("b")
                await other.release("b")
                await asyncio.sleep(0.1)
        told = [record.getMessage() for record in caplog.records]
        assert sum("for itself" in line for line in told) == 2, "once for each server"

    @pytest.mark.parametrize("bucket", HOSTILE_BUCKETS)
    async def test_whatever_others_write_to_redis_keeps_nobody_out(
        self, redis_server: RedisServer, limits: Limits, bucket: str
    ) -> None:
        async with Redis.from_url(redis_server.url) as redis:
            for name, value in HOSTILE_BUCKETS[bucket].items():
                await redis.hset(f"{PREFIX}calls", name, value)
        assert await limits.take(Allowance(name="calls", a_minute=60)) == 0.0
