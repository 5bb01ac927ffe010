"""Memo: finished model answers by key, so that a repeated call costs nothing and says the same."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Column, PrimaryKeyConstraint, Table, Text, bindparam, select

from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, add_or_change, pack, spelled, unpack
from fabula.ports.world import Clock
from fabula.story.values import JsonObject

MEMO = Table(
    "memo",
    METADATA,
    Column("key", NAME, nullable=False),
    Column("reply", Text, nullable=False),
    Column("created_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("key", name="memo_pk"),
)

GET = select(MEMO.c.reply).where(MEMO.c.key == bindparam("this"))
ADD = add_or_change(MEMO, None)
"""The first answer under a key stays."""


class SqlMemo:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock

    async def get(self, key: str) -> JsonObject | None:
        reply: str | None = (await self._connection.execute(GET, {"this": spelled(key)})).scalar()
        return None if reply is None else unpack("memo_reply", reply)

    async def put(self, key: str, reply: JsonObject) -> None:
        await self.put_all({key: reply})

    async def put_all(self, replies: Mapping[str, JsonObject]) -> None:
        await self._connection.run(put_replies(self._clock, replies))


def put_replies(clock: Clock, replies: Mapping[str, JsonObject]) -> Steps[None]:
    now = clock.now_ms()
    rows = [
        {"key": spelled(key), "reply": pack("memo_reply", replies[key]), "created_at_ms": now}
        for key in sorted(replies)
    ]
    if rows:
        yield ADD, rows
