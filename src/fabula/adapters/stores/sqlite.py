"""SQLite: one file in the data folder, in WAL mode; a commit that returned is on the disk.

One thread writes and a few read, each with a connection of its own.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from sqlalchemy import URL, Executable, NullPool, create_engine, event, text
from sqlalchemy import Connection as SqlAlchemyConnection
from sqlalchemy.exc import DBAPIError

from fabula.adapters.stores.computed_parts import computed_part
from fabula.adapters.stores.database import LOCKED, PATIENCE_S, TOO_BUSY, Mode
from fabula.adapters.stores.sql import Connection, Rows, Steps, Values
from fabula.adapters.stores.sqlite_thread import SqliteThread
from fabula.adapters.stores.tangled_pages import is_tangled
from fabula.ports.errors import StoreError

T = TypeVar("T")

MOST_READERS = 16


_ALWAYS = ("PRAGMA foreign_keys=ON", "PRAGMA synchronous=FULL", "PRAGMA temp_store=MEMORY")
# IMMEDIATE takes the write lock at the start, so that a unit never fails half-way because another came first.
_TO_WRITE = "BEGIN IMMEDIATE"

HAS_TABLE = text("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name")


class SqliteDatabase:
    """The database in a file, which `prepare` makes when it is missing.

    What no column of ours can hold is read as a plain value (`row_types`), but where `mends` is false: a restore
    refuses it. What has more bytes than `largest` is neither read nor written.
    """

    engine: Literal["sqlite"] = "sqlite"

    def __init__(self, file: Path, *, mends: bool = True, largest: int = 128 * 2**20) -> None:
        self._file, self._mends, self._largest = file, mends, largest
        # Whoever plays is told it, too, and where it lies is not theirs to know. Made here, because each query asks.
        self._name = Path(file.name)
        self._writer: SqliteThread | None = None
        self._idle_readers: list[SqliteThread] = []
        self._writing = asyncio.Lock()
        self._reading = asyncio.Semaphore(MOST_READERS)

    @property
    def place(self) -> str:
        return str(self._file)

    async def prepare(self) -> None:
        await asyncio.to_thread(_prepare, self._file)

    async def close(self) -> None:
        threads, self._idle_readers = self._idle_readers, []
        if self._writer is not None:
            threads.append(self._writer)
            self._writer = None
        for thread in threads:
            await thread.stop()

    @asynccontextmanager
    async def transaction(self, mode: Mode, *, durable: bool = True) -> AsyncIterator[Connection]:
        thread = await self._take(mode)
        try:
            connection = SqliteConnection(thread, durable=durable)
            with self.plain_words():
                try:
                    yield connection
                    await connection.end("COMMIT")
                except BaseException:
                    await connection.end("ROLLBACK")
                    raise
        finally:
            self._give_back(mode, thread)

    async def run(self, mode: Mode, steps: Steps[T], *, durable: bool = True) -> T:
        thread = await self._take(mode)
        try:
            with self.plain_words():
                return await thread.call(partial(thread.whole, steps, durable=durable))
        finally:
            self._give_back(mode, thread)

    async def ask(self, mode: Mode, statement: Executable, values: Values) -> Rows:
        thread = await self._take(mode)
        try:
            with self.plain_words():
                return await thread.call(partial(thread.execute, statement, values))
        finally:
            self._give_back(mode, thread)

    async def with_sqlalchemy(self, work: Callable[[SqlAlchemyConnection], T]) -> T:
        await self._wait_for(self._writing)
        try:
            with self.plain_words():
                return await asyncio.to_thread(self._in_sqlalchemy, work)
        finally:
            self._writing.release()

    def _in_sqlalchemy(self, work: Callable[[SqlAlchemyConnection], T]) -> T:
        url = URL.create("sqlite", database=str(self._file))
        options = {"isolation_level": None, "timeout": PATIENCE_S}
        engine = create_engine(url, connect_args=options, poolclass=NullPool)
        event.listen(engine, "connect", _set_pragmas)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(_TO_WRITE))
        with engine.begin() as connection:
            return work(connection)

    async def has_table(self, connection: Connection, name: str) -> bool:
        return (await connection.execute(HAS_TABLE, {"name": name})).first() is not None

    @contextmanager
    def plain_words(self, *also: type[Exception]) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise StoreError(sentence(self._name, error.orig or error)) from error
        except (sqlite3.Error, OverflowError) as error:
            raise StoreError(sentence(self._name, error)) from error
        except also as error:
            raise StoreError(sentence(self._name, error)) from error

    # Taken and given back by hand: each turn does so a dozen times, and context managers cost more than the locks.

    async def _take(self, mode: Mode) -> SqliteThread:
        """The writer, whose callers of this process queue here (SQLite itself keeps other processes apart), or any
        reader that is idle. Whoever takes it gives it back."""
        use = self._reading if mode == "read" else self._writing
        await self._wait_for(use)
        try:
            return self._idle_reader() if mode == "read" else self._only_writer()
        except BaseException:
            use.release()
            raise

    def _give_back(self, mode: Mode, thread: SqliteThread) -> None:
        if mode == "read":
            self._idle_readers.append(thread)
            self._reading.release()
        else:
            self._writing.release()

    def _only_writer(self) -> SqliteThread:
        if self._writer is None:
            self._writer = self._new_thread(_TO_WRITE)
        return self._writer

    def _idle_reader(self) -> SqliteThread:
        """The one that was used last, which has its statements and pages at hand."""
        return self._idle_readers.pop() if self._idle_readers else self._new_thread("BEGIN", "PRAGMA query_only=ON")

    def _new_thread(self, begin: str, *pragmas: str) -> SqliteThread:
        return SqliteThread(
            self._file, begin=begin, pragmas=(*_ALWAYS, *pragmas), mends=self._mends, largest=self._largest
        )

    async def _wait_for(self, use: asyncio.Lock | asyncio.Semaphore) -> None:
        if not use.locked():
            await use.acquire()
            return
        try:
            async with asyncio.timeout(PATIENCE_S):
                await use.acquire()
        except TimeoutError as error:
            raise StoreError(TOO_BUSY) from error


class SqliteConnection:
    """A transaction on a thread's connection. It begins with its first statement, in the same crossing."""

    def __init__(self, thread: SqliteThread, *, durable: bool) -> None:
        self._thread, self._durable = thread, durable
        self._begun = False

    async def execute(self, statement: Executable, values: Values | Sequence[Values] | None = None) -> Rows:
        return await self._thread.call(partial(self._execute, statement, values))

    async def run(self, steps: Steps[T]) -> T:
        return await self._thread.call(partial(self._follow, steps))

    async def end(self, how: Literal["COMMIT", "ROLLBACK"]) -> None:
        await self._thread.call(partial(self._end, how))

    # What follows runs in the thread.

    def _execute(self, statement: Executable, values: Values | Sequence[Values] | None) -> Rows:
        self._begin()
        return self._thread.execute(statement, values)

    def _follow(self, steps: Steps[T]) -> T:
        self._begin()
        return self._thread.follow(steps)

    def _begin(self) -> None:
        if not self._begun:
            self._thread.begin(durable=self._durable)
            self._begun = True

    def _end(self, how: str) -> None:
        # What could not begin, or failed to commit, has nothing to roll back.
        if self._begun:
            self._begun = False
            self._thread.end(how, durable=self._durable)


