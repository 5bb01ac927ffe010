"""The buses keep their law."""

from __future__ import annotations

import pytest

from fabula.adapters.bus.local import LocalBus
from fabula.ports.bus import Bus
from fabula.testing.bus_kit import FORGOTTEN_AFTER, LONGEST, BusKit, finish, is_forgotten


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
