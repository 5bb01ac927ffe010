"""Restoring: the content of a backup takes the place of everything in the store, in one unit of work.

1. Check the file: whole, unchanged since it was written, one of ours, not from a newer version. An older one is
   brought up to date in a copy.
2. Replace all rows inside one write transaction; servers that run on the same store go on, and see the new content
   at their next read.
3. Compare what now stands in the store with the backup, row by row; a difference rolls everything back.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Executable, Float, Table, delete, func, insert, select, text

from fabula.adapters.stores.backup import batches, checksum, kept_checksum
from fabula.adapters.stores.computed_parts import computed_part
from fabula.adapters.stores.migrations import REVISION_TABLE, REVISIONS
from fabula.adapters.stores.resources import RESOURCES
from fabula.adapters.stores.revisions import bring_up_to_date
from fabula.adapters.stores.secrets import SECRETS
from fabula.adapters.stores.sql import Connection, Rows, Values
from fabula.adapters.stores.sqlite import SqliteDatabase
from fabula.adapters.stores.store import SqlStore
from fabula.adapters.stores.tables import METADATA
from fabula.ports.errors import StoreError

SHORTEST_LIMIT = 1_000_000
"""So many bytes a value may have in a file of any length: what is asked of SQLite is text, too."""

Progress = Callable[[str, int, int], None]
"""Told after each step: what was done, how many steps are done, how many there are."""


@dataclass(frozen=True, kw_only=True)
class BackupContent:
    """What a whole backup holds: its revision, and how many resources of each kind.

    `has_checksum` is false for one of an older version: nobody can tell whether it was changed since.
    """

    revision: str
    kinds: Mapping[str, int]
    has_checksum: bool


@dataclass(frozen=True, kw_only=True)
class Restored:
    """What a restore brought back. `locked_secrets` were encrypted with another key and must be entered again."""

    revision: str
    kinds: Mapping[str, int]
    tables: Mapping[str, int]
    locked_secrets: tuple[str, ...]
    has_checksum: bool


async def restore(store: SqlStore, file: Path, *, largest: int, progress: Progress) -> Restored:
    """Puts the content of a backup in place of everything in an open store; raises StoreError and changes nothing."""
    tables = METADATA.sorted_tables
    steps = 2 * len(tables) + 1
    content = await asyncio.to_thread(check_backup, file)
    progress("checked the file", 1, steps)
    async with _backup_at_newest_revision(file, largest) as origin, store.lone_transaction() as target:
        await _empty(target)
        for done, table in enumerate(tables, 2):
            await _restore_rows(table, origin, target)
            progress(f"restored {table.name}", done, steps)
        await _count_on(store, target)
        await _analyse(store, target)
        counts: dict[str, int] = {}
        for done, table in enumerate(tables, 2 + len(tables)):
            counts[str(table.name)] = await _compare(table, origin, target)
            progress(f"compared {table.name}", done, steps)
        return Restored(
            revision=content.revision,
            kinds=await _count_kinds(target),
            tables=counts,
            locked_secrets=await _locked_secrets(store, target),
            has_checksum=content.has_checksum,
        )


def check_backup(file: Path) -> BackupContent:
    """What a backup holds, read without touching it; raises StoreError for one that may not be restored."""
    if not file.is_file():
        raise StoreError(f"There is no backup {file}. Check the path.")
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as backup:
            # No value in a file is longer than the file, so none that is worked out may be.
            backup.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(SHORTEST_LIMIT, file.stat().st_size))
            _refuse_what_computes(backup, file)
            revision = _revision(backup, file)
            # Before any rows are read: of damaged pages there may be no end.
            _refuse_damage([row[0] for row in backup.execute("PRAGMA integrity_check(3)")] != ["ok"], file)
            dangling = backup.execute("PRAGMA foreign_key_check").fetchall()
            kinds = dict(backup.execute("SELECT kind, count(*) FROM resources GROUP BY kind ORDER BY kind"))
            kept = kept_checksum(backup)
            unchanged = kept is None or checksum(backup) == kept
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        raise StoreError(f"The backup {file} cannot be read: {error}. Take another one.") from error
    _refuse_damage(bool(dangling), file)
    if not unchanged:
        raise StoreError(
            f"The backup {file} was changed after it was written: its checksum differs. Take another one; "
            "nothing was changed."
        )
    return BackupContent(revision=revision, kinds=kinds, has_checksum=kept is not None)


def _refuse_damage(is_damaged: bool, file: Path) -> None:
    if is_damaged:
        raise StoreError(f"The backup {file} is damaged. Take another one; nothing was changed.")


def _refuse_what_computes(backup: sqlite3.Connection, file: Path) -> None:
    """It would run while the file is read and brought up to date, perhaps without end."""
    if (part := computed_part(backup)) is not None:
        raise StoreError(
            f"The backup {file} has something that is worked out while it is read, the {part}, "
            "as Fabula never makes. Nothing was changed."
        )


def _revision(backup: sqlite3.Connection, file: Path) -> str:
    parts = backup.execute("SELECT type, name FROM sqlite_master").fetchall()
    if ("table", REVISION_TABLE) not in parts:
        raise StoreError(f"The file {file} is no backup of Fabula. Nothing was changed.")
    row = backup.execute(f"SELECT version_num FROM {REVISION_TABLE}").fetchone()
    revision = "none" if row is None else str(row[0])
    if revision not in REVISIONS:
        raise StoreError(
            f"The backup {file} was written by a newer version of Fabula (revision {revision}). Install that version."
        )
    return revision


@asynccontextmanager
async def _backup_at_newest_revision(file: Path, largest: int) -> AsyncIterator[BackupRows]:
    """A reading connection to a copy of the backup, so that the file itself is never touched."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="fabula-restore-"))
    database = SqliteDatabase(folder / "backup.db", mends=False, largest=largest)
    try:
        try:
            await asyncio.to_thread(shutil.copyfile, file, folder / "backup.db")
            await database.prepare()
            await bring_up_to_date(database)
        except (OSError, StoreError) as error:
            why = error.__cause__ or error
            raise StoreError(
                f"The backup {file} cannot be brought up to date in a copy: {why}. "
                "Take another one; nothing was changed."
            ) from error
        async with database.transaction("read") as connection:
            yield BackupRows(connection, file)
    finally:
        await database.close()
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


