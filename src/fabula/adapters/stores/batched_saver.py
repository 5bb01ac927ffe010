"""LangGraph's SQLite saver with its writes in batches: the loops of fifty sessions share a few transactions.

A checkpoint is written a moment after it was put, so that steps which follow one another quickly share a transaction,
and a turn that is over by then leaves nothing to write. A process that is killed in that moment does a step again.

The saver's own tables and reading code are used as they are; only how rows get there differs. Imported late, as
everything of LangGraph.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
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

from fabula.adapters.group_commit import DelayedBatch, GroupCommit

log = logging.getLogger("fabula.loops")

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


@dataclass(frozen=True, kw_only=True)
class _Put:
    """A checkpoint that is not written yet."""

    thread_id: str
    config: RunnableConfig
    checkpoint: Checkpoint
    metadata: CheckpointMetadata


class BatchedSqliteSaver(AsyncSqliteSaver):
    """Keeps the saver's promises: what was put is read back, in order, after a crash up to the last commit."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        super().__init__(connection)
        self._batches: GroupCommit[list[Rows]] = GroupCommit(self._write)
        self._checkpoints: DelayedBatch[_Put] = DelayedBatch(self._keep)
        self._new_threads: set[str] = set()
        self._never_written: set[str] = set()

    def expect_new(self, thread_id: str) -> None:
        """Says that a thread cannot have checkpoints yet, so that none are looked for when it starts."""
        self._new_threads.add(thread_id)
        self._never_written.add(thread_id)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id = config["configurable"]["thread_id"]
        if thread_id in self._new_threads:
            self._new_threads.discard(thread_id)
            return None
        await self.settle()
        return await super().aget_tuple(config)

    async def alist(self, *args: Any, **kwargs: Any) -> AsyncIterator[CheckpointTuple]:
        await self.settle()
        async for found in super().alist(*args, **kwargs):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        place = config["configurable"]
        thread_id, namespace = str(place["thread_id"]), place["checkpoint_ns"]
        self._checkpoints.put(_Put(thread_id=thread_id, config=config, checkpoint=checkpoint, metadata=metadata))
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
        self._never_written.discard(head[0])
        await self._batches.add([(_WRITES, rows)])

    async def adelete_thread(self, thread_id: str) -> None:
        await self._checkpoints.drop(lambda put: put.thread_id == thread_id)
        if thread_id in self._never_written:
            self._never_written.discard(thread_id)
            return
        await self._batches.add([(statement, [(thread_id,)]) for statement in _FORGET])

    async def settle(self) -> None:
        """Returns when everything that was put is written."""
        await self._checkpoints.settle()

    async def _keep(self, puts: list[_Put]) -> None:
        self._never_written.difference_update(put.thread_id for put in puts)
        try:
            await self._batches.add([(_CHECKPOINT, [self._row(put) for put in puts])])
        except sqlite3.Error as error:
            log.warning("Where a loop stands could not be written down: %s", error)

    def _row(self, put: _Put) -> tuple[Any, ...]:
        place, checkpoint = put.config["configurable"], put.checkpoint
        type_, packed = self.serde.dumps_typed(checkpoint)
        told = json.dumps(get_checkpoint_metadata(put.config, put.metadata), ensure_ascii=False)
        head = (put.thread_id, place["checkpoint_ns"], checkpoint["id"], place.get("checkpoint_id"))
        return (*head, type_, packed, told.encode("utf-8", "ignore"))

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
