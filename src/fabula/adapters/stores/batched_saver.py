"""LangGraph's SQLite saver with its writes in batches: the loops of fifty sessions share a few transactions.

The saver's own tables and reading code are used as they are; only how rows get there differs. Imported late, as
everything of LangGraph.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from fabula.adapters.batches import Batches

_CHECKPOINT = (
    "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, "
    "checkpoint, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_WRITES = (
    "INSERT OR REPLACE INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, "
    "value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_FORGET = ("DELETE FROM checkpoints WHERE thread_id = ?", "DELETE FROM writes WHERE thread_id = ?")

Rows = tuple[str, list[tuple[Any, ...]]]


class BatchedSqliteSaver(AsyncSqliteSaver):
    """Keeps the saver's promises: what was put is read back, in order, after a crash up to the last commit."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        super().__init__(connection)
        self._batches: Batches[list[Rows]] = Batches(self._write)
        self._new_threads: set[str] = set()

    def expect_new(self, thread_id: str) -> None:
        """Says that a thread cannot have checkpoints yet, so that none are looked for when it starts."""
        self._new_threads.add(thread_id)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id = config["configurable"]["thread_id"]
        if thread_id in self._new_threads:
            self._new_threads.discard(thread_id)
            return None
        return await super().aget_tuple(config)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        place = config["configurable"]
        thread_id, namespace = str(place["thread_id"]), place["checkpoint_ns"]
        type_, packed = self.serde.dumps_typed(checkpoint)
        told = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False).encode("utf-8", "ignore")
        row = (thread_id, namespace, checkpoint["id"], place.get("checkpoint_id"), type_, packed, told)
        await self._batches.add([(_CHECKPOINT, [row])])
        return {"configurable": {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keeps only what is said about a task: an error, an interrupt.

        What a task wrote stands in the checkpoint that follows it at once. Our loops have one task at a time, so there
        is never another for which it would have to be kept longer; after a crash between the two it is done again.
        """
        said = [(channel, value) for channel, value in writes if channel in WRITES_IDX_MAP]
        if not said:
            return
        place = config["configurable"]
        head = (str(place["thread_id"]), str(place["checkpoint_ns"]), str(place["checkpoint_id"]), task_id, task_path)
        rows = [(*head, WRITES_IDX_MAP[channel], channel, *self.serde.dumps_typed(value)) for channel, value in said]
        await self._batches.add([(_WRITES, rows)])

    async def adelete_thread(self, thread_id: str) -> None:
        await self._batches.add([(statement, [(str(thread_id),)]) for statement in _FORGET])

    async def _write(self, batch: list[list[Rows]]) -> None:
        in_thread: Any = self.conn._execute
        async with self.lock:
            await in_thread(self._write_in_thread, batch)

    def _write_in_thread(self, batch: list[list[Rows]]) -> None:
        connection = self.conn._conn
        with connection:
            connection.execute("BEGIN")
            for rows in (rows for item in batch for rows in item):
                connection.executemany(*rows)