class BackupRows:
    """The rows of a backup. What is wrong with one is said of the backup, and not of the store that it goes into."""

    def __init__(self, connection: Connection, file: Path) -> None:
        self._connection, self._file = connection, file

    async def execute(self, statement: Executable, values: Values | Sequence[Values] | None = None) -> Rows:
        try:
            return await self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise StoreError(
                f"The backup {self._file} cannot be read: {error}. Take another one; nothing was changed."
            ) from error


async def _restore_rows(table: Table, origin: BackupRows, target: Connection) -> None:
    async for rows in batches(table, origin):
        _refuse_odd(table, rows)
        await target.execute(insert(table), rows)


def _refuse_odd(table: Table, rows: list[dict[str, Any]]) -> None:
    """A SQLite file keeps anything in any column. Nobody reads a text where a number is written."""
    for column in table.columns:
        wanted = (float, int) if isinstance(column.type, Float) else (column.type.python_type,)
        if any(row[column.name] is not None and type(row[column.name]) not in wanted for row in rows):
            raise StoreError(
                f"The backup has values of a wrong type as '{column.name}' in '{table.name}', which Fabula never "
                "writes. Take another one; nothing was changed."
            )


async def _empty(target: Connection) -> None:
    for table in reversed(METADATA.sorted_tables):
        await target.execute(delete(table))


async def _count_on(store: SqlStore, target: Connection) -> None:
    """Postgres goes on counting rows where the backup ended; SQLite does so by itself."""
    if store.database.engine != "postgres":
        return
    for table in METADATA.sorted_tables:
        if (column := table.autoincrement_column) is not None:
            last = (await target.execute(select(func.max(column)))).scalar() or 0
            names = {"table": table.name, "column": column.name, "next": last + 1}
            await target.execute(text("SELECT setval(pg_get_serial_sequence(:table, :column), :next, false)"), names)


async def _analyse(store: SqlStore, target: Connection) -> None:
    """Postgres plans by statistics, which it would make of all these rows only after a while."""
    if store.database.engine == "postgres":
        for table in METADATA.sorted_tables:
            await target.execute(text(f'ANALYZE "{table.name}"'))


async def _compare(table: Table, origin: BackupRows, target: Connection) -> int:
    """How many rows both hold; raises StoreError, which rolls back, when they are not the same."""
    wanted, found = await _fingerprint(table, origin), await _fingerprint(table, target)
    if wanted != found:
        raise StoreError(
            f"What was restored differs from the backup in '{table.name}'. Nothing was changed; try again."
        )
    return wanted[0]


async def _fingerprint(table: Table, connection: BackupRows | Connection) -> tuple[int, str]:
    count, digest = 0, hashlib.sha256()
    async for rows in batches(table, connection):
        count += len(rows)
        for row in rows:
            digest.update(_canonical(row))
    return count, digest.hexdigest()


def _canonical(row: dict[str, Any]) -> bytes:
    parts = [part if isinstance(part, bytes) else repr(part).encode() for part in row.values()]
    return b"".join(len(part).to_bytes(8) + part for part in parts)


async def _count_kinds(target: Connection) -> dict[str, int]:
    query = select(RESOURCES.c.kind, func.count().label("total")).group_by(RESOURCES.c.kind).order_by(RESOURCES.c.kind)
    return {row.kind: row.total for row in await target.execute(query)}


async def _locked_secrets(store: SqlStore, target: Connection) -> tuple[str, ...]:
    key = await store.keyring.find()
    query = select(SECRETS.c.name).where(SECRETS.c.key_id != (key.id if key else "")).order_by(SECRETS.c.name)
    return tuple((await target.execute(query)).scalars())
