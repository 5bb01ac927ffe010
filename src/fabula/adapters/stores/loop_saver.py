"""LangGraph's saver on the store's own connections: the loops of fifty sessions share a few transactions.

A checkpoint is written a moment after it was put, so that steps of many plays share a transaction, a later step of the
same loop replaces an earlier one, and a turn that is over by then leaves nothing to write. A process that is killed in
that moment does a step again; finished model calls are answered from the memo.

Imported late, as everything of LangGraph.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)

from fabula.adapters.group_commit import DelayedBatch
from fabula.adapters.stores.loop_checkpoints import LoopCheckpoint
from fabula.adapters.stores.plain_checkpoints import PlainSerializer, read_checkpoint, read_metadata
from fabula.adapters.stores.unit import SqlUnit
from fabula.ports.errors import StoreError

if TYPE_CHECKING:
    from fabula.adapters.stores.store import SqlStore

log = logging.getLogger("fabula.loops")

WRITTEN_AFTER_S = 0.1


@dataclass(frozen=True, kw_only=True)
class _Put:
    """A checkpoint that is not written yet."""

    thread_id: str
    config: RunnableConfig
    checkpoint: Checkpoint
    metadata: CheckpointMetadata


@dataclass(frozen=True, kw_only=True)
class _Removal:
    """A thread whose checkpoints are not wanted any more."""

    thread_id: str


class LoopSaver(BaseCheckpointSaver[int]):
    """Keeps the newest checkpoint of each thread. What was put is read back, after a crash up to the last commit."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__(serde=PlainSerializer())
        self._store = store
        self._changes: DelayedBatch[_Put | _Removal] = DelayedBatch(self._write, after_s=WRITTEN_AFTER_S)
        self._in_order = asyncio.Lock()
        self._new_threads: set[str] = set()
        self._never_written: set[str] = set()

    def expect_new(self, thread_id: str) -> None:
        """Says that a thread cannot have checkpoints yet, so that none are looked for when it starts."""
        self._new_threads.add(thread_id)
        self._never_written.add(thread_id)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> LoopSaver:
        """This saver: whatever types a graph would have read, it reads plain values."""
        return self

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        place = config["configurable"]
        thread_id, namespace = str(place["thread_id"]), str(place.get("checkpoint_ns", ""))
        if thread_id in self._new_threads:
            self._new_threads.discard(thread_id)
            return None
        await self.settle()
        found = await self._store.read(lambda unit: unit.loop_checkpoints.get(thread_id, namespace))
        if found is None or get_checkpoint_id(config) not in (None, found.checkpoint_id):
            return None
        return self._tuple(found)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """The newest checkpoint of each thread; of older ones there are none, so nothing is ever `before` another."""
        await self.settle()
        asked = None if config is None else str(config["configurable"]["thread_id"])
        for found in (await self._store.read(lambda unit: unit.loop_checkpoints.every()))[:limit]:
            if before is None and asked in (None, found.thread_id) and (one := self._tuple(found)) is not None:
                yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keeps what a step led to. What a loop sets out with can be had again by setting out again."""
        place = config["configurable"]
        thread_id, namespace = str(place["thread_id"]), place["checkpoint_ns"]
        if metadata.get("source") != "input":
            self._changes.put(_Put(thread_id=thread_id, config=config, checkpoint=checkpoint, metadata=metadata))
        return {"configurable": {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keeps nothing: what a task wrote stands in the checkpoint that follows it at once.

        Our loops have one task at a time and never interrupt themselves, so there is no other task for which it would
        have to be kept longer; after a crash between the two the task is done again.
        """

    async def adelete_thread(self, thread_id: str) -> None:
        """Forgets a thread; its row goes a moment later, if it ever had one."""
        all_dropped = self._changes.drop(lambda change: change.thread_id == thread_id)
        without_row = all_dropped and thread_id in self._never_written
        self._new_threads.discard(thread_id)
        self._never_written.discard(thread_id)
        if not without_row:
            self._changes.put(_Removal(thread_id=thread_id))

    async def threads(self) -> set[str]:
        await self.settle()
        return await self._store.read(lambda unit: unit.loop_checkpoints.threads())

    async def settle(self) -> None:
        """Returns when everything that was put is written."""
        await self._changes.settle()

    async def _write(self, changes: list[_Put | _Removal]) -> None:
        newest: dict[tuple[str, str], _Put] = {}
        for change in changes:
            if isinstance(change, _Put):
                self._never_written.discard(change.thread_id)
                newest[change.thread_id, str(change.config["configurable"]["checkpoint_ns"])] = change
        # A removal stands behind the steps of its thread that it made superfluous: those were dropped with it.
        removed = sorted({change.thread_id for change in changes if isinstance(change, _Removal)})
        put = [row for key in sorted(newest) if (row := self._row(newest[key])) is not None]

        async def write(unit: SqlUnit) -> None:
            await unit.loop_checkpoints.change(removed=removed, put=put)

        try:
            # One after the other: a checkpoint that came later must not be replaced by an earlier one.
            async with self._in_order:
                await self._store.write(write, durable=False)
        except StoreError as error:
            log.warning("Where a loop stands could not be written down: %s", error.message)

    def _row(self, put: _Put) -> LoopCheckpoint | None:
        """A checkpoint as it is stored, or None where it cannot be packed: the others of its batch are written."""
        try:
            encoding, packed = self.serde.dumps_typed(put.checkpoint)
            metadata = json.dumps(get_checkpoint_metadata(put.config, put.metadata))
        except (TypeError, ValueError, RecursionError) as error:
            log.warning("Where the loop %r stands could not be written down: %s", put.thread_id, error)
            return None
        return LoopCheckpoint(
            thread_id=put.thread_id,
            namespace=str(put.config["configurable"]["checkpoint_ns"]),
            checkpoint_id=put.checkpoint["id"],
            encoding=encoding,
            checkpoint=packed,
            metadata=metadata,
        )

    def _tuple(self, found: LoopCheckpoint) -> CheckpointTuple | None:
        """The checkpoint, or None where the row holds none: then the loop starts anew, as one whose row was lost."""
        place = {
            "thread_id": found.thread_id,
            "checkpoint_ns": found.namespace,
            "checkpoint_id": found.checkpoint_id,
        }
        try:
            checkpoint = read_checkpoint(self.serde.loads_typed((found.encoding, found.checkpoint)))
            metadata = read_metadata(found.metadata)
        except (ValueError, RecursionError) as error:
            log.warning("Where the loop %r stands cannot be read, so it starts anew: %s", found.thread_id, error)
            return None
        return CheckpointTuple({"configurable": place}, checkpoint, metadata, None, [])
