"""Checkpoints of loops, kept by LangGraph's own savers: in a SQLite file beside the store, or in Postgres.

A checkpoint is no truth: it only says where to go on. So the file need not be synced at every step; what it lost is
done again, and finished model calls are answered from the memo.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from fabula.settings import Settings


class SqliteCheckpoints:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._saver: Any = None
        self._open = AsyncExitStack()

    async def open(self) -> None:
        import aiosqlite
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        connection = await self._open.enter_async_context(aiosqlite.connect(self._file))
        await connection.execute("PRAGMA journal_mode=WAL")
        await connection.execute("PRAGMA synchronous=NORMAL")
        self._saver = AsyncSqliteSaver(connection)
        await self._saver.setup()

    @property
    def saver(self) -> Any:
        return self._saver

    async def forget(self, thread_id: str) -> None:
        await self._saver.adelete_thread(thread_id)

    async def close(self) -> None:
        await self._open.aclose()


class PostgresCheckpoints:
    def __init__(self, address: str) -> None:
        self._address = address.replace("postgresql+asyncpg://", "postgresql://")
        self._saver: Any = None
        self._open = AsyncExitStack()

    async def open(self) -> None:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import AsyncConnectionPool

        pool: Any = AsyncConnectionPool(
            self._address,
            min_size=1,
            max_size=4,
            open=False,
            kwargs={
                "autocommit": True,
                "prepare_threshold": 0,
                "row_factory": dict_row,
                "options": "-c search_path=fabula,public",
            },
        )
        await self._open.enter_async_context(pool)
        self._saver = AsyncPostgresSaver(pool)
        await self._saver.setup()

    @property
    def saver(self) -> Any:
        return self._saver

    async def forget(self, thread_id: str) -> None:
        await self._saver.adelete_thread(thread_id)

    async def close(self) -> None:
        await self._open.aclose()


def open_checkpoints(settings: Settings) -> SqliteCheckpoints | PostgresCheckpoints:
    """The checkpoints that belong to the store of the settings; they still want their `open()`."""
    if settings.database_url:
        return PostgresCheckpoints(settings.database_url)
    return SqliteCheckpoints(settings.data_folder / "loops.db")
