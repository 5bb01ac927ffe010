"""Backups: one SQLite file, whichever engine the store runs on, so that any store can take back any backup.

The file is written beside its target and renamed at the end: a backup that exists is whole. A checksum of all rows
stands in it, so that a letter that changes later, on a disk or on the way, is noticed before it is restored.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any, Final, Protocol

from sqlalchemy import Boolean, Executable, LargeBinary, Table, insert, literal, select, tuple_

from fabula.adapters.stores.database import Database
from fabula.adapters.stores.revisions import bring_up_to_date
from fabula.adapters.stores.sql import Connection, Rows
from fabula.adapters.stores.sqlite import SqliteDatabase
from fabula.adapters.stores.tables import METADATA
from fabula.ports.errors import StoreError

CHECKSUM_TABLE: Final = "fabula_backup"


class Readable(Protocol):
    """What rows are copied from."""

    async def execute(self, statement: Executable) -> Rows: ...


class Source(Protocol):
    """What is backed up: a store, as far as a backup looks at it."""

    @property
    def database(self) -> Database: ...

    def read_transaction(self) -> AbstractAsyncContextManager[Connection]: ...


async def back_up(store: Source, target: Path) -> None:
    """Writes the whole store, as it is at one moment, into `target`, replacing what was there."""
    draft = target.with_name(f"{target.name}.partial")
    await asyncio.to_thread(_refuse_place, store.database, target)
    try:
        await asyncio.to_thread(_make_room, draft)
        if store.database.engine == "sqlite":
            await asyncio.to_thread(_copy_file, Path(store.database.place), draft)
        else:
            await _copy_rows_into_file(store, draft)
        await asyncio.to_thread(_finish, draft, target)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"The backup {target} cannot be written: {error}. Choose another place.") from error
    finally:
        await asyncio.to_thread(_discard, draft)


def _copy_file(source: Path, draft: Path) -> None:
    """SQLite's own online backup, in one step: in WAL mode it neither waits for writers nor holds them up."""
    with closing(sqlite3.connect(source)) as origin, closing(sqlite3.connect(draft)) as copy:
        origin.backup(copy)


async def _copy_rows_into_file(store: Source, draft: Path) -> None:
    async with _new_file(draft) as copy, store.read_transaction() as origin:
        for table in METADATA.sorted_tables:
            await copy_rows(table, origin, copy)


@asynccontextmanager
async def _new_file(draft: Path) -> AsyncIterator[Connection]:
    database = SqliteDatabase(draft)
    try:
        await database.prepare()
        await bring_up_to_date(database)
        async with database.transaction("alone") as connection:
            yield connection
    finally:
        await database.close()


def _finish(draft: Path, target: Path) -> None:
    """Out of WAL mode, so that the backup is one file that can be read from anywhere; then onto the disk."""
    with closing(sqlite3.connect(draft, isolation_level=None)) as copy:
        copy.execute("PRAGMA journal_mode=DELETE").fetchone()
        copy.execute(f"DROP TABLE IF EXISTS {CHECKSUM_TABLE}")
        total = checksum(copy)
        copy.execute(f"CREATE TABLE {CHECKSUM_TABLE} (sha256 TEXT NOT NULL)")
        copy.execute(f"INSERT INTO {CHECKSUM_TABLE} VALUES (?)", (total,))
    draft.chmod(0o600)
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.replace(target)


def _refuse_place(database: Database, target: Path) -> None:
    """A backup takes the place of the file that is there: of a device it would take it from the whole machine, and a
    server whose database it took would go on in a file that nobody finds."""
    if target.exists() and not target.is_file():
        raise StoreError(f"The backup {target} cannot be written: it is there and no file. Choose another place.")
    if database.engine == "sqlite" and target.resolve() == Path(database.place).resolve():
        raise StoreError(f"The backup cannot be written into the store itself, {target}. Choose another place.")


def _make_room(draft: Path) -> None:
    if not draft.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {draft.parent}")
    _discard(draft)


def _discard(draft: Path) -> None:
    for leftover in ("", "-wal", "-shm", "-journal"):
        with suppress(OSError):
            draft.with_name(draft.name + leftover).unlink()


def checksum(backup: sqlite3.Connection) -> str:
    """A sum over every row of every table. Rows are added up, because no order of them can be relied on."""
    total = 0
    # Text as bytes: what was damaged may be no text any more.
    backup.text_factory = bytes
    names = [name.decode("utf-8", "replace") for (name,) in backup.execute(_TABLES)]
    for name in names:
        for row in backup.execute(f'SELECT * FROM "{name}"'):
            total += int.from_bytes(hashlib.sha256(_row_bytes(name, row)).digest())
    return f"{total % 2**256:064x}"


_TABLES: Final = (
    f"SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%' AND name != '{CHECKSUM_TABLE}'"
)


def _row_bytes(table: str, row: tuple[Any, ...]) -> bytes:
    parts = [table.encode(), *(part if isinstance(part, bytes) else repr(part).encode() for part in row)]
    return b"".join(len(part).to_bytes(8) + part for part in parts)


def kept_checksum(backup: sqlite3.Connection) -> str | None:
    """The sum that was written with a backup; older versions wrote none."""
    if backup.execute("SELECT 1 FROM sqlite_master WHERE name=?", (CHECKSUM_TABLE,)).fetchone() is None:
        return None
    row = backup.execute(f"SELECT sha256 FROM {CHECKSUM_TABLE}").fetchone()
    return "" if row is None else str(row[0])


async def copy_rows(table: Table, origin: Connection, copy: Connection) -> None:
    """Copies a table, a few rows at a time."""
    async for rows in batches(table, origin):
        await copy.execute(insert(table), rows)


async def batches(table: Table, origin: Readable) -> AsyncIterator[list[dict[str, Any]]]:
    """The rows of a table in the order of its key; one at a time where a row may be as large as an archive."""
    key = list(table.primary_key.columns)
    size = 1 if any(isinstance(column.type, LargeBinary) for column in table.columns) else 200
    query = select(table).order_by(*key).limit(size)
    rows = _typed(table, await origin.execute(query))
    while rows:
        yield rows
        last = tuple_(*(literal(rows[-1][column.name], column.type) for column in key))
        rows = _typed(table, await origin.execute(query.where(tuple_(*key) > last)))


def _typed(table: Table, rows: Rows) -> list[dict[str, Any]]:
    """Rows as every engine takes them: SQLite gives booleans as numbers, which Postgres refuses."""
    flags = [column.name for column in table.columns if isinstance(column.type, Boolean)]
    found = [row._asdict() for row in rows]
    return [{**row, **{name: bool(row[name]) for name in flags}} for row in found] if flags else found
