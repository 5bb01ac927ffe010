"""A SQLite connection whose statements go to its thread and back once.

The driver's own cursor crosses to the thread four times a statement: to be made, to execute, to fetch, to be closed.
Our results are small and always read whole, so one crossing does all of it. Work that asks nothing but its unit goes
further: all its statements, from the first to the commit, run in the thread in one crossing. A turn is dozens of
statements; this is what keeps the first word quick.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Coroutine, Sequence
from functools import partial
from threading import get_ident
from typing import Any, TypeVar

import aiosqlite

T = TypeVar("T")


class SingleHopCursor:
    """A cursor that fetches with the execution; everything after that is at hand."""

    def __init__(self, connection: SingleHopConnection) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> SingleHopCursor:
        return self

    async def execute(self, operation: str, parameters: Sequence[Any] | None = None) -> SingleHopCursor:
        await self._connection.run(self._run, operation, parameters, many=False)
        return self

    async def executemany(self, operation: str, parameters: Sequence[Any]) -> SingleHopCursor:
        await self._connection.run(self._run, operation, parameters, many=True)
        return self

    async def fetchall(self) -> list[Any]:
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        self._rows = []

    def _run(self, operation: str, parameters: Sequence[Any] | None, *, many: bool) -> None:
        cursor = self._connection.in_thread().cursor()
        try:
            (cursor.executemany if many else cursor.execute)(operation, () if parameters is None else parameters)
            self.description, self.rowcount, self.lastrowid = cursor.description, cursor.rowcount, cursor.lastrowid
            self._rows = cursor.fetchall() if cursor.description is not None else []
        finally:
            cursor.close()


class SingleHopConnection(aiosqlite.Connection):
    """The driver's connection with whole cursors, which can also do a whole unit of work in one crossing."""

    begin = "BEGIN"
    """How its transactions begin."""

    def cursor(self) -> Any:
        return SingleHopCursor(self)

    def in_thread(self) -> sqlite3.Connection:
        """The connection itself; only for use inside `run`."""
        return self._conn

    async def run(self, work: Any, *args: Any, **kwargs: Any) -> None:
        """Runs work in the connection's thread."""
        await self._execute(work, *args, **kwargs)

    async def rollback(self) -> None:
        """Nothing has to be asked for when no transaction is open: the pool rolls back whatever it gets back."""
        if self._conn.in_transaction:
            await super().rollback()

    async def in_one_go(self, work: Coroutine[Any, Any, T]) -> T:
        """Does work that awaits nothing but this connection, in its thread, to its end; even if the caller leaves."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._tx.put_nowait((done, partial(_finished, work)))
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            await asyncio.wait([done])
            raise

    async def _execute(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        if get_ident() == self._thread.ident:
            return fn(*args, **kwargs)
        return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]


def _finished(work: Coroutine[Any, Any, T]) -> T:
    """The result of work that never has to wait, because all it awaits is at hand."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("Work that is done in one go may await nothing but its unit.")


def connect_single_hop(begin: str, database: str, **options: Any) -> SingleHopConnection:
    """What the engine calls to connect."""
    connection = SingleHopConnection(partial(sqlite3.connect, database, **options), 64)
    connection.begin = begin
    connection._thread.daemon = True
    return connection
