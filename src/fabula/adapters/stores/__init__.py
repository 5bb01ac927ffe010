"""The store on SQL: SQLite embedded, Postgres when scaled, one code path for both.

Each subject of a unit of work is one module with its tables, its named queries and its class. A new subject is
1. a module like `memo.py`, 2. a line in `unit.py`, 3. a revision in `migrations/versions/`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.ports.store import Store
from fabula.ports.world import Clock
from fabula.settings import Settings

if TYPE_CHECKING:
    from fabula.adapters.stores.restore import Restored
    from fabula.adapters.stores.store import SqlStore

LARGEST_VALUE = 128 * 2**20
LARGEST_OF_SQLITE = 10**9
"""SQLite keeps nothing that is larger."""


def open_store(settings: Settings, clock: Clock) -> Store:
    """The store that the settings name; it still wants its `open()`."""
    return sql_store(settings, clock)


def sql_store(settings: Settings, clock: Clock) -> SqlStore:
    """As `open_store`, for those who also back up and restore."""
    # Imported here because SQLAlchemy takes half a second, which a command that needs no store should not pay.
    from fabula.adapters.stores.keys import Keyring
    from fabula.adapters.stores.store import SqlStore

    keyring = Keyring(passphrase=settings.secret_key, file=settings.data_folder / "secret.key")
    if settings.database_url:
        from fabula.adapters.stores.postgres import PostgresDatabase

        return SqlStore(PostgresDatabase(settings.database_url, pool_size=settings.database_pool_size), clock, keyring)
    from fabula.adapters.stores.sqlite import SqliteDatabase

    database = SqliteDatabase(settings.data_folder / "fabula.db", largest=_largest_value(settings))
    return SqlStore(database, clock, keyring)


def _largest_value(settings: Settings) -> int:
    """So many bytes a row may have: an archive, with its name and what else stands there, or far more than the rest.

    One that is larger was written by somebody else, and would fill the memory whenever it is read.
    """
    return min(max(LARGEST_VALUE, (settings.max_archive_mib + 1) * 2**20), LARGEST_OF_SQLITE)


async def restore_backup(
    settings: Settings, clock: Clock, file: Path, *, progress: Callable[[str, int, int], None] | None = None
) -> Restored:
    """Replaces everything in the store that the settings name by a backup, also while servers run on it."""
    from fabula.adapters.stores.restore import restore

    store = sql_store(settings, clock)
    await store.open()
    try:
        return await restore(
            store,
            file,
            largest=_largest_value(settings),
            progress=progress or (lambda _what, _done, _of: None),
        )
    finally:
        await store.close()
