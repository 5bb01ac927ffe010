"""Revisions of the database: which one it has, and the way to the newest.

Alembic is imported only when there is a step to make: an up-to-date database opens without it.
"""

from __future__ import annotations

import logging
from pathlib import Path

from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import AsyncConnection

from fabula.adapters.stores.database import Database
from fabula.adapters.stores.migrations import REVISION_TABLE, REVISIONS
from fabula.ports.errors import StoreError

FOLDER = Path(__file__).parent / "migrations"


async def bring_up_to_date(database: Database) -> None:
    """Steps to the newest revision, all in one transaction: a crash leaves the old revision whole.

    The lock of `alone` keeps two processes from stepping at once; the second then finds nothing to do.
    """
    async with database.reader.connect() as connection:
        found = await revision_of(connection)
    if _is_current(found, database.place):
        return
    async with database.alone.begin() as connection:
        if not _is_current(await revision_of(connection), database.place):
            await connection.run_sync(_upgrade)


async def revision_of(connection: AsyncConnection) -> str | None:
    """The revision of the database, or None when it is new."""
    if not await connection.run_sync(_has_revision_table):
        return None
    revision: str | None = (await connection.execute(text(f"SELECT version_num FROM {REVISION_TABLE}"))).scalar()
    return revision


def _has_revision_table(connection: Connection) -> bool:
    return inspect(connection).has_table(REVISION_TABLE)


def _is_current(found: str | None, place: str) -> bool:
    if found is not None and found not in REVISIONS:
        raise StoreError(
            f"The database {place} was written by a newer version of Fabula (revision {found}). "
            "Install that version, or choose another data folder."
        )
    return found == REVISIONS[-1]


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
