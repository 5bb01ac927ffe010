"""A SQLite connection whose statements go to its thread and back once.

The driver's own cursor crosses to the thread four times a statement: to be made, to execute, to fetch, to be closed.
Our results are small and always read whole, so one crossing does all of it. A turn is dozens of statements; this is
what keeps the first word quick.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import Any

import aiosqlite


class WholeCursor:
    """A cursor that fetches with the execution; everything after that is at hand."""

    def __init__(self, connection: WholeConnection) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> WholeCursor:
        return self

    async def execute(self, operation: str, parameters: Sequence[Any] | None = None) -> WholeCursor:
        await self._connection.run(self._run, operation, parameters, many=False)
        return self

    async def executemany(self, operation: str, parameters: Sequence[Any]) -> WholeCursor:
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


class WholeConnection(aiosqlite.Connection):
    """The driver's connection with whole cursors."""

    def cursor(self) -> Any:
        return WholeCursor(self)

    def in_thread(self) -> sqlite3.Connection:
        """The connection itself; only for use inside `run`."""
        return self._conn

    async def run(self, work: Any, *args: Any, **kwargs: Any) -> None:
        """Runs work in the connection's thread."""
        execute: Any = self._execute
        await execute(work, *args, **kwargs)


def connect_whole(database: str, **options: Any) -> WholeConnection:
    """What the engine calls to connect."""
    connection = WholeConnection(partial(sqlite3.connect, database, **options), 64)
    connection._thread.daemon = True
    return connection
