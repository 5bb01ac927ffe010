"""The store: units of work on a database that was brought to the newest revision."""

from __future__ import annotations

import asyncio
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
from fabula.ports.errors import StoreError
from fabula.ports.store import StoreStatus
from fabula.ports.world import Clock

T = TypeVar("T")

SPARE_CONNECTIONS = 4


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
        async with self.write_transaction() as connection:
            yield self._unit(connection)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[SqlUnit]:
        async with self.read_transaction() as connection:
            yield self._unit(connection)

    async def write(self, work: Callable[[SqlUnit], Awaitable[T]], *, durable: bool = True) -> T:
        async with self._turn_to_write():
            return await self._in_one_go(self.database.writer, work, durable=durable)

    async def read(self, work: Callable[[SqlUnit], Awaitable[T]]) -> T:
        return await self._in_one_go(self.database.reader, work)

    @asynccontextmanager
    async def write_transaction(self) -> AsyncIterator[AsyncConnection]:
        async with self._turn_to_write(), self._transaction(self.database.writer) as connection:
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

    @asynccontextmanager
    async def _turn_to_write(self) -> AsyncIterator[None]:
        """Writers of one process queue here, in order; the engine keeps those of other processes apart."""
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
        self, engine: AsyncEngine, work: Callable[[SqlUnit], Awaitable[T]], *, durable: bool = True
    ) -> T:
        """SQLite does the whole unit in the thread of its connection; a server's connection waits for each answer."""
        async with self._connected(engine) as connection:
            driver = _driver_of(connection)
            if isinstance(driver, SingleHopConnection):
                short = PreparedConnection(connection, driver)
                return await driver.in_one_go(self._whole(short, short.transaction(durable=durable), work))
            hurried = None if durable else self.database.hurried
            return await self._whole(connection, connection.begin() if hurried is None else hurried(connection), work)

    async def _whole(
        self,
        connection: AsyncConnection | PreparedConnection,
        transaction: AbstractAsyncContextManager[Any],
        work: Callable[[SqlUnit], Awaitable[T]],
    ) -> T:
        with self.database.plain_words(sqlite3.Error):
            async with transaction:
                return await work(self._unit(connection))

    def _unit(self, connection: AsyncConnection | PreparedConnection) -> SqlUnit:
        return SqlUnit(Access(connection=connection, clock=self._clock, keyring=self.keyring))

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
