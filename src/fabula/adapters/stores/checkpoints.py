"""Checkpoints of loops, kept in the store by a saver of ours.

A checkpoint is no truth: it only says where to go on. So it is written without waiting for the disk; what was lost is
done again, and finished model calls are answered from the memo.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.adapters.stores.loop_saver import LoopSaver
    from fabula.adapters.stores.store import SqlStore


class StoreCheckpoints:
    """Makes its saver when it is first asked for: importing LangGraph takes a second that not every command needs."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._opening = asyncio.Lock()
        self._saver: LoopSaver | None = None

    async def saver(self) -> LoopSaver:
        async with self._opening:
            if self._saver is None:
                saver_class = await asyncio.to_thread(_import_saver)
                self._saver = saver_class(self._store)
            return self._saver

    def expect_new(self, thread_id: str) -> None:
        if self._saver is not None:
            self._saver.expect_new(thread_id)

    async def forget(self, thread_id: str) -> None:
        await (await self.saver()).adelete_thread(thread_id)

    async def threads(self) -> set[str]:
        return await (await self.saver()).threads()

    async def close(self) -> None:
        if self._saver is not None:
            await self._saver.settle()


def _import_saver() -> type[LoopSaver]:
    from fabula.adapters.stores.loop_saver import LoopSaver

    return LoopSaver
