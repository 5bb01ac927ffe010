"""Plays and checkpoints keep their laws."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from tests.conftest import Place

from fabula.adapters.stores import sql_store
from fabula.adapters.stores.checkpoints import StoreCheckpoints
from fabula.adapters.world import SystemClock
from fabula.ports.checkpoints import Checkpoints
from fabula.testing.checkpoints_kit import CheckpointsKit, run_loop
from fabula.testing.plays_kit import PlaysKit


class TestSqlPlays(PlaysKit):
    pass


class TestCheckpoints(CheckpointsKit):
    @pytest.fixture
    async def checkpoints(self, place: Place) -> AsyncIterator[Checkpoints]:
        async with opened_again(place) as checkpoints:
            yield checkpoints

    async def test_what_was_put_is_there_after_closing(self, place: Place, checkpoints: Checkpoints) -> None:
        for thread in ("a:turn_1", "b:turn_1"):
            checkpoints.expect_new(thread)
            await run_loop(checkpoints, thread)
        await checkpoints.forget("b:turn_1")
        await checkpoints.close()
        async with opened_again(place) as again:
            assert await again.threads() == {"a:turn_1"}

    async def test_a_loop_that_is_over_at_once_leaves_nothing_behind(
        self, place: Place, checkpoints: Checkpoints
    ) -> None:
        await checkpoints.saver()
        for number in range(20):
            checkpoints.expect_new(f"a:turn_{number}")
            await run_loop(checkpoints, f"a:turn_{number}", look=False)
            await checkpoints.forget(f"a:turn_{number}")
        assert await checkpoints.threads() == set()
        await asyncio.sleep(0.1)
        async with opened_again(place) as again:
            assert await again.threads() == set()

    async def test_whoever_is_forgotten_stays_forgotten_whenever_that_is(
        self, place: Place, checkpoints: Checkpoints
    ) -> None:
        await checkpoints.saver()
        for number in range(30):
            thread = f"a:turn_{number}"
            checkpoints.expect_new(thread)
            await run_loop(checkpoints, thread, between=partial(asyncio.sleep, number / 1000), look=False)
            await checkpoints.forget(thread)
        await asyncio.sleep(0.1)
        assert await checkpoints.threads() == set()

    async def test_a_loop_forgotten_in_the_moment_its_step_is_taken_to_be_written_leaves_no_row(
        self, checkpoints: Checkpoints
    ) -> None:
        await checkpoints.saver()
        checkpoints.expect_new("a:turn_1")
        await run_loop(checkpoints, "a:turn_1", look=False)
        reading = asyncio.create_task(checkpoints.threads())
        await asyncio.sleep(0)
        await checkpoints.forget("a:turn_1")
        await reading
        assert await checkpoints.threads() == set()

    async def test_where_a_loop_stands_is_soon_seen_by_who_would_take_it_up(
        self, place: Place, checkpoints: Checkpoints
    ) -> None:
        seen = False

        async def look() -> None:
            nonlocal seen
            for _ in range(200):
                async with opened_again(place) as again:
                    if seen := "a:turn_1" in await again.threads():
                        return
                await asyncio.sleep(0.02)

        await checkpoints.saver()
        checkpoints.expect_new("a:turn_1")
        await run_loop(checkpoints, "a:turn_1", between=look, look=False)
        assert seen


@asynccontextmanager
async def opened_again(place: Place) -> AsyncIterator[Checkpoints]:
    """The same checkpoints as another process would open them."""
    store = sql_store(place.settings, SystemClock())
    await store.open()
    again = StoreCheckpoints(store)
    try:
        yield again
    finally:
        await again.close()
        await store.close()
