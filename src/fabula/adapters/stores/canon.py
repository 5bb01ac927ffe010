"""Canon on both engines: one row a change. Facts and relationships are found from either side by an index."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter
from sqlalchemy import (
    Column,
    ColumnElement,
    Executable,
    Float,
    Index,
    PrimaryKeyConstraint,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    text,
    update,
)

from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, pack, portions, spelled, unpack
from fabula.adapters.stores.whole_rows import read_page, read_whole_rows
from fabula.ports.canon import ChangeQuestion, ChangeRow
from fabula.ports.errors import Conflict, NotFound
from fabula.ports.stored import NOT_READ, damaged
from fabula.story.canon import (
    Change,
    ChangeKind,
    ChangeStatus,
    Content,
    Decision,
    EntityContent,
    EventContent,
    FactContent,
    RelationshipContent,
    StateContent,
    Verdict,
)

STATUS: TypeAdapter[ChangeStatus] = TypeAdapter(ChangeStatus)
FEW_THOUSAND = 2000
MOST_LETTERS = 8_000_000
"""So much is read of the changes around some entities, the newest first: each may have evidence of 20,000 letters."""
MANY_ROWS = 200
"""So many changes at once are worth telling the database: until it knows of them, it reads a whole world for a few."""

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
    Column("entity_kind", NAME),
    Column("entity_name", Text),
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

# The first columns find, the others are there to be read: rows are wide, and visiting them took half of the time of a
# picture. With those of the condition, because SQLite 3.40 otherwise visits the row for them. All are bounded (`Id`,
# `Name`, `Predicate` in `story/canon.py`), so that an entry fits into what Postgres allows one, 2,704 bytes.
_READ = (_c.predicate, _c.strength, _c.begins_at, _c.ends_at)
_OF_CONDITION = (_c.session_id, _c.status, _c.replaced_by)
for _name, _columns in {
    "canon_graph_by_subject": (_c.world_id, _c.subject, _c.kind, _c.change_id, _c.object, *_READ, *_OF_CONDITION),
    "canon_graph_by_object": (_c.world_id, _c.object, _c.kind, _c.change_id, _c.subject, *_READ, *_OF_CONDITION),
    "canon_true_by_kind": (_c.world_id, _c.kind, _c.change_id),
    "canon_true_by_time": (_c.world_id, _c.begins_at, _c.change_id),
    # By its version as well: SQLite would read a whole world in that order for the few axioms that it has.
    "canon_true_of_kind": (_c.world_id, _c.kind, _c.version),
}.items():
    Index(_name, *_columns, sqlite_where=TRUE_NOW, postgresql_where=TRUE_NOW)
# Apart from edges: there are few entities beside them, so that their names lie close together.
TRUE_ENTITY = and_(TRUE_NOW, _c.kind == literal_column("'entity'"))
Index(
    "canon_graph_names",
    *(_c.world_id, _c.subject, _c.kind, _c.change_id, _c.entity_kind, _c.entity_name, *_OF_CONDITION),
    sqlite_where=TRUE_ENTITY,
    postgresql_where=TRUE_ENTITY,
)
# With its kind in the index, though there is but one: SQLite would read a whole world by another index instead.
REPLACED_ENTITY = and_(_c.kind == literal_column("'entity'"), _c.replaced_by.is_not(None))
Index(
    "canon_replaced_entities",
    _c.world_id,
    _c.kind,
    _c.subject,
    sqlite_where=REPLACED_ENTITY,
    postgresql_where=REPLACED_ENTITY,
)
_GRAPH_KINDS = ("fact", "relationship", "event")

ANALYSE = text("ANALYZE canon_changes")
GET = select(CANON_CHANGES).where(_this)
GET_LOCKING = GET.with_for_update()
ADD = insert(CANON_CHANGES)
TAKEN = select(_c.change_id).where(_c.change_id.in_(bindparam("names", expanding=True))).limit(1)
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
    .where(_c.change_id.in_(bindparam("names", expanding=True)), _c.replaced_by == bindparam("by_change"))
    .values(replaced_by=None, updated_at_ms=bindparam("now"))
)
_new, _again = CANON_CHANGES.alias("new_one"), CANON_CHANGES.alias("again")
MERGERS = (
    select(_c.subject, _new.c.subject.label("into"))
    .join(_new, _new.c.change_id == _c.replaced_by)
    .where(_c.world_id == bindparam("world"), REPLACED_ENTITY, _new.c.kind == "entity", _new.c.subject != _c.subject)
    .where(
        ~exists()
        .where(_again.c.world_id == bindparam("world"), _again.c.subject == _c.subject)
        .where(_again.c.kind == literal_column("'entity'"))
        .where(_again.c.status == literal_column("'committed'"), _again.c.replaced_by.is_(None))
    )
    .order_by(_new.c.version.desc())
    .limit(bindparam("most"))
)
REWORD = (
    update(CANON_CHANGES)
    .where(_this)
    .values(
        doc=bindparam("new_doc"),
        subject=bindparam("new_subject"),
        object=bindparam("new_object"),
        predicate=bindparam("new_predicate"),
        strength=bindparam("new_strength"),
        begins_at=bindparam("new_begins_at"),
        ends_at=bindparam("new_ends_at"),
        entity_kind=bindparam("new_entity_kind"),
        entity_name=bindparam("new_entity_name"),
        updated_at_ms=bindparam("now"),
    )
)
SINCE = (
    select(CANON_CHANGES)
    .where(_c.world_id == bindparam("world"), _c.version > bindparam("after_version"))
    .order_by(_c.version)
    .limit(bindparam("most"))
)
_ASKED: dict[str, ColumnElement[bool]] = {
    "status": _c.status == bindparam("status"),
    "kind": _c.kind == bindparam("kind"),
    "about": or_(_c.subject == bindparam("about"), _c.object == bindparam("about")),
    "session_id": _c.session_id == bindparam("session_id"),
    "after": _c.change_id > bindparam("after"),
}


# Each statement is made once: one that is made anew for every question is compiled anew, and crowds out others.
@cache
def changes_with(*asked: str) -> Select[Any]:
    """Changes of a world by what is asked of them, in the order in which they were proposed."""
    query = select(CANON_CHANGES).where(_c.world_id == bindparam("world"), *(_ASKED[name] for name in asked))
    return query.order_by(_c.change_id).limit(bindparam("most"))


@cache
def true_changes(of_session: bool, of_kinds: bool) -> Select[Any]:
    layer: ColumnElement[bool] = _c.session_id.is_(None)
    if of_session:
        layer = or_(layer, _c.session_id == bindparam("session_id"))
    query = select(CANON_CHANGES).where(_c.world_id == bindparam("world"), TRUE_NOW, layer)
    if of_kinds:
        query = query.where(_c.kind.in_(bindparam("kinds", expanding=True)))
    return query.order_by(_c.version).limit(bindparam("most"))


@cache
def newest_edges(side: Literal["subject", "object"], entities: bool) -> Select[Any]:
    """Which changes name an end, the newest first. Their documents are read apart: sorting those of all took longer
    than everything else."""
    kinds = _c.kind.in_((*_GRAPH_KINDS, "entity") if entities else _GRAPH_KINDS)
    ends = _c[side].in_(bindparam("ends", expanding=True))
    query = select(_c.change_id, _c.kind, _c.version).where(_c.world_id == bindparam("world"), ends, TRUE_NOW, kinds)
    # Entities first: who somebody is was mostly said before all that is true of them. Not the bare version: SQLite
    # would walk through the whole world by the index that has it in this order.
    entities_first = (_c.kind != "entity",) if entities else ()
    return query.order_by(*entities_first, (_c.version + 0).desc(), _c.change_id.desc()).limit(bindparam("most"))


TRUE_ONES = select(CANON_CHANGES).where(_c.change_id.in_(bindparam("names", expanding=True)), TRUE_NOW)
SAYING = (
    select(CANON_CHANGES)
    .where(_c.world_id == bindparam("world"), TRUE_NOW, _c.kind.in_(("fact", "relationship")))
    .where(_c.predicate.in_(bindparam("predicates", expanding=True)))
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
        await self._connection.execute(ADD, new_row(change, now))
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
        if len(verdicts) >= MANY_ROWS:
            await self._access.analyse(ANALYSE)
        return [await self._known(change_id) for change_id, _ in verdicts]

    async def commit_new(self, judged: Sequence[tuple[Change, Verdict]], decision: Decision) -> None:
        if not judged:
            return
        world_id, now = judged[0][0].world_id, self._clock.now_ms()
        await self._access.lock(f"canon {world_id}")
        first = await self.version(world_id) + 1
        names = [change.change_id for change, _ in judged]
        for some in portions(names):
            if (await self._connection.execute(TAKEN, {"names": some})).first() is not None:
                raise Conflict("One of these changes is there already.")
        packed = pack("canon_decision", decision.as_json())
        for start in range(0, len(judged), FEW_THOUSAND):
            rows = [
                {
                    **new_row(change, now),
                    "status": "committed",
                    "version": first + start + number,
                    "verdict": pack("canon_verdict", verdict.as_json()),
                    "decision": packed,
                }
                for number, (change, verdict) in enumerate(judged[start : start + FEW_THOUSAND])
            ]
            await self._connection.execute(ADD, rows)
        if len(judged) >= MANY_ROWS:
            await self._access.analyse(ANALYSE)

    async def reject(self, change_id: str, verdict: Verdict | None, decision: Decision) -> ChangeRow:
        await self._pending(change_id)
        await self._settle(change_id, "rejected", 0, verdict, decision)
        return await self._known(change_id)

    async def reword(self, change_id: str, content: Content) -> None:
        row = await self._pending(change_id)
        new = new_row(row.change.model_copy(update={"content": content}), row.created_at_ms)
        names = ("doc", "subject", "object", *graph_columns(content))
        asked = {f"new_{name}": new[name] for name in names}
        await self._connection.execute(REWORD, {"this": spelled(change_id), "now": self._clock.now_ms(), **asked})

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
        # By their names: a merger undoes hundreds, and nothing finds a row by what took its place.
        for some in portions([] if row.verdict is None else row.verdict.retcons):
            asked = {"names": some, "by_change": spelled(change_id), "now": self._clock.now_ms()}
            await self._connection.execute(RESTORE, asked)
        return True

    async def find(self, asked: ChangeQuestion, *, after: str | None = None, limit: int = 100) -> list[ChangeRow]:
        values = {"status": asked.status, "kind": asked.kind, "about": asked.about, "session_id": asked.session_id}
        given = {name: spelled(value) for name, value in {**values, "after": after}.items() if value is not None}
        query = changes_with(*given)
        values = {"world": spelled(asked.world_id), **given}
        return await self._page(query, values, limit)

    async def _page(self, query: Executable, values: dict[str, Any], limit: int) -> list[ChangeRow]:
        return await read_page(
            lambda most: self._connection.execute(query, {**values, "most": most}), change_row, limit
        )

    async def true_now(
        self, world_id: str, *, session_id: str | None = None, kinds: Sequence[ChangeKind] = (), limit: int = 5000
    ) -> list[ChangeRow]:
        asked: dict[str, Any] = {"world": spelled(world_id)}
        asked |= {} if session_id is None else {"session_id": spelled(session_id)}
        asked |= {"kinds": list(kinds)} if kinds else {}
        return await self._page(true_changes(session_id is not None, bool(kinds)), asked, limit)

    async def since(self, world_id: str, version: int, *, limit: int = 1000) -> list[ChangeRow]:
        return await self._page(SINCE, {"world": spelled(world_id), "after_version": version}, limit)

    async def touching(
        self, world_id: str, ids: Sequence[str], *, limit: int, entities: bool = False
    ) -> list[ChangeRow]:
        found = set[tuple[bool, int, str]]()
        for some in portions(list(ids)):
            for query in (newest_edges("subject", entities), newest_edges("object", False)):
                asked = {"world": spelled(world_id), "ends": some, "most": limit}
                rows = await self._connection.execute(query, asked)
                found.update((row.kind == "entity", row.version, row.change_id) for row in rows)
        newest = [change_id for _, _, change_id in sorted(found, reverse=True)[:limit]]
        kept = await self._as_far_as_they_fit(newest)
        return await read_whole_rows(sorted(kept, key=lambda row: (row.version, row.change_id)), change_row)

    async def _as_far_as_they_fit(self, names: Sequence[str]) -> list[Any]:
        """The rows of true changes, the first ones where they are longer together than is read for one question."""
        rows: list[Any] = []
        left = MOST_LETTERS
        for some in portions(names):
            read = {row.change_id: row for row in await self._connection.execute(TRUE_ONES, {"names": some})}
            for row in (read[name] for name in dict.fromkeys(some) if name in read):
                left -= letters_of(row)
                if left < 0 and rows:
                    return rows
                rows.append(row)
        return rows

    async def saying(self, world_id: str, predicates: Sequence[str], *, limit: int) -> list[ChangeRow]:
        if not predicates:
            return []
        asked = {"world": spelled(world_id), "predicates": [spelled(one) for one in predicates], "most": limit}
        return await read_whole_rows(await self._connection.execute(SAYING, asked), change_row)

    async def mergers(self, world_id: str, *, limit: int) -> dict[str, str]:
        found = await self._connection.execute(MERGERS, {"world": spelled(world_id), "most": limit})
        # The newest first: of an id that was gone twice that one counts.
        return {row.subject: row.into for row in reversed(list(found))}

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


def new_row(change: Change, now: int) -> dict[str, Any]:
    """A change as a row that is pending."""
    subject, object = content_ends(change.content)
    return {
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
        **graph_columns(change.content),
    }


def letters_of(row: Any) -> int:
    """How much there is to read of a change and what was decided about it."""
    return sum(len(text) for text in (row.doc, row.verdict, row.decision) if text is not None)


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


def graph_columns(content: Content) -> dict[str, Any]:
    """What the knowledge graph reads of a change without its document."""
    found: dict[str, Any] = dict.fromkeys(("strength", "begins_at", "ends_at", "entity_kind", "entity_name"))
    found["predicate"] = ""
    match content:
        case FactContent():
            found |= {"predicate": content.predicate, "begins_at": content.since, "ends_at": content.until}
        case RelationshipContent():
            found |= {"predicate": content.predicate, "begins_at": content.since, "ends_at": content.until}
            found["strength"] = content.strength
        case EventContent():
            found |= {"predicate": content.what, "begins_at": content.at}
        case EntityContent():
            found |= {"entity_kind": content.entity_kind, "entity_name": content.name}
    return found


def change_row(row: Any) -> ChangeRow:
    """A row of the table as the port has it; raises StoreError that names it for one that is damaged."""
    try:
        return _change_row(row)
    except NOT_READ as error:
        raise damaged(f"The canon change '{row.change_id}'", error) from None


def _change_row(row: Any) -> ChangeRow:
    return ChangeRow(
        change=Change.model_validate(unpack("canon_change", row.doc)),
        status=STATUS.validate_python(row.status),
        verdict=None if row.verdict is None else Verdict.model_validate(unpack("canon_verdict", row.verdict)),
        decision=None if row.decision is None else Decision.model_validate(unpack("canon_decision", row.decision)),
        version=row.version,
        replaced_by=row.replaced_by,
        created_at_ms=row.created_at_ms,
        updated_at_ms=row.updated_at_ms,
    )
