"""Limits over Redis: one script looks at all buckets and takes from them; Redis' own clock fills them.

While Redis is away each server counts for itself, and asks Redis again from time to time. Nobody waits for a Redis that
does not answer: what takes longer than a moment is counted here.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

from redis.exceptions import RedisError

from fabula.adapters.bus import place_of
from fabula.adapters.bus.redis import redis_client
from fabula.adapters.bus.shared import FIRST_RETRY_S, LONGEST_RETRY_S
from fabula.adapters.limits.local import LocalLimits
from fabula.ports.limits import Allowance

T = TypeVar("T")

log = logging.getLogger("fabula.limits")

PREFIX: Final = "fabula:limit:"
CLAIMS: Final = "fabula:claim:"
PATIENCE_S: Final = 0.25
PORTIONS: Final = 20
PORTION_KEPT_S: Final = 10.0
MOST_PORTIONS: Final = 10_000

# ARGV holds for each key how many a minute there are, and how many are wanted. The answer is how many are given, or how
# many milliseconds to wait, below zero.
TAKE: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local left, wait = {}, 0
for number, key in ipairs(KEYS) do
    local rate = tonumber(ARGV[2 * number - 1])
    local kept = redis.call('HMGET', key, 'left', 'at')
    local before, at = tonumber(kept[1]), tonumber(kept[2])
    local filled = rate
    -- Others may write here as well. What this script cannot have written counts as nothing, or it would stay for ever.
    if before and at and before >= 0 and at <= now then
        filled = math.min(rate, before + (now - at) * rate / 60000)
    end
    left[number] = filled
    if filled < 1 then wait = math.max(wait, (1 - filled) * 60000 / rate) end
end
if wait > 0 then return -math.ceil(wait) end
local given = 0
for number, key in ipairs(KEYS) do
    given = math.min(tonumber(ARGV[2 * number]), math.floor(left[number]))
    redis.call('HSET', key, 'left', tostring(left[number] - given), 'at', tostring(now))
    redis.call('PEXPIRE', key, 61000)
end
return given
"""


class RedisLimits:
    """Keeps the law of `fabula.ports.limits.Limits` over Redis."""

    def __init__(self, address: str, monotonic: Callable[[], float]) -> None:
        self._name = f"Redis at {place_of(address)}"
        self._client = redis_client(address)
        self._monotonic = monotonic
        self._local = LocalLimits(monotonic)
        self._in_hand: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._is_away, self._not_before, self._retry_s = False, 0.0, FIRST_RETRY_S

    async def take(self, *wanted: Allowance) -> float:
        if len(wanted) == 1 and self._take_in_hand(wanted[0]):
            return 0.0
        portion = max(1, wanted[0].a_minute // PORTIONS) if len(wanted) == 1 and wanted[0].portioned else 1
        keys = [PREFIX + one.name for one in wanted]
        numbers = [number for one in wanted for number in (one.a_minute, portion)]
        given: int | None = await self._ask(lambda: self._client.eval(TAKE, len(keys), *keys, *numbers))
        if given is None:
            return await self._local.take(*wanted)
        if given < 0:
            return -given / 1000
        if given > 1:
            self._keep(wanted[0].name, given - 1)
        return 0.0

    async def claim(self, name: str, *, for_s: float) -> bool:
        async def ask() -> bool:
            return bool(await self._client.set(CLAIMS + name, "1", nx=True, px=round(for_s * 1000)))

        first = await self._ask(ask)
        return await self._local.claim(name, for_s=for_s) if first is None else first

    async def release(self, name: str) -> None:
        await self._local.release(name)
        await self._ask(lambda: self._client.delete(CLAIMS + name))

    async def close(self) -> None:
        with suppress(OSError):
            await self._client.aclose()

    def _take_in_hand(self, allowance: Allowance) -> bool:
        count, until = self._in_hand.get(allowance.name, (0, 0.0))
        if count < 1 or until < self._monotonic():
            return False
        self._in_hand[allowance.name] = (count - 1, until)
        return True

    def _keep(self, name: str, count: int) -> None:
        self._in_hand[name] = (count, self._monotonic() + PORTION_KEPT_S)
        self._in_hand.move_to_end(name)
        while len(self._in_hand) > MOST_PORTIONS:
            self._in_hand.popitem(last=False)

    async def _ask(self, ask: Callable[[], Awaitable[T]]) -> T | None:
        """What Redis answers; None while it is away."""
        if self._is_away and self._monotonic() < self._not_before:
            return None
        # Whoever comes while one tries again does not wait as well.
        self._not_before = self._monotonic() + self._retry_s
        try:
            async with asyncio.timeout(PATIENCE_S):
                answer = await ask()
        except (RedisError, OSError, TimeoutError) as error:
            self._lost(error)
            return None
        self._found()
        return answer

    def _lost(self, error: Exception) -> None:
        # The bus goes over the same Redis, and warns an operator once: that is enough.
        if not self._is_away:
            log.info("Limits are counted by each server for itself until %s answers again: %s", self._name, error)
        self._is_away = True
        self._retry_s = min(2 * self._retry_s, LONGEST_RETRY_S)

    def _found(self) -> None:
        if self._is_away:
            log.info("Limits are counted over all servers again.")
        self._is_away, self._retry_s = False, FIRST_RETRY_S
