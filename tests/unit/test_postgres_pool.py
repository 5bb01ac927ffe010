"""The connections of a process to Postgres: at most so many, the newest first, none that was left unused for long."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fabula.adapters.stores.postgres_pool import UNUSED_S, PostgresPool


class Driver:
    def __init__(self) -> None:
        self.closed = False

    def is_closed(self) -> bool:
        return self.closed

    def terminate(self) -> None:
        self.closed = True

    async def close(self) -> None:
        self.closed = True


def pool_of(size: int, *, unused_s: float = UNUSED_S) -> tuple[PostgresPool, list[Driver]]:
    opened: list[Driver] = []

    async def connect() -> Driver:
        opened.append(Driver())
        return opened[-1]

    return PostgresPool(connect, size=size, unused_s=unused_s), opened


async def test_what_was_given_back_last_is_taken_next() -> None:
    pool, opened = pool_of(3)
    first, second = await pool.take(), await pool.take()
    pool.give_back(second)
    pool.give_back(first)
    assert await pool.take() is first and await pool.take() is second and len(opened) == 2


async def test_who_finds_none_free_waits_for_one() -> None:
    pool, opened = pool_of(1)
    driver = await pool.take()
    waiting = asyncio.create_task(pool.take())
    await asyncio.sleep(0)
    assert not waiting.done()
    pool.give_back(driver)
    assert await waiting is driver and len(opened) == 1


async def test_a_connection_that_was_lost_is_replaced() -> None:
    pool, opened = pool_of(1)
    driver = await pool.take()
    pool.give_back(driver)
    driver.closed = True
    other = await pool.take()
    other.closed = True
    pool.give_back(other)
    assert await pool.take() is opened[2]


async def test_a_connection_that_cannot_be_opened_takes_no_place() -> None:
    async def connect() -> Any:
        raise OSError("nobody there")

    pool = PostgresPool(connect, size=1)
    for _ in range(3):
        with pytest.raises(OSError, match="nobody there"):
            await pool.take()


async def test_what_was_not_used_for_long_is_ended() -> None:
    pool, opened = pool_of(2, unused_s=-1.0)
    first, second = await pool.take(), await pool.take()
    pool.give_back(first)
    pool.give_back(second)
    assert first.closed
    await pool.take()
    assert second.closed and len(opened) == 3


async def test_closing_ends_all_of_them() -> None:
    pool, opened = pool_of(2)
    first, second = await pool.take(), await pool.take()
    pool.give_back(first)
    closing = asyncio.create_task(pool.close())
    await asyncio.sleep(0)
    assert not second.closed
    pool.give_back(second)
    await closing
    assert all(driver.closed for driver in opened)
