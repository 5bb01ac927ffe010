"""Loop checkpoints: where each loop stands. Only the newest is kept: a loop goes on from there or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Column, LargeBinary, PrimaryKeyConstraint, Table, Text, bindparam, delete, select

from fabula.adapters.stores.tables import METADATA, NAME, Access, add_or_replace, spelled

LOOP_CHECKPOINTS = Table(
    "loop_checkpoints",
    METADATA,
    Column("thread_id", NAME, nullable=False),
    Column("namespace", NAME, nullable=False),
    Column("checkpoint_id", NAME, nullable=False),
    Column("encoding", NAME, nullable=False),
    Column("checkpoint", LargeBinary, nullable=False),
    Column("metadata", Text, nullable=False),
    PrimaryKeyConstraint("thread_id", "namespace", name="loop_checkpoints_pk"),
)

_c = LOOP_CHECKPOINTS.c
_of_thread = _c.thread_id == bindparam("thread")

GET = select(LOOP_CHECKPOINTS).where(_of_thread, _c.namespace == bindparam("namespace_is"))
EVERY = select(LOOP_CHECKPOINTS).order_by(_c.thread_id, _c.namespace)
THREADS = select(_c.thread_id).distinct()
PUT = add_or_replace(LOOP_CHECKPOINTS)
REMOVE = delete(LOOP_CHECKPOINTS).where(_of_thread)


@dataclass(frozen=True, kw_only=True)
class LoopCheckpoint:
    """A checkpoint as it is kept: `encoding` says how it is packed (`plain_checkpoints`)."""

    thread_id: str
    namespace: str
    checkpoint_id: str
    encoding: str
    checkpoint: bytes
    metadata: str


class SqlLoopCheckpoints:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection

    async def change(self, *, removed: Sequence[str], put: Sequence[LoopCheckpoint]) -> None:
        """Removes all checkpoints of some threads, then puts those of others."""
        if removed:
            await self._connection.execute(REMOVE, [{"thread": spelled(thread_id)} for thread_id in removed])
        if put:
            await self._connection.execute(PUT, [vars(one) for one in put])

    async def get(self, thread_id: str, namespace: str) -> LoopCheckpoint | None:
        names = {"thread": spelled(thread_id), "namespace_is": spelled(namespace)}
        row = (await self._connection.execute(GET, names)).first()
        return None if row is None else LoopCheckpoint(**row._asdict())

    async def every(self) -> list[LoopCheckpoint]:
        return [LoopCheckpoint(**row._asdict()) for row in await self._connection.execute(EVERY)]

    async def threads(self) -> set[str]:
        return {row.thread_id for row in await self._connection.execute(THREADS)}
