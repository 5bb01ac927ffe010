"""Canon on both engines: one row a change. Facts and relationships are found from either side by an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Float,
    Index,
    PrimaryKeyConstraint,
    Table,
    Text,
    and_,
    bindparam,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, pack, portions, spelled, unpack
from fabula.ports.canon import ChangeQuestion, ChangeRow
from fabula.ports.errors import Conflict, NotFound
from fabula.ports.threads import run_in_thread
from fabula.story.canon import (
    Change,
    ChangeKind,
    Content,
    Decision,
    EntityContent,
    EventContent,
    FactContent,
    RelationshipContent,
    StateContent,
    Verdict,
)

FEW_ROWS = 20

CANON_CHANGES = Table(
    "canon_changes",
    METADATA,
    Column("change_id", NAME, nullable=False),
    Column("world_id", NAME, nullable=False),
    Column("session_id", NAME),
    Column("kind", NAME, nullable=False),
    Column("subject", NAME, nullable=False),
    Column("object", NAME, nullable=False),
    Column("status", NAME, nullable=False),
    Column("version", NUMBER, nullable=False),
    Column("replaced_by", NAME),
    Column("doc", Text, nullable=False),
    Column("verdict", Text),
    Column("decision", Text),
    Column("created_at_ms", NUMBER, nullable=False),
    Column("updated_at_ms", NUMBER, nullable=False),
    Column("predicate", Text, nullable=False, server_default=""),
    Column("strength", Float),
    Column("begins_at", NUMBER),
    Column("ends_at", NUMBER),
    PrimaryKeyConstraint("change_id", name="canon_changes_pk"),
    Index("canon_changes_by_status", "world_id", "status", "change_id"),
    Index("canon_changes_by_version", "world_id", "version"),
    Index("canon_changes_by_subject", "world_id", "subject"),
    Index("canon_changes_by_object", "world_id", "object"),
    Index("canon_changes_by_session", "session_id"),
)

_c = CANON_CHANGES.c
_this = _c.change_id == bindparam("this")
# In these very words: both engines take a partial index only for a query that says its condition.
TRUE_NOW = and_(_c.status == literal_column("'committed'"), _c.replaced_by.is_(None))

for _name, _columns in {
    "canon_true_by_subject": (_c.world_id, _c.subject, _c.kind, _c.change_id),
    "canon_true_by_object": (_c.world_id, _c.object, _c.kind, _c.change_id),
    "canon_true_by_kind": (_c.world_id, _c.kind, _c.change_id),
    "canon_true_by_time": (_c.world_id, _c.begins_at, _c.change_id),
}.items():
    Index(_name, *_columns, sqlite_where=TRUE_NOW, postgresql_where=TRUE_NOW)
_GRAPH_KINDS = ("fact", "relationship", "event")

GET = select(CANON_CHANGES).where(_this)
GET_LOCKING = GET.with_for_update()
ADD = insert(CANON_CHANGES)
LAST_VERSION = select(func.max(_c.version)).where(_c.world_id == bindparam("world"))
SETTLE = (
    update(CANON_CHANGES)
    .where(_this)
    .values(
        status=bindparam("new_status"),
        version=bindparam("new_version"),
        verdict=bindparam("new_verdict"),
        decision=bindparam("new_decision"),
        updated_at_ms=bindparam("now"),
    )
)
NOTE = update(CANON_CHANGES).where(_this).values(verdict=bindparam("new_verdict"), updated_at_ms=bindparam("now"))
REPLACE = update(CANON_CHANGES).where(_this).values(replaced_by=bindparam("by_change"), updated_at_ms=bindparam("now"))
RESTORE = (
    update(CANON_CHANGES)
    .where(_c.replaced_by == bindparam("by_change"))
    .values(replaced_by=None, updated_at_ms=bindparam("now"))
)
SINCE = (
    select(CANON_CHANGES)
    .where(_c.world_id == bindparam("world"), _c.version > bindparam("after_version"))
    .order_by(_c.version)
    .limit(bindparam("most"))
)


class SqlCanon:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock
        self._access = access

    async def propose(self, change: Change) -> ChangeRow:
        if await self.get(change.change_id) is not None:
            raise Conflict(f"There is already a change '{change.change_id}'.")
        now = self._clock.now_ms()
        subject, object = content_ends(change.content)
        row = {
            "change_id": spelled(change.change_id),
            "world_id": spelled(change.world_id),
            "session_id": change.session_id,
            "kind": change.kind,
            "subject": spelled(subject),
            "object": spelled(object),
            "status": "pending",
            "version": 0,
            "replaced_by": None,
            "doc": pack("canon_change", change.as_json()),
            "verdict": None,
            "decision": None,
            "created_at_ms": now,
            "updated_at_ms": now,
            **edge_columns(change.content),
        }
        await self._connection.execute(ADD, row)
        return ChangeRow(change=change, status="pending", created_at_ms=now, updated_at_ms=now)

    async def get(self, change_id: str) -> ChangeRow | None:
        row = (await self._connection.execute(GET, {"this": spelled(change_id)})).first()
        return None if row is None else change_row(row)

    async def commit(self, verdicts: Sequence[tuple[str, Verdict]], decision: Decision) -> list[ChangeRow]:
        rows = [await self._pending(change_id) for change_id, _ in verdicts]
        for world_id in sorted({row.change.world_id for row in rows}):
            await self._access.lock(f"canon {world_id}")
        now = self._clock.now_ms()
        for (change_id, verdict), row in zip(verdicts, rows, strict=True):
            version = await self.version(row.change.world_id) + 1
            await self._settle(change_id, "committed", version, verdict, decision)
            for old in verdict.retcons:
                await self._connection.execute(REPLACE, {"this": old, "by_change": change_id, "now": now})
        return [await self._known(change_id) for change_id, _ in verdicts]

    async def reject(self, change_id: str, verdict: Verdict | None, decision: Decision) -> ChangeRow:
        await self._pending(change_id)
        await self._settle(change_id, "rejected", 0, verdict, decision)
        return await self._known(change_id)

    async def note(self, change_id: str, verdict: Verdict) -> None:
        packed = pack("canon_verdict", verdict.as_json())
        await self._connection.execute(
            NOTE, {"this": spelled(change_id), "new_verdict": packed, "now": self._clock.now_ms()}
        )

    async def undo(self, change_id: str, decision: Decision) -> bool:
        row = await self.get(change_id)
        if row is None or not row.is_true:
            return False
        await self._access.lock(f"canon {row.change.world_id}")
        # An undone change gets a new version, so that whoever asks what changed since hears of it.
        version = await self.version(row.change.world_id) + 1
        await self._settle(change_id, "undone", version, row.verdict, decision)
        await self._connection.execute(RESTORE, {"by_change": change_id, "now": self._clock.now_ms()})
        return True

    async def find(self, asked: ChangeQuestion, *, after: str | None = None, limit: int = 100) -> list[ChangeRow]:
        query = select(CANON_CHANGES).where(_c.world_id == spelled(asked.world_id))
        if asked.status is not None:
            query = query.where(_c.status == asked.status)
        if asked.kind is not None:
            query = query.where(_c.kind == asked.kind)
        if asked.about is not None:
            query = query.where(or_(_c.subject == spelled(asked.about), _c.object == spelled(asked.about)))
        if asked.session_id is not None:
            query = query.where(_c.session_id == spelled(asked.session_id))
        if after is not None:
            query = query.where(_c.change_id > spelled(after))
        return await _rows(await self._connection.execute(query.order_by(_c.change_id).limit(limit)))

    async def true_now(
        self, world_id: str, *, session_id: str | None = None, kinds: Sequence[ChangeKind] = (), limit: int = 5000
    ) -> list[ChangeRow]:
        layer: ColumnElement[bool] = _c.session_id.is_(None)
        if session_id is not None:
            layer = or_(layer, _c.session_id == spelled(session_id))
        query = select(CANON_CHANGES).where(_c.world_id == spelled(world_id), TRUE_NOW, layer)
        if kinds:
            query = query.where(_c.kind.in_(kinds))
        return await _rows(await self._connection.execute(query.order_by(_c.version).limit(limit)))

    async def since(self, world_id: str, version: int, *, limit: int = 1000) -> list[ChangeRow]:
        asked = {"world": spelled(world_id), "after_version": version, "most": limit}
        return await _rows(await self._connection.execute(SINCE, asked))

    async def touching(self, world_id: str, entities: Sequence[str], *, limit: int) -> list[ChangeRow]:
        found: dict[str, ChangeRow] = {}
        for some in portions(list(entities)):
            for end in (_c.subject, _c.object):
                query = (
                    select(CANON_CHANGES)
                    .where(_c.world_id == spelled(world_id), end.in_(some), TRUE_NOW, _c.kind.in_(_GRAPH_KINDS))
                    .limit(limit)
                )
                found.update((row.change_id, change_row(row)) for row in await self._connection.execute(query))
        return sorted(found.values(), key=lambda row: row.version)[:limit]

    async def version(self, world_id: str) -> int:
        row = (await self._connection.execute(LAST_VERSION, {"world": spelled(world_id)})).first()
        return int(row[0] or 0) if row is not None else 0

    async def _pending(self, change_id: str) -> ChangeRow:
        query = self._access.choose(GET, GET_LOCKING)
        row = (await self._connection.execute(query, {"this": spelled(change_id)})).first()
        if row is None:
            raise NotFound(f"There is no change named '{change_id}'.", id=change_id)
        if row.status != "pending":
            raise Conflict(f"The change '{change_id}' is {row.status}: only one that is pending can be decided.")
        return change_row(row)

    async def _known(self, change_id: str) -> ChangeRow:
        found = await self.get(change_id)
        assert found is not None
        return found

    async def _settle(
        self, change_id: str, status: str, version: int, verdict: Verdict | None, decision: Decision
    ) -> None:
        await self._connection.execute(
            SETTLE,
            {
                "this": spelled(change_id),
                "new_status": status,
                "new_version": version,
                "new_verdict": None if verdict is None else pack("canon_verdict", verdict.as_json()),
                "new_decision": pack("canon_decision", decision.as_json()),
                "now": self._clock.now_ms(),
            },
        )


def content_ends(content: Content) -> tuple[str, str]:
    """The two ends by which a change is found; what has none is found by its world alone."""
    match content:
        case FactContent() | RelationshipContent():
            return content.subject, content.object
        case EntityContent():
            return content.entity_id, ""
        case EventContent():
            return (content.who[0] if content.who else ""), content.where or ""
        case StateContent():
            return content.subject, ""
        case _:
            return "", ""


def edge_columns(content: Content) -> dict[str, Any]:
    """What the knowledge graph reads of a change without its document."""
    found: tuple[str, float | None, int | None, int | None]
    match content:
        case FactContent():
            found = (content.predicate, None, content.since, content.until)
        case RelationshipContent():
            found = (content.predicate, content.strength, content.since, content.until)
        case EventContent():
            found = (content.what, None, content.at, None)
        case _:
            found = ("", None, None, None)
    return dict(zip(("predicate", "strength", "begins_at", "ends_at"), found, strict=True))


async def _rows(found: Iterable[Any]) -> list[ChangeRow]:
    """Rows as values; many of them, or long ones, are read beside the event loop."""
    rows = list(found)
    if len(rows) <= FEW_ROWS:
        return [change_row(row) for row in rows]
    return await run_in_thread(lambda: [change_row(row) for row in rows])


def change_row(row: Any) -> ChangeRow:
    """A row of the table as the port has it."""
    return ChangeRow(
        change=Change.model_validate(unpack("canon_change", row.doc)),
        status=row.status,
        verdict=None if row.verdict is None else Verdict.model_validate(unpack("canon_verdict", row.verdict)),
        decision=None if row.decision is None else Decision.model_validate(unpack("canon_decision", row.decision)),
        version=row.version,
        replaced_by=row.replaced_by,
        created_at_ms=row.created_at_ms,
        updated_at_ms=row.updated_at_ms,
    )
