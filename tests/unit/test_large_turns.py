"""Turns of large states: so many at once, and so many bytes of states together."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.loops.turns.large_turns import LargeTurns

MOST_BYTES = 10


class Table:
    """Turns by number that wait or are played, and the sizes of their states."""

    def __init__(self, sizes: list[int], at_once: int = 4) -> None:
        self._turns = LargeTurns(at_once=at_once, most_bytes=MOST_BYTES)
        self.sizes = sizes
        self.inside: list[int] = []
        self._ends = [asyncio.Event() for _ in sizes]
        self.tasks = [asyncio.create_task(self._play(number)) for number in range(len(sizes))]

    async def _play(self, number: int) -> None:
        async with self._turns.turn_of(self.sizes[number]):
            self.inside.append(number)
            try:
                await self._ends[number].wait()
            finally:
                self.inside.remove(number)

    async def end(self, number: int, *, by_cancel: bool = False) -> None:
        if by_cancel:
            self.tasks[number].cancel()
        self._ends[number].set()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)


async def test_states_of_turns_that_are_played_at_once_have_a_bound_together() -> None:
    table = Table([6, 5, 4, 1])
    await table.settle()
    assert table.inside == [0]
    await table.end(0)
    assert table.inside == [1, 2, 3]


async def test_a_state_that_is_larger_than_all_may_be_is_played_alone() -> None:
    table = Table([1, 1_000, 1])
    await table.settle()
    assert table.inside == [0]
    await table.end(0)
    assert table.inside == [1]
    await table.end(1)
    assert table.inside == [2]


async def test_few_turns_of_large_states_are_played_at_once_however_small_they_are() -> None:
    table = Table([1, 1, 1], at_once=2)
    await table.settle()
    assert table.inside == [0, 1]


@examples(200)
@given(st.lists(st.integers(1, 15), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_each_turn_comes_in_its_order_and_what_is_cancelled_keeps_no_room(sizes: list[int], chance) -> None:  # type: ignore[no-untyped-def]
    async def play() -> None:
        table, left, entered = Table(sizes), set(range(len(sizes))), list[int]()
        await table.settle()
        while left:
            assert table.inside and len(table.inside) <= 4
            entered += [number for number in sorted(table.inside) if number not in entered]
            assert entered == sorted(entered)
            assert len(table.inside) == 1 or sum(sizes[number] for number in table.inside) <= MOST_BYTES
            one = chance.choice(sorted(left))
            left.remove(one)
            await table.end(one, by_cancel=one not in table.inside or chance.random() < 0.5)
        await asyncio.gather(*table.tasks, return_exceptions=True)

    asyncio.run(play())