def _set_pragmas(connection: Any, _: Any) -> None:
    for pragma in _ALWAYS:
        connection.execute(pragma)


def _prepare(file: Path) -> None:
    """Makes the folder and the file, and turns on WAL, which the file then remembers."""
    if file.is_dir():
        raise StoreError(f"There is a folder {file} where the database file should be. Move it away.")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(sqlite3.connect(file, timeout=PATIENCE_S, isolation_level=None)) as connection:
            _refuse_strangers(connection, file)
            _refuse_tangles(connection, file)
            _turn_on_wal(connection)
        _remove_old_checkpoints(file.parent)
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        raise StoreError(sentence(file, error)) from error


def _remove_old_checkpoints(folder: Path) -> None:
    """Older versions kept where loops stand in a file of its own, which nobody reads any more."""
    for name in ("loops.db", "loops.db-wal", "loops.db-shm"):
        # What cannot be removed, as a folder of that name, harms nobody.
        with suppress(OSError):
            (folder / name).unlink()


def _turn_on_wal(connection: sqlite3.Connection) -> None:
    """SQLite does not wait by itself while another process switches the mode of a new file, so we do."""
    for _ in range(100):
        with suppress(sqlite3.OperationalError):
            if connection.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",):
                return
        time.sleep(0.05)
    connection.execute("PRAGMA journal_mode=WAL")


def _refuse_strangers(connection: sqlite3.Connection, file: Path) -> None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    if tables and "fabula_revision" not in tables:
        raise StoreError(f"The file {file} is a database of another program. Choose another data folder.")
    if (part := computed_part(connection)) is not None:
        raise StoreError(
            f"The database {file} has something that runs by itself, the {part}, as Fabula never makes. "
            "Remove it if it is yours; otherwise move the file away and restore a backup that you trust."
        )


def _refuse_tangles(connection: sqlite3.Connection, file: Path) -> None:
    if is_tangled(connection):
        raise StoreError(
            f"The database {file} is damaged: parts of it stand in two places, so that reading it might never end. "
            "Move it away and run `fabula restore` with a backup."
        )


_DAMAGE = ("not a database", "malformed", "Could not decode", "no such table", "no such column")


def sentence(file: Path, error: BaseException) -> str:
    """What went wrong with the file, and what to do."""
    said = str(error)
    if isinstance(error, UnicodeDecodeError) or any(sign in said for sign in _DAMAGE):
        return f"The database {file} is damaged. Move it away and run `fabula restore` with a backup."
    if isinstance(error, OverflowError) or "integer overflow" in said:
        return f"A number is too large for the database {file}. If nobody gave one, one is damaged: restore a backup."
    if "too big" in said:
        return f"A value is too large for the database {file}. If nobody gave one, one is damaged: restore a backup."
    if "readonly" in said:
        return f"The database {file} may not be written. Make it and its folder writable for this user."
    if "unable to open" in said or isinstance(error, OSError):
        folder = f"data folder {file.parent}" if file.is_absolute() else "data folder"
        return f"The {folder} cannot be used: {_reason(error)}. Make it writable, or choose another."
    if "locked" in said or "busy" in said:
        return LOCKED
    if "full" in said:
        return f"The disk of {file} is full. Free some space, then try again."
    return f"The database {file} cannot do this: {said}."


def _reason(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
