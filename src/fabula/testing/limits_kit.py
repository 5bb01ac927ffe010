"""The conformance kit of limits: each sentence of the law in `fabula.ports.limits` is a test with the same words.

An adapter's test module says `class TestMyLimits(LimitsKit)` and gives the fixtures `limits` and `other`: the limits of
two servers, or twice the same for limits of one process.
"""

from __future__ import annotations

import asyncio

from fabula.ports.limits import Allowance, Limits

FEW = Allowance(name="few", a_minute=3)
MANY = Allowance(name="many", a_minute=600)


class LimitsKit:
    """The whole law."""

    async def test_take_takes_one_of_each_or_nothing_and_answers_how_long_it_is(self, limits: Limits) -> None:
        other = Allowance(name="other", a_minute=2)
        assert [await limits.take(FEW, other) for _ in range(2)] == [0.0, 0.0]
        wait_s = await limits.take(FEW, other)
        assert 20 < wait_s <= 30
        assert await limits.take(FEW) == 0.0, "nothing was taken of the one that had some left"
        assert 10 < await limits.take(FEW) <= 20

    async def test_an_allowance_fills_again(self, limits: Limits) -> None:
        wait_s = 0.0
        for _ in range(2 * MANY.a_minute):
            # It fills while it is emptied.
            if wait_s := await limits.take(MANY):
                break
        assert 0 < wait_s <= 0.1
        await asyncio.sleep(wait_s + 0.05)
        assert await limits.take(MANY) == 0.0

    async def test_what_is_taken_at_one_server_is_missing_at_the_others(self, limits: Limits, other: Limits) -> None:
        taken = [await server.take(FEW) for server in (limits, other, limits)]
        assert taken == [0.0, 0.0, 0.0]
        assert await other.take(FEW) > 0 and await limits.take(FEW) > 0

    async def test_no_server_has_more_than_a_twentieth_of_a_portioned_allowance_in_hand(
        self, limits: Limits, other: Limits
    ) -> None:
        calls = Allowance(name="calls", a_minute=100, portioned=True)
        taken = 0
        while await other.take(calls) == 0.0:
            taken += 1
        assert 99 <= taken <= 110
        left = 0
        while await limits.take(calls) == 0.0:
            left += 1
        assert left <= 5

    async def test_claim_is_true_for_the_first_alone_until_it_is_released_or_over(
        self, limits: Limits, other: Limits
    ) -> None:
        assert await limits.claim("a", for_s=60)
        assert not await other.claim("a", for_s=60) and not await limits.claim("a", for_s=60)
        assert await other.claim("b", for_s=60)
        await limits.release("a")
        assert await other.claim("a", for_s=0.05)
        await asyncio.sleep(0.1)
        assert await limits.claim("a", for_s=60)
