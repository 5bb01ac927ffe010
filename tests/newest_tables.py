"""Writes what tables SQLite has after all steps into the package: `python -m tests.newest_tables`."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from functools import partial
from pathlib import Path

from fabula.adapters.stores import sql_store
from fabula.adapters.stores.migrations import REVISIONS
from fabula.adapters.stores.revisions import NEWEST_SQLITE, upgrade
from fabula.settings import Settings
from fabula.testing.world import FixedClock

Made = list[tuple[str, str, str, str | None]]


async def step_by_step(folder: Path) -> Made:
    """What there is in a database after all steps, made one by one."""
    store = sql_store(Settings(data_dir=folder), FixedClock())
    await store.database.prepare()
    await store.database.with_sqlalchemy(partial(upgrade, place=str(folder), to=REVISIONS[-1]))
    await store.close()
    return made_in(folder)


def made_in(folder: Path) -> Made:
    """The tables and indexes in the database of a data folder, in the order in which they were made."""
    connection = sqlite3.connect(folder / "fabula.db")
    try:
        return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    finally:
        connection.close()


def written(made: Made) -> str:
    """The statements that make it; indexes without one come with their tables."""
    return "".join(f"{statement};\n" for *_, statement in made if statement is not None)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        NEWEST_SQLITE.write_text(written(asyncio.run(step_by_step(Path(place)))), encoding="utf-8")
