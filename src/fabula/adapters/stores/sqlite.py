"""SQLite: one file in the data folder, in WAL mode; a commit that returned is on the disk."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from fabula.adapters.stores.database import PATIENCE_S, Database
from fabula.adapters.stores.single_hop_sqlite import SingleHopConnection, connect_single_hop
from fabula.ports.errors import StoreError

_ALWAYS = ("PRAGMA foreign_keys=ON", "PRAGMA synchronous=FULL", "PRAGMA temp_store=MEMORY")


def sqlite_database(file: Path) -> Database:
    """The database in a file, which `prepare` makes when it is missing."""
    # IMMEDIATE takes the write lock at the start, so that a unit never fails half-way because another came first.
    writer = _engine(file, begin="BEGIN IMMEDIATE", pragmas=_ALWAYS, size=1, more=0)
    return Database(
        engine="sqlite",
        place=str(file),
        writer=writer,
        alone=writer,
        reader=_engine(file, begin="BEGIN", pragmas=(*_ALWAYS, "PRAGMA query_only=ON"), size=4, more=12),
        prepare=partial(asyncio.to_thread, _prepare, file),
        sentence=partial(sentence, file),
    )


def _engine(file: Path, *, begin: str, pragmas: tuple[str, ...], size: int, more: int) -> AsyncEngine:
    engine = create_async_engine(
        URL.create("sqlite+aiosqlite", database=str(file)),
        # Without an isolation level the driver starts no transactions of its own: ours begin as `begin` says.
        connect_args={
            "isolation_level": None,
            "timeout": PATIENCE_S,
            "async_creator_fn": partial(connect_single_hop, begin),
        },
        pool_size=size,
        max_overflow=more,
        pool_timeout=PATIENCE_S,
    )

    def connected(connection: Any, _: Any) -> None:
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(pragma)
        cursor.close()

    def begun(connection: Connection) -> None:
        driver = connection.connection.driver_connection
        assert isinstance(driver, SingleHopConnection)
        # Work in one go may have begun already, without the engine.
        if not driver.in_thread().in_transaction:
            connection.exec_driver_sql(begin)

    event.listen(engine.sync_engine, "connect", connected)
    event.listen(engine.sync_engine, "begin", begun)
    return engine


def _prepare(file: Path) -> None:
    """Makes the folder and the file, and turns on WAL, which the file then remembers."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(sqlite3.connect(file, timeout=PATIENCE_S, isolation_level=None)) as connection:
            _refuse_strangers(connection, file)
            _turn_on_wal(connection)
        _remove_old_checkpoints(file.parent)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(sentence(file, error)) from error


def _remove_old_checkpoints(folder: Path) -> None:
    """Older versions kept where loops stand in a file of its own, which nobody reads any more."""
    for name in ("loops.db", "loops.db-wal", "loops.db-shm"):
        (folder / name).unlink(missing_ok=True)


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


def sentence(file: Path, error: BaseException) -> str:
    """What went wrong with the file, and what to do."""
    said = str(error)
    if "not a database" in said or "malformed" in said:
        return f"The database {file} is damaged. Move it away and run `fabula restore` with a backup."
    if "readonly" in said:
        return f"The database {file} may not be written. Make it and its folder writable for this user."
    if "unable to open" in said or isinstance(error, OSError):
        return f"The data folder {file.parent} cannot be used: {_reason(error)}. Make it writable, or choose another."
    if "locked" in said or "busy" in said:
        return f"Another process has been writing to {file} for too long. Try again in a moment."
    if "full" in said:
        return f"The disk of {file} is full. Free some space, then try again."
    return f"The database {file} cannot do this: {said}."


def _reason(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
