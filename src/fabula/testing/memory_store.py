"""A store in memory for tests of actions: it opens in a few milliseconds, and keeps the whole law of the store.

It is the SQL store on SQLite, whose file lies in a file system in memory where the machine has one, and which is copied
from one that was brought to the newest revision once. So a test of an action meets every promise of the real store.

    with memory_place() as place:
        store = place.store(clock)
        await store.open()
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from fabula.adapters.stores import sql_store
from fabula.adapters.stores.store import SqlStore
from fabula.ports.store import StoreStatus
from fabula.ports.world import Clock
from fabula.settings import Settings
from fabula.testing.world import FixedClock

IN_MEMORY = Path("/dev/shm")
DATABASE = "fabula.db"


class MemoryStore(SqlStore):
    """A SQL store that is gone with its place."""

    async def status(self) -> StoreStatus:
        return replace(await super().status(), engine="memory")


@dataclass(frozen=True, kw_only=True)
class MemoryPlace:
    """A place in memory, on which any number of stores can be opened; what the store kit wants of a place."""

    settings: Settings

    def store(self, clock: Clock) -> MemoryStore:
        return _memory_store(self.settings, clock)

    def store_with_key(self, clock: Clock, secret_key: str) -> MemoryStore:
        return _memory_store(self.settings.model_copy(update={"secret_key": secret_key}), clock)

    async def bytes_at_rest(self) -> bytes:
        files = self.settings.data_folder.iterdir()
        return b"".join(file.read_bytes() for file in files if file.name != "secret.key")


@contextmanager
def memory_place() -> Iterator[MemoryPlace]:
    """A new place; it is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="fabula-memory-", dir=_memory_folder()))
    try:
        (folder / DATABASE).write_bytes(_migrated_database())
        yield MemoryPlace(settings=Settings(data_dir=folder, samples=False))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _memory_folder() -> Path | None:
    """Where the machine keeps files in memory; None is the folder for temporary files."""
    return IN_MEMORY if IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK) else None


def _memory_store(settings: Settings, clock: Clock) -> MemoryStore:
    made = sql_store(settings, clock)
    return MemoryStore(made.database, clock, made.keyring)


@cache
def _migrated_database() -> bytes:
    """The bytes of an empty database at the newest revision."""
    with tempfile.TemporaryDirectory(dir=_memory_folder()) as folder, ThreadPoolExecutor() as pool:
        # In a thread, because the first to ask may be a test that runs in a loop already.
        pool.submit(asyncio.run, _open_and_close(Settings(data_dir=Path(folder)))).result()
        return (Path(folder) / DATABASE).read_bytes()


async def _open_and_close(settings: Settings) -> None:
    store = sql_store(settings, FixedClock())
    await store.open()
    await store.close()
