"""Postgres: a schema named `fabula` in the database that the operator names."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from sqlalchemy import URL, Connection, event, make_url, text
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.util import immutabledict

from fabula.adapters.stores.database import PATIENCE_S, Database
from fabula.ports.errors import StoreError

WRITERS_LOCK = 0x6661_6275_6C61
"""The advisory lock that ordinary writers share. Whoever changes everything at once (a migration, a restore) holds it
alone: it waits for the writers that are at work, and those that come later wait for it."""

_DEADLOCK, _NOT_SERIALIZABLE = "40P01", "40001"


def postgres_database(address: str, *, pool_size: int) -> Database:
    """The database at a `postgresql://` address, reached over at most `pool_size` connections."""
    url = _url(address)
    place = url._replace(drivername="postgresql", password=None, query=immutabledict()).render_as_string()
    options = _options(url)
    pool = _engine(url, options, size=pool_size)
    # Engines of their own, so that each can begin as it needs to; the connections are the pool's.
    writer, alone = pool.execution_options(), pool.execution_options()
    event.listen(writer.sync_engine, "begin", _share_lock)
    event.listen(alone.sync_engine, "begin", _take_lock)
    snapshot = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    return Database(
        engine="postgres",
        place=place,
        writer=writer,
        alone=alone,
        reader=pool.execution_options(**snapshot),
        prepare=partial(_make_schema, alone),
        sentence=partial(sentence, place),
        hurried=_hurried,
        is_write_conflict=_is_write_conflict,
    )


def _url(address: str) -> URL:
    try:
        url = make_url(address)
    except ArgumentError:
        url = None
    if url is None or url.drivername.split("+")[0] not in ("postgresql", "postgres"):
        raise StoreError("The setting database_url must look like postgresql://user:password@host:5432/name.")
    return url.set(drivername="postgresql+asyncpg")


def _options(url: URL) -> dict[str, Any]:
    """How to connect. `sslmode` is how every other program spells what the driver calls `ssl`."""
    options: dict[str, Any] = {
        "server_settings": {
            "search_path": "fabula,public",
            "lock_timeout": f"{PATIENCE_S:.0f}s",
            "application_name": "fabula",
        }
    }
    if mode := url.query.get("sslmode"):
        options["ssl"] = mode
    return options


def _engine(url: URL, options: dict[str, Any], *, size: int) -> AsyncEngine:
    try:
        return create_async_engine(
            url.difference_update_query(["sslmode"]),
            connect_args=options,
            pool_size=size,
            max_overflow=0,
            pool_timeout=PATIENCE_S,
            pool_pre_ping=True,
        )
    except ModuleNotFoundError as error:
        raise StoreError("Postgres needs a driver. Install it with `pip install 'fabula[scaled]'`.") from error


def _share_lock(connection: Connection) -> None:
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock_shared({WRITERS_LOCK})")


def _take_lock(connection: Connection) -> None:
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})")


def _is_write_conflict(error: BaseException) -> bool:
    return getattr(error, "sqlstate", None) in (_DEADLOCK, _NOT_SERIALIZABLE)


@asynccontextmanager
async def _hurried(connection: AsyncConnection) -> AsyncIterator[None]:
    async with connection.begin():
        await connection.exec_driver_sql("SET LOCAL synchronous_commit TO off")
        yield


async def _make_schema(writer: AsyncEngine) -> None:
    async with writer.begin() as connection:
        if (await connection.execute(text("SELECT to_regnamespace('fabula')"))).scalar() is None:
            await connection.execute(text("CREATE SCHEMA fabula"))


def sentence(place: str, error: BaseException) -> str:
    """What went wrong with the database, and what to do."""
    said = str(error).split(":", 1)[-1].strip() or type(error).__name__
    if isinstance(error, OSError):
        return f"Postgres does not answer at {place}. Start it, or correct the setting database_url."
    if "lock timeout" in said:
        return f"Another process has been writing to {place} for too long. Try again in a moment."
    return f"The database {place} cannot do this: {said}."
