"""Revisions of the database: which one it has, and the way to the newest.

Alembic is imported only when there is a step to make: an up-to-date database opens without it, and an empty one of
SQLite gets the newest tables from a file, because all the steps to them take a third of a second.
"""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from fabula.adapters.stores.database import Database
from fabula.adapters.stores.index_tables import index_missing
from fabula.adapters.stores.migrations import REVISION_TABLE, REVISIONS
from fabula.ports.errors import StoreError

FOLDER = Path(__file__).parent / "migrations"
NEWEST_SQLITE = FOLDER / "newest_sqlite.sql"
"""The tables of SQLite after all steps; `python -m tests.newest_tables` writes it, and a test holds it to the steps."""
REVISION = text(f"SELECT version_num FROM {REVISION_TABLE}")


async def bring_up_to_date(database: Database) -> None:
    """Steps to the newest revision, all in one transaction: a crash leaves the old revision whole.

    The lock of mode `alone` keeps two processes from stepping at once; the second then finds nothing to do.
    """
    if not _is_current(await revision_of(database), database.place):
        await database.with_sqlalchemy(partial(upgrade, place=database.place))


async def revision_of(database: Database) -> str | None:
    """The revision of the database, or None when it is new."""
    async with database.transaction("read") as connection:
        if not await database.has_table(connection, REVISION_TABLE):
            return None
        revision: str | None = (await connection.execute(REVISION)).scalar()
        return revision


def _is_current(found: str | None, place: str) -> bool:
    if found is not None and found not in REVISIONS:
        raise StoreError(
            f"The database {place} was written by a newer version of Fabula (revision {found}). "
            "Install that version, or choose another data folder."
        )
    return found == REVISIONS[-1]


def upgrade(connection: Connection, *, place: str, to: str = "head") -> None:
    """Steps to a revision, or to the newest at once. Does nothing where another process was faster."""
    there = inspect(connection).get_table_names()
    found = connection.execute(REVISION).scalar() if REVISION_TABLE in there else None
    if _is_current(found, place):
        return
    if to == "head" and connection.dialect.name == "sqlite" and not there:
        _make_newest(connection)
    else:
        _step(connection, to)
        # Not in a revision, which never changes: what things are found by is decided by the code of today.
        index_missing(connection)


def _make_newest(connection: Connection) -> None:
    for statement in NEWEST_SQLITE.read_text(encoding="utf-8").split(";\n"):
        if statement.strip():
            connection.exec_driver_sql(statement)
    connection.exec_driver_sql(f"INSERT INTO {REVISION_TABLE} (version_num) VALUES (?)", (REVISIONS[-1],))


def _step(connection: Connection, to: str) -> None:
    from alembic import command
    from alembic.config import Config

    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, to)
