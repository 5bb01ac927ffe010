"""Checkpoints of loops, kept by LangGraph's own savers: in a SQLite file beside the store, or in Postgres.

A checkpoint is no truth: it only says where to go on. So the file need not be synced at every step; what it lost is
done again, and finished model calls are answered from the memo.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

from fabula.settings import Settings

Open = Callable[[AsyncExitStack], Awaitable[Any]]


class LazyCheckpoints:
    """Opens its saver when it is first asked for: importing LangGraph takes a second that not every command needs."""

    def __init__(self, open_saver: Open) -> None:
        self._open_saver = open_saver
        self._opening = asyncio.Lock()
        self._saver: Any = None
        self._opened = AsyncExitStack()

    async def saver(self) -> Any:
        async with self._opening:
            if self._saver is None:
                self._saver = await self._open_saver(self._opened)
            return self._saver

    def expect_new(self, thread_id: str) -> None:
        hint = getattr(self._saver, "expect_new", None)
        if hint is not None:
            hint(thread_id)

    async def forget(self, thread_id: str) -> None:
        await (await self.saver()).adelete_thread(thread_id)

    async def threads(self) -> set[str]:
        saver = await self.saver()
        return {found.config["configurable"]["thread_id"] async for found in saver.alist(None)}

    async def close(self) -> None:
        await self._opened.aclose()


async def _open_sqlite(file: Path, opened: AsyncExitStack) -> Any:
    import aiosqlite

    saver_class = await asyncio.to_thread(_import_sqlite_saver)
    connection = await opened.enter_async_context(aiosqlite.connect(file, isolation_level=None))
    await connection.execute("PRAGMA journal_mode=WAL")
    await connection.execute("PRAGMA synchronous=NORMAL")
    saver = saver_class(connection)
    await saver.setup()
    opened.push_async_callback(saver.settle)
    return saver


def _import_sqlite_saver() -> Any:
    from fabula.adapters.stores.batched_saver import BatchedSqliteSaver

    return BatchedSqliteSaver


async def _open_postgres(address: str, opened: AsyncExitStack) -> Any:
    saver_class, pool_class, row_factory = await asyncio.to_thread(_import_postgres_saver)
    pool = pool_class(
        address,
        min_size=1,
        max_size=4,
        open=False,
        kwargs={
            "autocommit": True,
            "prepare_threshold": 0,
            "row_factory": row_factory,
            "options": "-c search_path=fabula,public",
        },
    )
    await opened.enter_async_context(pool)
    saver = saver_class(pool)
    await saver.setup()
    return saver


def _import_postgres_saver() -> tuple[Any, Any, Any]:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg.rows import dict_row
    from psycopg_pool import AsyncConnectionPool

    return AsyncPostgresSaver, AsyncConnectionPool, dict_row


def open_checkpoints(settings: Settings) -> LazyCheckpoints:
    """The checkpoints that belong to the store of the settings."""
    if settings.database_url:
        address = settings.database_url.replace("postgresql+asyncpg://", "postgresql://")
        return LazyCheckpoints(partial(_open_postgres, address))
    return LazyCheckpoints(partial(_open_sqlite, settings.data_folder / "loops.db"))
