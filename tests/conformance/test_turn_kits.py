"""Plays, checkpoints and the bus keep their laws."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.conftest import Place

from fabula.adapters.bus.local import LocalBus
from fabula.adapters.stores.checkpoints import open_checkpoints
from fabula.ports.bus import Bus
from fabula.ports.checkpoints import Checkpoints
from fabula.testing.bus_kit import FORGOTTEN_AFTER, BusKit
from fabula.testing.checkpoints_kit import CheckpointsKit
from fabula.testing.plays_kit import PlaysKit


class TestSqlPlays(PlaysKit):
    pass


class TestCheckpoints(CheckpointsKit):
    @pytest.fixture
    async def checkpoints(self, place: Place) -> AsyncIterator[Checkpoints]:
        place.settings.data_folder.mkdir(exist_ok=True)
        checkpoints = open_checkpoints(place.settings)
        yield checkpoints
        await checkpoints.close()


class TestLocalBus(BusKit):
    @pytest.fixture
    def bus(self) -> Bus:
        return LocalBus(finished_kept=FORGOTTEN_AFTER)

    def test_what_is_kept_of_finished_streams_is_bounded_in_bytes(self) -> None:
        bus = LocalBus(finished_bytes=10_000)
        for number in range(100):
            bus.open(f"s{number}").send(b"x" * 1000, last=True)
        assert [number for number in range(100) if bus.listen(f"s{number}") is not None] == list(range(90, 100))
