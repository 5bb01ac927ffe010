"""The SQL store keeps the whole law, on SQLite, in memory and on a real Postgres."""

from collections.abc import Iterator

import pytest

from fabula.testing.memory_store import MemoryPlace, memory_place
from fabula.testing.store_kit import StoreKit


class TestSqlStore(StoreKit):
    pass


class TestMemoryStore(StoreKit):
    @pytest.fixture
    def place(self) -> Iterator[MemoryPlace]:
        with memory_place() as place:
            yield place
