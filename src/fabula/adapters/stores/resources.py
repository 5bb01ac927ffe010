"""Resources: JSON documents with revisions, and the references between them, which the database itself enforces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Executable,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    bindparam,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)

from fabula.adapters.stores.document_parts import find_part
from fabula.adapters.stores.index_tables import (
    ADD_ENTRIES,
    ADD_WORDS,
    DIGEST_OF_PART,
    DIGESTS,
    REMOVE_ENTRY,
    IndexChanges,
    index_changes,
    part_changes,
)
from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import (
    METADATA,
    NAME,
    NUMBER,
    Access,
    add_or_change,
    among,
    legible,
    pack,
    spelled,
    unpack,
)
from fabula.ports.errors import Conflict, InUse, NotFound, StoreError
from fabula.ports.store import Kind, PartName, Reference, Stored
from fabula.ports.threads import run_in_thread
from fabula.story.values import Json, JsonObject

RESOURCES = Table(
    "resources",
    METADATA,
    Column("kind", NAME, nullable=False),
    Column("id", NAME, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("built_in", Boolean, nullable=False),
    Column("doc", Text, nullable=False),
    Column("created_at_ms", NUMBER, nullable=False),
    Column("updated_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("kind", "id", name="resources_pk"),
    Index("resources_by_change", "kind", "updated_at_ms", "id"),
    Index("resources_by_creation", "kind", "created_at_ms", "id"),
    Index("resources_by_origin", "kind", "built_in", "id"),
)

REFERENCES = Table(
    "resource_references",
    METADATA,
    Column("user_kind", NAME, nullable=False),
    Column("user_id", NAME, nullable=False),
    Column("kind", NAME, nullable=False),
    Column("id", NAME, nullable=False),
    PrimaryKeyConstraint("user_kind", "user_id", "kind", "id", name="resource_references_pk"),
    ForeignKeyConstraint(
        ["user_kind", "user_id"],
        ["resources.kind", "resources.id"],
        name="resource_references_user_fk",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(["kind", "id"], ["resources.kind", "resources.id"], name="resource_references_used_fk"),
    Index("resource_references_by_used", "kind", "id", "user_kind", "user_id"),
)

USERS_NAMED = 100
"""How many users an InUse error names; the rest is counted."""

MAY_BE_LARGE: frozenset[Kind] = frozenset({"story", "story_draft", "lorebook"})
"""What is packed, and looked through for the words that it is found by, in a thread."""

_CHUNK = 500
"""How many names one query asks for: far below the parameter limit of either engine."""

_r, _f = RESOURCES.c, REFERENCES.c
_this = (_r.kind == bindparam("kind"), _r.id == bindparam("id"))
_this_user = (_f.user_kind == bindparam("kind"), _f.user_id == bindparam("id"))
_others_use_this = (
    _f.kind == bindparam("kind"),
    _f.id == bindparam("id"),
    # What refers only to itself is not in use.
    ~((_f.user_kind == _f.kind) & (_f.user_id == _f.id)),
)

GET = select(RESOURCES).where(*_this)
GET_LOCKED = GET.with_for_update(key_share=True)
"""Locks a resource that may be changed next. Whoever only refers to it need not wait (`key_share`)."""
GET_MANY = select(RESOURCES).where(_r.kind == bindparam("kind"), _r.id.in_(bindparam("ids", expanding=True)))
GET_MANY_LOCKED = GET_MANY.order_by(_r.id).with_for_update(key_share=True)
PAGE = select(RESOURCES).where(_r.kind == bindparam("kind"), _r.id > bindparam("after")).order_by(_r.id)
PAGE_SIZES = (
    select(func.length(_r.doc).label("size"))
    .where(_r.kind == bindparam("kind"), _r.id > bindparam("after"))
    .order_by(_r.id)
)
SIZES = select(_r.id, func.length(_r.doc).label("size")).where(
    _r.kind == bindparam("kind"), _r.id.in_(bindparam("ids", expanding=True))
)
RECENT = (
    select(RESOURCES)
    .where(_r.kind == bindparam("kind"))
    .order_by(_r.updated_at_ms.desc(), _r.id.desc())
    .limit(bindparam("limit"))
)
FIRST = select(_r.id).where(_r.kind == bindparam("kind")).order_by(_r.built_in, _r.id).limit(1)
COUNT = select(func.count()).select_from(RESOURCES).where(_r.kind == bindparam("kind"))
COUNT_HAVING = COUNT.where(_r.doc.like(bindparam("pattern")))
"""Documents are kept as JSON without blanks, and in a text every quote is escaped: the pattern finds only a field."""
ADD = add_or_change(RESOURCES, None)
PUT = (
    update(RESOURCES)
    .where(_r.kind == bindparam("kind_is"), _r.id == bindparam("id_is"))
    .values(revision=bindparam("new_revision"), doc=bindparam("new_doc"), updated_at_ms=bindparam("now"))
)
REMOVE = delete(RESOURCES).where(*_this)
LOCK_TO_REMOVE = select(_r.revision).where(*_this).with_for_update()
USERS = select(_f.user_kind, _f.user_id).where(*_others_use_this).order_by(_f.user_kind, _f.user_id)
COUNT_USERS = select(func.count()).select_from(REFERENCES).where(*_others_use_this)
REFERENCES_OF = select(_f.kind, _f.id).where(*_this_user)
ARE_NAMED = among(tuple_(_r.kind, _r.id).in_(bindparam("names", expanding=True)))
KNOWN = select(_r.kind, _r.id).where(ARE_NAMED)
KNOWN_LOCKED = KNOWN.order_by(_r.kind, _r.id).with_for_update(read=True, key_share=True)
"""What is referred to stays until the reference is committed; it may be changed meanwhile."""
REVISIONS = select(_r.kind, _r.id, _r.revision).where(ARE_NAMED)
REFER = insert(REFERENCES)


class SqlResources:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock
        self._access = access

    async def add(
        self,
        kind: Kind,
        id: str,
        doc: JsonObject,
        *,
        references: Sequence[Reference] = (),
        built_in: bool = False,
    ) -> Stored:
        now = self._clock.now_ms()
        stored = Stored(
            kind=kind, id=spelled(id), revision=1, doc=doc, built_in=built_in, created_at_ms=now, updated_at_ms=now
        )
        if not (await self._connection.execute(ADD, _row(stored, await _packed(kind, doc)))).rowcount:
            raise Conflict(f"There is already {_named(kind, id)}. Choose another id, or change that one.")
        await self._refer(kind, id, set(references))
        await self._index(stored, {})
        return stored

    async def get(self, kind: Kind, id: str) -> Stored | None:
        name = {"kind": kind, "id": spelled(id)}
        query = self._access.choose(GET, GET_LOCKED)
        found = await self._connection.run(_read_all(query, name))
        if not found and self._access.locks:
            # Whoever finds nothing may add it: until then nobody else who looked may.
            await self._access.lock(f"resource:{kind}:{id}")
            found = await self._connection.run(_read_all(query, name))
        return found[0] if found else None

    async def get_many(self, kind: Kind, ids: Sequence[str]) -> dict[str, Stored]:
        wanted = sorted({spelled(id) for id in ids})
        found: dict[str, Stored] = {}
        for start in range(0, len(wanted), _CHUNK):
            some = {"kind": kind, "ids": wanted[start : start + _CHUNK]}
            query = self._access.choose(GET_MANY, GET_MANY_LOCKED)
            found |= {one.id: one for one in await self._connection.run(_read_all(query, some))}
        return found

    async def put(
        self,
        kind: Kind,
        id: str,
        doc: JsonObject,
        *,
        references: Sequence[Reference] = (),
        expected_revision: int | None = None,
    ) -> Stored:
        old = await self.get(kind, id)
        if old is None:
            raise _missing(Reference(kind=kind, id=id))
        if expected_revision not in (None, old.revision):
            raise Conflict(
                f"{_sentence_start(kind, id)} was changed meanwhile. Read it again, then repeat the change.",
                revision=old.revision,
            )
        new = Stored(
            kind=kind,
            id=id,
            revision=old.revision + 1,
            doc=doc,
            built_in=old.built_in,
            created_at_ms=old.created_at_ms,
            updated_at_ms=self._clock.now_ms(),
        )
        values = {"new_revision": new.revision, "new_doc": await _packed(kind, doc), "now": new.updated_at_ms}
        await self._connection.execute(PUT, {"kind_is": kind, "id_is": id, **values})
        await self._refer(kind, id, set(references))
        rows = await self._connection.execute(DIGESTS, {"kind": kind, "id": id})
        await self._index(new, {row.part: row.digest for row in rows})
        return new

    async def change_part(
        self,
        kind: Kind,
        id: str,
        name: PartName,
        change: Callable[[JsonObject], JsonObject],
        *,
        fits: Callable[[str], bool],
    ) -> JsonObject | None:
        query, now = self._access.choose(GET, GET_LOCKED), self._clock.now_ms()
        part = await self._connection.run(_change_part(query, kind, spelled(id), name, change, fits, now))
        if part is None:
            return None
        asked = {"kind": kind, "id": id, "part": legible(name.name)}
        before = (await self._connection.execute(DIGEST_OF_PART, asked)).scalar()
        # Of very many parts only the first ones are found by themselves.
        if before is not None:
            await self._write_index(part_changes(kind, id, {name.list: [part]}, name.name, before))
        return part

    async def remove(self, kind: Kind, id: str) -> None:
        name = {"kind": kind, "id": spelled(id)}
        if self._access.locks:
            # Who has just referred to it commits first, and is then found among the users.
            await self._connection.execute(LOCK_TO_REMOVE, name)
        users = _references(await self._connection.execute(USERS.limit(USERS_NAMED), name))
        if users:
            total = (await self._connection.execute(COUNT_USERS, name)).scalar()
            raise _in_use(Reference(kind=kind, id=id), users, total)
        if not (await self._connection.execute(REMOVE, name)).rowcount:
            raise _missing(Reference(kind=kind, id=id))

    async def page(self, kind: Kind, *, after: str | None = None, limit: int | None = None) -> list[Stored]:
        query = PAGE if limit is None else PAGE.limit(limit)
        return await self._connection.run(_read_all(query, {"kind": kind, "after": spelled(after or "")}))

    async def page_sizes(self, kind: Kind, *, after: str | None = None, limit: int | None = None) -> list[int]:
        query = PAGE_SIZES if limit is None else PAGE_SIZES.limit(limit)
        rows = await self._connection.execute(query, {"kind": kind, "after": spelled(after or "")})
        return [row.size for row in rows]

    async def sizes(self, kind: Kind, ids: Sequence[str]) -> dict[str, int]:
        wanted, found = sorted({spelled(id) for id in ids}), dict[str, int]()
        for start in range(0, len(wanted), _CHUNK):
            rows = await self._connection.execute(SIZES, {"kind": kind, "ids": wanted[start : start + _CHUNK]})
            found |= {row.id: row.size for row in rows}
        return found

    async def recent(self, kind: Kind, *, limit: int) -> list[Stored]:
        return await self._connection.run(_read_all(RECENT, {"kind": kind, "limit": limit}))

    async def first(self, kind: Kind) -> str | None:
        id: str | None = (await self._connection.execute(FIRST, {"kind": kind})).scalar()
        return id

    async def count(self, kind: Kind, *, having: str | None = None) -> int:
        if having is None:
            counted = await self._connection.execute(COUNT, {"kind": kind})
        else:
            counted = await self._connection.execute(COUNT_HAVING, {"kind": kind, "pattern": f'%"{having}":{{%'})
        number: int = counted.scalar()
        return number

    async def revisions(self, names: Sequence[Reference]) -> dict[Reference, int]:
        return await self._connection.run(read_revisions(names))

    async def users(self, kind: Kind, id: str) -> list[Reference]:
        return _references(await self._connection.execute(USERS, {"kind": kind, "id": spelled(id)}))

    async def _refer(self, kind: Kind, id: str, wanted: set[Reference]) -> None:
        """Makes the references of a resource the wanted ones, touching only those that changed."""
        rows = await self._connection.execute(REFERENCES_OF, {"kind": kind, "id": id})
        present = set(_references(rows))
        for gone in sorted(present - wanted):
            await self._connection.execute(
                delete(REFERENCES).where(_f.user_kind == kind, _f.user_id == id, _f.kind == gone.kind, _f.id == gone.id)
            )
        if new := sorted(wanted - present):
            await self._check_known(new)
            await self._connection.execute(
                REFER, [{"user_kind": kind, "user_id": id, "kind": one.kind, "id": one.id} for one in new]
            )

    async def _index(self, stored: Stored, before: dict[str, str]) -> None:
        """Makes the resource found by what it is now."""
        what = (stored.kind, stored.id, stored.doc, before)
        large = stored.kind in MAY_BE_LARGE
        await self._write_index(await run_in_thread(index_changes, *what) if large else index_changes(*what))

    async def _write_index(self, changes: IndexChanges) -> None:
        if changes.remove:
            await self._connection.execute(REMOVE_ENTRY, changes.remove)
        if changes.entries:
            await self._connection.execute(ADD_ENTRIES, changes.entries)
        if changes.words:
            await self._connection.execute(ADD_WORDS, changes.words)

    async def _check_known(self, names: Sequence[Reference]) -> None:
        known: set[Reference] = set()
        for start in range(0, len(names), _CHUNK):
            some = [(one.kind, spelled(one.id)) for one in names[start : start + _CHUNK]]
            query = self._access.choose(KNOWN, KNOWN_LOCKED)
            known.update(_references(await self._connection.execute(query, {"names": some})))
        for one in names:
            if one not in known:
                raise _missing(one)


def _read_all(query: Executable, values: dict[str, Any]) -> Steps[list[Stored]]:
    """As steps, because large documents are decoded where they are read, not on the event loop."""
    return [_stored(row) for row in (yield query, values)]


def _change_part(
    query: Executable,
    kind: Kind,
    id: str,
    name: PartName,
    change: Callable[[JsonObject], JsonObject],
    fits: Callable[[str], bool],
    now: int,
) -> Steps[JsonObject | None]:
    """As steps, because the whole text comes and goes."""
    row = next(iter((yield query, {"kind": kind, "id": id})), None)
    found = None if row is None else find_part(kind, row.doc, name)
    if row is None or found is None:
        return None
    part = change(found.part)
    text = found.replaced(row.doc, part)
    if len(text) > len(row.doc) and not fits(text):
        return None
    values = {"new_revision": row.revision + 1, "new_doc": text, "now": now}
    yield PUT, {"kind_is": kind, "id_is": id, **values}
    return part


def read_revisions(names: Sequence[Reference]) -> Steps[dict[Reference, int]]:
    """The revisions of those that exist."""
    found: dict[Reference, int] = {}
    for start in range(0, len(names), _CHUNK):
        some = [(one.kind, spelled(one.id)) for one in names[start : start + _CHUNK]]
        rows = yield REVISIONS, {"names": some}
        found |= {Reference(kind=kind, id=id): revision for kind, id, revision in rows}
    return found


async def _packed(kind: Kind, doc: JsonObject) -> str:
    return await run_in_thread(pack, kind, doc) if kind in MAY_BE_LARGE else pack(kind, doc)


def _row(stored: Stored, packed: str) -> dict[str, Any]:
    return {
        "kind": stored.kind,
        "id": stored.id,
        "revision": stored.revision,
        "built_in": stored.built_in,
        "doc": packed,
        "created_at_ms": stored.created_at_ms,
        "updated_at_ms": stored.updated_at_ms,
    }


def _stored(row: Any) -> Stored:
    """A resource as it is stored. Damage is told of, not raised: the row stands beside others that are whole."""
    doc, damage = dict[str, Json](), None
    try:
        doc = unpack(row.kind, row.doc)
    except StoreError as error:
        sentence = f"The {_named(row.kind, row.id)} cannot be read. {error.message}"
        damage = replace(error.value(), message=sentence)
    return Stored(
        kind=row.kind,
        id=row.id,
        revision=row.revision,
        doc=doc,
        damage=damage,
        built_in=bool(row.built_in),
        created_at_ms=row.created_at_ms,
        updated_at_ms=row.updated_at_ms,
    )


def _references(rows: Any) -> list[Reference]:
    return [Reference(kind=kind, id=id) for kind, id in rows]


def _named(kind: str, id: str) -> str:
    return f"{kind.replace('_', ' ')} '{id}'"


def _sentence_start(kind: str, id: str) -> str:
    """The same with a capital letter; the id stays as it was given."""
    named = _named(kind, id)
    return named[0].upper() + named[1:]


def _missing(name: Reference) -> NotFound:
    return NotFound(f"There is no {_named(name.kind, name.id)}.", kind=name.kind, id=name.id)


def _in_use(name: Reference, users: Sequence[Reference], total: int) -> InUse:
    shown = ", ".join(_named(user.kind, user.id) for user in users[:3])
    more = f" and {total - 3} more" if total > 3 else ""
    named: list[Json] = [{"kind": user.kind, "id": user.id} for user in users]
    return InUse(
        f"{_sentence_start(name.kind, name.id)} is still used by {shown}{more}. Change or delete them first.",
        users=named,
        users_total=total,
    )
