"""The audit on both engines: a row for each refusal."""

from __future__ import annotations

from typing import Any, get_args

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, Text, bindparam, delete, insert, or_, select

from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, legible
from fabula.adapters.stores.whole_rows import whole_rows
from fabula.ports.audit import Violation, Why
from fabula.ports.errors import StoreError

AUDIT = Table(
    "audit",
    METADATA,
    Column("number", NUMBER, autoincrement=True, nullable=False),
    Column("at_ms", NUMBER, nullable=False),
    Column("caller", NAME, nullable=False),
    Column("token_id", NAME),
    Column("what", NAME, nullable=False),
    Column("why", NAME, nullable=False),
    Column("about", NAME, nullable=False),
    Column("sentence", Text, nullable=False),
    PrimaryKeyConstraint("number", name="audit_pk"),
    Index("audit_by_time", "at_ms"),
)
_a = AUDIT.c

ADD = insert(AUDIT)
NEWEST_BEYOND = select(_a.number).order_by(_a.number.desc()).offset(bindparam("keep")).limit(1)
PRUNE = delete(AUDIT).where(or_(_a.at_ms < bindparam("before"), _a.number <= bindparam("last")))


class SqlAudit:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection

    async def note(self, violation: Violation) -> None:
        row = {
            "at_ms": violation.at_ms,
            "caller": violation.caller,
            "token_id": violation.token_id,
            "what": legible(violation.what),
            "why": violation.why,
            "about": legible(violation.about),
            "sentence": legible(violation.sentence),
        }
        await self._connection.execute(ADD, row)

    async def find(
        self, *, about: str | None = None, since_ms: int = 0, before: int | None = None, limit: int = 100
    ) -> list[tuple[int, Violation]]:
        query = select(AUDIT).where(_a.at_ms >= since_ms)
        if about is not None:
            name = legible(about)
            query = query.where(or_(_a.caller == name, _a.token_id == name, _a.what == name, _a.about == name))
        if before is not None:
            query = query.where(_a.number < before)
        rows = await self._connection.execute(query.order_by(_a.number.desc()).limit(limit))
        return whole_rows(rows, lambda row: (row.number, _violation(row)))

    async def prune(self, *, before_ms: int, keep: int) -> int:
        last = (await self._connection.execute(NEWEST_BEYOND, {"keep": keep})).scalar()
        removed = await self._connection.execute(PRUNE, {"before": before_ms, "last": last or 0})
        return int(removed.rowcount)


_REASONS = frozenset(get_args(Why))


def _violation(row: Any) -> Violation:
    """A row as the port has it; raises StoreError that names it for one that is damaged."""
    if row.why not in _REASONS:
        raise StoreError(f"The entry {row.number} of the audit is damaged. Restore a backup.")
    return Violation(
        at_ms=row.at_ms,
        caller=row.caller,
        token_id=row.token_id,
        what=row.what,
        why=row.why,
        about=row.about,
        sentence=row.sentence,
    )
