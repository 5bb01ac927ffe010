"""A SQLite connection and the thread that owns it.

Callers wait on the event loop; the thread does one job at a time, in the order in which they came.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import namedtuple
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Executable
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.sql.expression import UpdateBase

from fabula.adapters.stores.database import PATIENCE_S
from fabula.adapters.stores.row_types import FittingTypes, lenient_text, made_to_fit, wanted_types
from fabula.adapters.stores.sql import COMPILED_KEPT, Compiler, Rows, Steps, Values

log = logging.getLogger("fabula.stored")
"""It says the same line once a minute (`actions/repositories.py`)."""

T = TypeVar("T")

Job = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class RowKind(NamedTuple):
    """The class of a statement's rows, which have its columns as attributes, and what types these may have."""

    row: Any
    types: FittingTypes


class SqliteThread:
    """Runs jobs on its connection. `begin` is how its transactions begin.

    One that `mends` answers plain values in place of those that cannot be in their column. No value or row with more
    bytes than `largest` is read or written.
    """

    def __init__(self, file: Path, *, begin: str, pragmas: Sequence[str], mends: bool, largest: int) -> None:
        self._file, self._begin, self._pragmas = file, begin, pragmas
        self._mends, self._largest = mends, largest
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._compiler = Compiler(SQLiteDialect_pysqlite(paramstyle="named"))
        self._row_kinds: dict[str, RowKind] = {}
        self._opened: sqlite3.Connection | None = None
        # A daemon: a process that ends without closing its store must not wait for it. Nothing is lost by that.
        Thread(target=self._work, name=f"sqlite {file.name}", daemon=True).start()

    async def call(self, job: Callable[[], T]) -> T:
        """Does a job in the thread. It is done to its end, even if the caller is cancelled."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._jobs.put((loop, done, job))
        return await done

    async def stop(self) -> None:
        """Closes the connection after all jobs, and ends the thread."""
        await self.call(self._close)
        self._jobs.put(None)

    # What follows runs in the thread.

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            loop, done, work = job
            try:
                settle = partial(_succeed, done, work())
            except BaseException as error:  # noqa: BLE001 - whatever it is belongs to who waits for it
                settle = partial(_fail, done, error)
            # Who waited may be gone, and its loop with it.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(settle)
            # What was done must not be kept alive until the next job comes.
            del job, done, work, settle

    def connection(self) -> sqlite3.Connection:
        if self._opened is None:
            # Without an isolation level the driver starts no transactions of its own.
            self._opened = sqlite3.connect(self._file, isolation_level=None, timeout=PATIENCE_S)
            self._opened.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._largest)
            for pragma in self._pragmas:
                self._opened.execute(pragma)
        return self._opened

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def begin(self, *, durable: bool) -> None:
        connection = self.connection()
        if not durable:
            connection.execute("PRAGMA synchronous=NORMAL")
        try:
            connection.execute(self._begin)
        except BaseException:
            self._wait_for_the_disk_again(durable)
            raise

    def end(self, how: str, *, durable: bool) -> None:
        """Commits or rolls back; what cannot be committed is rolled back."""
        connection = self.connection()
        try:
            # SQLite rolls back by itself where the disk or the memory is full.
            if how != "ROLLBACK" or connection.in_transaction:
                connection.execute(how)
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._wait_for_the_disk_again(durable)

    def _wait_for_the_disk_again(self, durable: bool) -> None:
        if not durable:
            self.connection().execute("PRAGMA synchronous=FULL")

    def whole(self, steps: Steps[T], *, durable: bool) -> T:
        """A whole transaction."""
        self.begin(durable=durable)
        try:
            result = self.follow(steps)
        except BaseException:
            self.end("ROLLBACK", durable=durable)
            raise
        self.end("COMMIT", durable=durable)
        return result

    def follow(self, steps: Steps[T]) -> T:
        """Runs steps to their end inside a transaction."""
        try:
            step = next(steps)
            while True:
                step = steps.send(self.execute(*step))
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            steps.close()

    def execute(self, statement: Executable, values: Values | Sequence[Values] | None = None) -> Rows:
        connection = self.connection()
        if isinstance(values, Sequence):
            compiled = self._compiler.compile(statement, values[0])
            many = connection.executemany(compiled.sql, [compiled.named(one) for one in values])
            return Rows((), many.rowcount)
        compiled = self._compiler.compile(statement, values or {})
        cursor = connection.execute(compiled.sql, compiled.named(values or {}))
        if cursor.description is None:
            return Rows((), cursor.rowcount)
        kind = self._row_kind(statement, compiled.sql, cursor)
        try:
            rows = cursor.fetchall()
        except sqlite3.OperationalError as error:
            if not self._begin_to_read_leniently(error) or isinstance(statement, UpdateBase):
                raise
            rows = connection.execute(compiled.sql, compiled.named(values or {})).fetchall()
        if rows and self._mends and not kind.types.fit(rows):
            self._tell_of_damage(f"values of a wrong type in columns {', '.join(kind.row._fields)}"[:200])
            rows = made_to_fit(rows, kind.types.wanted)
        return Rows(rows, cursor.rowcount, kind.row._make)

    def _begin_to_read_leniently(self, error: sqlite3.OperationalError) -> bool:
        """Whether text was no UTF-8, and is read from now on with signs for what is none.

        Not from the start: it takes twice the time, and nobody's database has such text.
        """
        connection = self.connection()
        if not self._mends or "Could not decode" not in str(error) or connection.text_factory is lenient_text:
            return False
        connection.text_factory = lenient_text
        self._tell_of_damage("text that is no UTF-8")
        return True

    def _row_kind(self, statement: Executable, sql: str, cursor: sqlite3.Cursor) -> RowKind:
        found = self._row_kinds.get(sql)
        if found is None:
            if len(self._row_kinds) >= COMPILED_KEPT:
                self._row_kinds.clear()
            columns = [column[0] for column in cursor.description]
            wanted = wanted_types(statement, sql)
            # What is not said of each column is said of none.
            wanted = wanted if len(wanted) == len(columns) else [None] * len(columns)
            found = self._row_kinds[sql] = RowKind(namedtuple("Row", columns, rename=True), FittingTypes(wanted))
        return found

    def _tell_of_damage(self, what: str) -> None:
        log.warning("The database %s is damaged: it has %s. Restore a backup.", self._file, what)


def _succeed(done: asyncio.Future[Any], result: Any) -> None:
    if not done.done():
        done.set_result(result)


def _fail(done: asyncio.Future[Any], error: BaseException) -> None:
    if not done.done():
        done.set_exception(error)
