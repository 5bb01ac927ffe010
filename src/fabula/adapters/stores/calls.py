"""Calls: every model call with its usage, in the order in which they were recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Index,
    PrimaryKeyConstraint,
    Table,
    Text,
    bindparam,
    func,
    insert,
    select,
)

from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, legible, spelled
from fabula.ports.models import CallGroup, CallOrigin, CallRecord, CallTotals, Usage

CALLS = Table(
    "calls",
    METADATA,
    Column("number", NUMBER, autoincrement=True, nullable=False),
    Column("agent", NAME, nullable=False),
    Column("session_id", NAME),
    Column("story_id", NAME),
    Column("turn_id", NAME),
    Column("model", Text, nullable=False),
    Column("prompt_tokens", NUMBER, nullable=False),
    Column("completion_tokens", NUMBER, nullable=False),
    Column("latency_ms", NUMBER, nullable=False),
    Column("first_piece_ms", NUMBER),
    Column("memo_hit", Boolean, nullable=False),
    Column("outcome", NAME, nullable=False),
    Column("error", Text),
    Column("recorded_at_ms", NUMBER, nullable=False),
    Column("error_name", NAME),
    PrimaryKeyConstraint("number", name="calls_pk"),
    Index("calls_by_session", "session_id", "number"),
    Index("calls_by_story", "story_id", "number"),
    Index("calls_by_turn", "turn_id"),
    Index("calls_by_time", "recorded_at_ms"),
)

_c = CALLS.c

ADD = insert(CALLS)
PAGE = select(CALLS).where(_c.number > bindparam("after")).order_by(_c.number).limit(bindparam("limit"))
LATEST = select(CALLS).order_by(_c.number.desc()).limit(bindparam("limit"))
OF_SESSION = _c.session_id == bindparam("session_id")
OF_STORY = _c.story_id == bindparam("story_id")
OF_TURN = _c.turn_id == bindparam("turn")
TOKENS_USED = select(func.sum(_c.prompt_tokens + _c.completion_tokens)).where(OF_SESSION, _c.memo_hit.is_(False))
_ADDED_UP = (
    func.count().label("calls"),
    func.count().filter(_c.outcome == "failed").label("failed"),
    func.count().filter(_c.memo_hit.is_(True)).label("memo_hits"),
    func.sum(_c.prompt_tokens).filter(_c.memo_hit.is_(False)).label("prompt_tokens"),
    func.sum(_c.completion_tokens).filter(_c.memo_hit.is_(False)).label("completion_tokens"),
)
TOTALS = select(*_ADDED_UP)
_DAY_MS = 24 * 3600 * 1000
_GROUPS: Mapping[CallGroup, ColumnElement[Any]] = {
    "day": _c.recorded_at_ms - _c.recorded_at_ms % _DAY_MS,
    "model": _c.model,
    "agent": _c.agent,
    "session": _c.session_id,
    "story": _c.story_id,
}
_within = (_c.recorded_at_ms >= bindparam("from_ms"), _c.recorded_at_ms < bindparam("to_ms"))
TOTALS_WITHIN = TOTALS.where(*_within)
GROUPED = {
    by: select(column.label("name"), *_ADDED_UP)
    .where(*_within)
    .group_by(column)
    # The newest days; of everything else what cost most.
    .order_by(*([column.desc()] if by == "day" else [func.sum(_c.prompt_tokens + _c.completion_tokens).desc(), column]))
    .limit(bindparam("limit"))
    for by, column in _GROUPS.items()
}


class SqlCalls:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection

    async def add(self, *records: CallRecord) -> None:
        if records:
            await self._connection.execute(ADD, [_row(record) for record in records])

    async def page(
        self, *, session_id: str | None = None, story_id: str | None = None, after: int = 0, limit: int = 500
    ) -> list[tuple[int, CallRecord]]:
        query, names = _filtered(PAGE, session_id, story_id)
        given = {"after": after, "limit": limit, **names}
        return [(row.number, _record(row)) for row in await self._connection.execute(query, given)]

    async def tokens_used(self, session_id: str) -> int:
        return await self._connection.run(read_tokens_used(session_id))

    async def totals(self, *, session_id: str | None = None, story_id: str | None = None) -> CallTotals:
        query, names = _filtered(TOTALS, session_id, story_id)
        return _totals((await self._connection.execute(query, names)).first())

    async def grouped(
        self, by: CallGroup, *, from_ms: int, to_ms: int, limit: int
    ) -> tuple[CallTotals, list[tuple[str, CallTotals]]]:
        within = {"from_ms": from_ms, "to_ms": to_ms}
        all_of_it = _totals((await self._connection.execute(TOTALS_WITHIN, within)).first())
        rows = await self._connection.execute(GROUPED[by], {**within, "limit": limit})
        return all_of_it, [("" if row.name is None else str(row.name), _totals(row)) for row in rows]

    async def totals_of_turn(self, turn_id: str) -> CallTotals:
        return _totals((await self._connection.execute(TOTALS.where(OF_TURN), {"turn": spelled(turn_id)})).first())

    async def latest(self, *, limit: int) -> list[CallRecord]:
        return [_record(row) for row in await self._connection.execute(LATEST, {"limit": limit})]


def read_tokens_used(session_id: str) -> Steps[int]:
    """What a session's calls cost; answers from the memo cost nothing."""
    return int((yield TOKENS_USED, {"session_id": session_id}).scalar() or 0)


def _filtered(query: Any, session_id: str | None, story_id: str | None) -> tuple[Any, dict[str, str]]:
    names: dict[str, str] = {}
    if session_id is not None:
        query, names["session_id"] = query.where(OF_SESSION), session_id
    if story_id is not None:
        query, names["story_id"] = query.where(OF_STORY), story_id
    return query, names


def _totals(row: Any) -> CallTotals:
    return CallTotals(**{one.name: int(getattr(row, one.name) or 0) for one in fields(CallTotals)})


def _row(record: CallRecord) -> dict[str, Any]:
    origin = record.origin
    return {
        "agent": origin.agent,
        "session_id": origin.session_id,
        "story_id": origin.story_id,
        "turn_id": origin.turn_id,
        "model": legible(record.model),
        "prompt_tokens": record.usage.prompt_tokens,
        "completion_tokens": record.usage.completion_tokens,
        "latency_ms": record.latency_ms,
        "first_piece_ms": record.first_piece_ms,
        "memo_hit": record.memo_hit,
        "outcome": record.outcome,
        "error": None if record.error is None else legible(record.error),
        "recorded_at_ms": record.recorded_at_ms,
        "error_name": record.error_name,
    }


def _record(row: Any) -> CallRecord:
    return CallRecord(
        origin=CallOrigin(agent=row.agent, session_id=row.session_id, story_id=row.story_id, turn_id=row.turn_id),
        model=row.model,
        usage=Usage(prompt_tokens=row.prompt_tokens, completion_tokens=row.completion_tokens),
        latency_ms=row.latency_ms,
        first_piece_ms=row.first_piece_ms,
        memo_hit=bool(row.memo_hit),
        outcome=row.outcome,
        error=row.error,
        error_name=row.error_name,
        recorded_at_ms=row.recorded_at_ms,
    )
