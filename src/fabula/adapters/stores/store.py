"""The store: units of work on a database that was brought to the newest revision."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from fabula.adapters.stores.database import PATIENCE_S, Database
from fabula.adapters.stores.keys import Keyring
from fabula.adapters.stores.migrations import REVISIONS
from fabula.adapters.stores.prepared_statements import PreparedConnection
from fabula.adapters.stores.revisions import bring_up_to_date, revision_of
from fabula.adapters.stores.single_hop_sqlite import SingleHopConnection
from fabula.adapters.stores.tables import Access
from fabula.adapters.stores.unit import SqlUnit
from fabula.ports.errors import StoreError, WriteConflict
from fabula.ports.store import StoreStatus
from fabula.ports.world import Clock

T = TypeVar("T")

SPARE_CONNECTIONS = 4

PAUSES_S = (0.01, 0.03, 0.1, 0.3, 1.0)
"""How long a write at most waits before it begins again, each time that another one got in its way."""


class SqlStore:
    """Keeps the law of `fabula.ports.store.Store` on SQLite and Postgres."""

    def __init__(self, database: Database, clock: Clock, keyring: Keyring) -> None:
        self.database = database
        self.keyring = keyring
        self._clock = clock
        self._writing = asyncio.Lock()
        self._spare: dict[AsyncEngine, list[AsyncConnection]] = {}

    async def open(self) -> None:
        try:
            with self.database.plain_words(OSError):
                await self.database.prepare()
                await bring_up_to_date(self.database)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        for connection in self._spare.pop(self.database.writer, []) + self._spare.pop(self.database.reader, []):
            await connection.close()
        await self.database.writer.dispose()
        await self.database.reader.dispose()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[SqlUnit]:
        async with self._turn_to_write(), self._transaction(self.database.writer) as connection:
            yield self._unit(connection, writes=True)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[SqlUnit]:
        async with self.read_transaction() as connection:
            yield self._unit(connection, writes=False)

    async def write(self, work: Callable[[SqlUnit], Awaitable[T]], *, durable: bool = True) -> T:
        for pause in PAUSES_S:
            try:
                return await self._write_once(work, durable=durable)
            except WriteConflict:
                # A random pause, so that two that got in each other's way do not meet again.
                await asyncio.sleep(random.uniform(0, pause))
        return await self._write_once(work, durable=durable)

    async def read(self, work: Callable[[SqlUnit], Awaitable[T]]) -> T:
        return await self._in_one_go(self.database.reader, work, writes=False)

    @asynccontextmanager
    async def lone_transaction(self) -> AsyncIterator[AsyncConnection]:
        """For who changes everything at once: no other writer is at work meanwhile."""
        async with self._turn_to_write(), self._transaction(self.database.alone) as connection:
            yield connection

    @asynccontextmanager
    async def read_transaction(self) -> AsyncIterator[AsyncConnection]:
        async with self._transaction(self.database.reader) as connection:
            yield connection

    async def status(self) -> StoreStatus:
        async with self.read_transaction() as connection:
            revision = await revision_of(connection)
        return StoreStatus(
            engine=self.database.engine,
            place=self.database.place,
            revision=revision or "none",
            newest_revision=REVISIONS[-1],
        )

    async def backup(self, target: Path) -> None:
        from fabula.adapters.stores.backup import back_up

        await back_up(self, target)

    async def _write_once(self, work: Callable[[SqlUnit], Awaitable[T]], *, durable: bool) -> T:
        async with self._turn_to_write():
            return await self._in_one_go(self.database.writer, work, writes=True, durable=durable)

    @asynccontextmanager
    async def _turn_to_write(self) -> AsyncIterator[None]:
        """On SQLite the writers of one process queue here, in order; the engine keeps those of other processes apart.

        Postgres keeps writers of the same things apart, wherever they are.
        """
        if self.database.engine == "postgres":
            yield
            return
        if self._writing.locked():
            await self._wait_to_write()
        else:
            await self._writing.acquire()
        try:
            yield
        finally:
            self._writing.release()

    async def _wait_to_write(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._writing.acquire()
        except TimeoutError as error:
            raise StoreError(f"The store at {self.database.place} is too busy. Try again in a moment.") from error

    async def _in_one_go(
        self, engine: AsyncEngine, work: Callable[[SqlUnit], Awaitable[T]], *, writes: bool, durable: bool = True
    ) -> T:
        """SQLite does the whole unit in the thread of its connection; a server's connection waits for each answer."""
        async with self._connected(engine) as connection:
            driver = _driver_of(connection)
            if isinstance(driver, SingleHopConnection):
                short = PreparedConnection(connection, driver)
                whole = self._whole(short, short.transaction(durable=durable), work, writes=writes)
                return await driver.in_one_go(whole)
            hurried = None if durable else self.database.hurried
            transaction = connection.begin() if hurried is None else hurried(connection)
            return await self._whole(connection, transaction, work, writes=writes)

    async def _whole(
        self,
        connection: AsyncConnection | PreparedConnection,
        transaction: AbstractAsyncContextManager[Any],
        work: Callable[[SqlUnit], Awaitable[T]],
        *,
        writes: bool,
    ) -> T:
        with self.database.plain_words(sqlite3.Error):
            async with transaction:
                return await work(self._unit(connection, writes=writes))

    def _unit(self, connection: AsyncConnection | PreparedConnection, *, writes: bool) -> SqlUnit:
        locks = writes and self.database.engine == "postgres"
        return SqlUnit(Access(connection=connection, clock=self._clock, keyring=self.keyring, locks=locks))

    @asynccontextmanager
    async def _transaction(self, engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
        async with self._connected(engine) as connection:
            with self.database.plain_words():
                async with connection.begin():
                    yield connection

    @asynccontextmanager
    async def _connected(self, engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
        """A connection of the engine. One whose work went well serves again as it is; any other goes back to the pool,
        which cleans it. A server's connections always go back: the pool finds out whether the server is still there.
        """
        spare = self._spare.setdefault(engine, [])
        connection = spare.pop() if spare else await self._opened(engine)
        well = False
        try:
            yield connection
            well = self.database.engine == "sqlite" and len(spare) < SPARE_CONNECTIONS
        finally:
            if well:
                spare.append(connection)
            else:
                await asyncio.shield(connection.close())

    async def _opened(self, engine: AsyncEngine) -> AsyncConnection:
        connection = engine.connect()
        # Only here may the outside world be missing; an OSError of the block itself is not ours to explain.
        with self.database.plain_words(OSError):
            return await connection.start()


def _driver_of(connection: AsyncConnection) -> object:
    """The driver's own connection, which is at hand once the engine has connected."""
    assert connection.sync_connection is not None
    return connection.sync_connection.connection.driver_connection
