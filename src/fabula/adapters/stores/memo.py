"""Memo: finished model answers by key, so that a repeated call costs nothing and says the same."""

from __future__ import annotations

from sqlalchemy import Column, PrimaryKeyConstraint, Table, Text, bindparam, select

from fabula.adapters.stores.prepared_statements import prepared
from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, add_or_change, pack, spelled, unpack
from fabula.story.values import JsonObject

MEMO = Table(
    "memo",
    METADATA,
    Column("key", NAME, nullable=False),
    Column("reply", Text, nullable=False),
    Column("created_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("key", name="memo_pk"),
)

GET = prepared(select(MEMO.c.reply).where(MEMO.c.key == bindparam("this")))
ADD = prepared(add_or_change(MEMO, None))
"""The first answer under a key stays."""


class SqlMemo:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock

    async def get(self, key: str) -> JsonObject | None:
        reply: str | None = (await self._connection.execute(GET, {"this": spelled(key)})).scalar()
        return None if reply is None else unpack("memo_reply", reply)

    async def put(self, key: str, reply: JsonObject) -> None:
        row = {"key": spelled(key), "reply": pack("memo_reply", reply), "created_at_ms": self._clock.now_ms()}
        await self._connection.execute(ADD, row)
