"""Traces: the parts of each turn's, and every text that was sent to a model or came from one, kept once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    Column,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    bindparam,
    delete,
    insert,
    select,
)

from fabula.adapters.stores.play_tables import TURNS
from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, add_or_change, pack, portions, spelled, unpack
from fabula.ports.packed import pack_bytes, unpack_bytes
from fabula.ports.traces import StoredPart

TRACE_PARTS = Table(
    "trace_parts",
    METADATA,
    Column("number", NUMBER, autoincrement=True, nullable=False),
    Column("turn_id", NAME, nullable=False),
    Column("kind", NAME, nullable=False),
    Column("at_ms", NUMBER, nullable=False),
    Column("doc", LargeBinary, nullable=False),
    PrimaryKeyConstraint("number", name="trace_parts_pk"),
    Index("trace_parts_by_turn", "turn_id", "number"),
    Index("trace_parts_by_time", "at_ms"),
)
TRACE_TEXTS = Table(
    "trace_texts",
    METADATA,
    Column("hash", NAME, nullable=False),
    Column("used_at_ms", NUMBER, nullable=False),
    Column("text", LargeBinary, nullable=False),
    PrimaryKeyConstraint("hash", name="trace_texts_pk"),
    Index("trace_texts_by_use", "used_at_ms"),
)
_p, _t = TRACE_PARTS.c, TRACE_TEXTS.c

LARGEST_PART = 4 * 2**20
MOST_OF_TURN = 2 * LARGEST_PART
"""So many bytes of JSON the parts of a turn are, all together; those of a long turn are a tenth of it."""
SPARED_MS = 2 * 3600 * 1000
"""A text that was lately written need not be written again to be spared: who writes remembers for half that time."""

EXISTING = select(TURNS.c.turn_id).where(TURNS.c.turn_id.in_(bindparam("turns", expanding=True)))
ADD = insert(TRACE_PARTS)
ADD_TEXT = add_or_change(TRACE_TEXTS, {"used_at_ms": bindparam("now")})
OF_TURN = select(TRACE_PARTS).where(_p.turn_id == bindparam("turn")).order_by(_p.number).limit(bindparam("limit"))
TEXTS = select(_t.hash, _t.text).where(_t.hash.in_(bindparam("hashes", expanding=True)))
_old_parts = select(_p.number).where(_p.at_ms < bindparam("before")).order_by(_p.at_ms).limit(bindparam("limit"))
_old_texts = (
    select(_t.hash).where(_t.used_at_ms < bindparam("before")).order_by(_t.used_at_ms).limit(bindparam("limit"))
)
PRUNE_PARTS = delete(TRACE_PARTS).where(_p.number.in_(_old_parts))
PRUNE_TEXTS = delete(TRACE_TEXTS).where(_t.hash.in_(_old_texts))
REMOVE_OF_TREE = delete(TRACE_PARTS).where(
    _p.turn_id.in_(select(TURNS.c.turn_id).where(TURNS.c.tree_id == bindparam("tree")))
)


class SqlTraces:
    def __init__(self, access: Access) -> None:
        self._connection, self._clock = access.connection, access.clock

    async def keep(self, parts: Sequence[StoredPart], texts: Mapping[str, bytes]) -> None:
        wanted = list(dict.fromkeys(part.turn_id for part in parts))
        existing = {
            row.turn_id
            for some in portions(wanted)
            for row in await self._connection.execute(EXISTING, {"turns": some})
        }
        rows = [_row(part) for part in parts if part.turn_id in existing]
        if not rows:
            return
        now = self._clock.now_ms()
        # In one order, so that two that write the same texts do not wait for each other in a circle.
        if texts:
            written = [{"hash": hash, "used_at_ms": now, "text": texts[hash], "now": now} for hash in sorted(texts)]
            await self._connection.execute(ADD_TEXT, written)
        await self._connection.execute(ADD, rows)

    async def of_turn(self, turn_id: str, *, limit: int = 500) -> list[StoredPart]:
        asked = {"turn": spelled(turn_id), "limit": limit}
        # As steps, because parts are unpacked where they are read, not on the event loop.
        return await self._connection.run(_read_parts(asked))

    async def texts(self, hashes: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for some in portions(hashes):
            found |= {row.hash: row.text for row in await self._connection.execute(TEXTS, {"hashes": some})}
        return found

    async def prune(self, *, before_ms: int, limit: int) -> int:
        parts = await self._connection.execute(PRUNE_PARTS, {"before": before_ms, "limit": limit})
        texts = await self._connection.execute(PRUNE_TEXTS, {"before": before_ms - SPARED_MS, "limit": limit})
        return int(parts.rowcount) + int(texts.rowcount)


def _row(part: StoredPart) -> dict[str, Any]:
    doc = pack_bytes(pack("trace_part", part.doc).encode())
    return {"turn_id": part.turn_id, "kind": part.kind, "at_ms": part.at_ms, "doc": doc}


def _read_parts(asked: Mapping[str, Any]) -> Steps[list[StoredPart]]:
    rows = yield OF_TURN, asked
    found, left = list[StoredPart](), MOST_OF_TURN
    for row in rows:
        doc = unpack_bytes(row.doc, most=min(left, LARGEST_PART))
        if doc is not None:
            left -= len(doc)
            found.append(_part(row, doc))
    return found


def _part(row: Any, raw: bytes) -> StoredPart:
    doc = unpack("trace_part", raw.decode("utf-8", "replace"))
    return StoredPart(turn_id=row.turn_id, kind=row.kind, at_ms=row.at_ms, doc=doc)
