"""The watchdog names what held the event loop up, and lets everything else pass."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest

from fabula.ports.meters import LOOP_BUSY_SECONDS, LOOP_STALL_SECONDS, Meters
from fabula.server.ops.watchdog import watched_loop


def think_long(seconds: float) -> None:
    """Keeps the loop from turning, as a long computation does."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


async def stalls(meters: Meters, wanted: int) -> None:
    while sum(meters.durations(LOOP_STALL_SECONDS)[()].counts) < wanted:
        await asyncio.sleep(0.01)


async def test_a_stall_is_logged_with_where_it_was_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    meters = Meters()
    with caplog.at_level(logging.WARNING, "fabula.loop"), watched_loop(meters):
        await asyncio.sleep(0.1)
        think_long(0.5)
        await asyncio.wait_for(stalls(meters, 1), 120)
    line = next(one for one in caplog.messages if "think_long" in one)
    assert line.startswith("the event loop stood still for")
    assert meters.durations(LOOP_STALL_SECONDS)[()].total_s > 0.3


async def test_a_busy_machine_is_told_apart_from_a_busy_server(caplog: pytest.LogCaptureFixture) -> None:
    meters, wall, used = Meters(), [0.0], [0.0]
    with (
        caplog.at_level(logging.WARNING, "fabula.loop"),
        watched_loop(meters, monotonic=lambda: wall[0], process_time=lambda: used[0]),
    ):
        wall[0], used[0] = 0.45, 0.03
        await asyncio.wait_for(stalls(meters, 1), 120)
        wall[0], used[0] = 0.9, 0.7
        await asyncio.wait_for(stalls(meters, 2), 120)
    first, second = caplog.messages
    assert first.startswith("the event loop stood still for 400 ms (30 ms of work), in")
    assert second.startswith("the event loop stood still for 400 ms (400 ms of work), in")
    assert meters.durations(LOOP_BUSY_SECONDS)[()].total_s == pytest.approx(0.43)


async def test_nothing_is_said_while_the_loop_turns_and_nothing_afterwards() -> None:
    meters, now = Meters(), [0.0]
    with watched_loop(meters, monotonic=lambda: now[0]):
        for _ in range(8):
            await asyncio.sleep(0.03)
            now[0] += 0.03
    now[0] += 60.0
    await asyncio.sleep(0.2)
    assert meters.durations(LOOP_STALL_SECONDS)[()].total_s == 0
