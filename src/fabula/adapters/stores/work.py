"""Work: who holds it and until when. Every change is one conditional statement, so that two holders never both win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Executable,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, pack, spelled, unpack
from fabula.ports.errors import StoreError
from fabula.ports.work import Lease, NewWork, Work, WorkCount, WorkStatus
from fabula.ports.world import Clock
from fabula.story.error_values import ErrorValue, stored_error
from fabula.story.stored import Shape
from fabula.story.values import JsonObject


def _partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    return Index(name, *columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where))


WORK = Table(
    "work",
    METADATA,
    Column("work_id", NAME, nullable=False),
    Column("kind", NAME, nullable=False),
    Column("key", NAME, nullable=False),
    Column("subject", NAME, nullable=False),
    Column("input", Text, nullable=False),
    Column("status", NAME, nullable=False),
    Column("owner", NAME, nullable=False),
    Column("lease_until_ms", NUMBER, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("let_go", Integer, nullable=False),
    Column("due_at_ms", NUMBER, nullable=False),
    Column("trace_id", NAME, nullable=False),
    Column("result", Text),
    Column("error", Text),
    Column("created_at_ms", NUMBER, nullable=False),
    Column("updated_at_ms", NUMBER, nullable=False),
    Column("cut_asked", Integer, nullable=False, server_default="0"),
    PrimaryKeyConstraint("work_id", name="work_pk"),
    _partial_index(
        "work_once", "kind", "key", where="key <> '' AND status IN ('waiting', 'running', 'done')", unique=True
    ),
    _partial_index("work_by_key", "kind", "key", "created_at_ms", where="key <> ''"),
    _partial_index("work_waiting", "due_at_ms", where="status = 'waiting'"),
    _partial_index("work_running", "lease_until_ms", where="status = 'running'"),
    Index("work_by_subject", "subject", "created_at_ms"),
    _partial_index("work_unfinished", "created_at_ms", where="status IN ('waiting', 'running', 'dead')"),
    _partial_index("work_ended", "updated_at_ms", where="status NOT IN ('waiting', 'running')"),
)

_w = WORK.c
# Written out, because an engine uses a partial index only for a condition that it can read in the statement itself.
_waits, _runs = text("status = 'waiting'"), text("status = 'running'")
_has_key = text("key <> ''")
_this = _w.work_id == bindparam("this")
_newest = (_w.created_at_ms.desc(), _w.work_id.desc())
_of_kinds = _w.kind.in_(bindparam("kinds", expanding=True))
_is_due = and_(_waits, _w.due_at_ms <= bindparam("now"))
_is_left_behind = and_(
    _runs, or_(_w.lease_until_ms <= bindparam("now"), _w.owner.in_(bindparam("gone", expanding=True)))
)
_is_mine = and_(_runs, _w.owner == bindparam("owner_is"))
_is_held: ColumnElement[bool] = and_(_this, _is_mine, _w.attempt == bindparam("attempt_is"))

# Both engines read `ON CONFLICT DO NOTHING`; the construct of one serves for the other.
ADD = insert(WORK).on_conflict_do_nothing()
GET = select(WORK).where(_this)
BY_KEY = (
    select(WORK).where(_w.kind == bindparam("kind"), _w.key == bindparam("key"), _has_key).order_by(*_newest).limit(1)
)
OF_SUBJECT = select(WORK).where(_w.subject == bindparam("subject")).order_by(*_newest).limit(bindparam("limit"))
WAITING = select(WORK).where(_is_due, _of_kinds).order_by(_w.due_at_ms, _w.work_id).limit(bindparam("limit"))
LEFT_BEHIND = (
    select(WORK).where(_is_left_behind, _of_kinds).order_by(_w.due_at_ms, _w.work_id).limit(bindparam("limit"))
)
DUE_NOW = (WAITING, LEFT_BEHIND)
# Postgres passes over rows that another holder is about to take; SQLite has one writer at a time anyway.
DUE_LOCKED = (WAITING.with_for_update(skip_locked=True), LEFT_BEHIND.with_for_update(skip_locked=True))
OWNERS = select(_w.owner).distinct().where(_runs)
HELD_BY = select(_w.work_id).where(_is_mine)
HOLD = (
    update(WORK)
    .where(_w.work_id.in_(bindparam("these", expanding=True)), or_(_is_due, _is_left_behind))
    .values(
        status="running",
        owner=bindparam("new_owner"),
        lease_until_ms=bindparam("until"),
        attempt=_w.attempt + 1,
        updated_at_ms=bindparam("now"),
    )
    .returning(WORK)
)
EXTEND = (
    update(WORK)
    .where(_w.work_id.in_(bindparam("these", expanding=True)), _is_mine)
    .values(lease_until_ms=bindparam("until"))
    .returning(_w.work_id)
)
END = (
    update(WORK)
    .where(_is_held)
    .values(
        status=bindparam("new_status"),
        result=bindparam("new_result"),
        error=bindparam("new_error"),
        updated_at_ms=bindparam("now"),
    )
)
PUT_OFF = (
    update(WORK)
    .where(_is_held)
    .values(
        status="waiting",
        owner="",
        due_at_ms=bindparam("new_due"),
        error=bindparam("new_error"),
        let_go=_w.let_go + bindparam("more"),
        updated_at_ms=bindparam("now"),
    )
)
CANCEL = (
    update(WORK)
    .where(_this, or_(_waits, _runs))
    .values(status="cancelled", error=bindparam("new_error"), updated_at_ms=bindparam("now"))
)
ASK_CUT = update(WORK).where(_this, or_(_waits, _runs)).values(cut_asked=1)
CUTS_ASKED = select(_w.work_id).where(_is_mine, _w.cut_asked == 1)
# A repeat that was begun meanwhile stands in the way: two of one key are never open at once.
_repeat = WORK.alias("repeat")
REVIVE = (
    update(WORK)
    .where(
        _this,
        _w.status == "dead",
        or_(
            _w.key == "",
            ~select(_repeat.c.work_id)
            .where(
                _repeat.c.kind == _w.kind,
                _repeat.c.key == _w.key,
                _repeat.c.status.in_(("waiting", "running", "done")),
            )
            .exists(),
        ),
    )
    .values(
        status="waiting",
        owner="",
        due_at_ms=bindparam("now"),
        let_go=_w.attempt,
        updated_at_ms=bindparam("now"),
    )
)
_unfinished = and_(text("status IN ('waiting', 'running', 'dead')"), _of_kinds)
_listed = and_(_unfinished, _w.status.in_(bindparam("statuses", expanding=True)))
_in_order = (_w.created_at_ms, _w.work_id)
LISTED = select(WORK).where(_listed).order_by(*_in_order).limit(bindparam("limit"))
_place = select(_w.created_at_ms).where(_this).scalar_subquery()
LISTED_AFTER = (
    select(WORK)
    .where(
        _listed,
        or_(_w.created_at_ms > _place, and_(_w.created_at_ms == _place, _w.work_id > bindparam("this"))),
    )
    .order_by(*_in_order)
    .limit(bindparam("limit"))
)
COUNTS = (
    select(_w.kind, _w.status, func.count().label("count"), func.min(_w.due_at_ms).label("oldest"))
    .where(_unfinished)
    .group_by(_w.kind, _w.status)
    .order_by(_w.kind, _w.status)
)
ABANDON = (
    update(WORK)
    .where(
        or_(_waits, _runs),
        _of_kinds,
        _w.lease_until_ms < bindparam("before"),
        _w.updated_at_ms < bindparam("before"),
    )
    .values(status="cancelled", updated_at_ms=bindparam("now"))
)
LONG_ENDED = (
    select(_w.work_id)
    .where(text("status NOT IN ('waiting', 'running')"), _w.updated_at_ms < bindparam("before"))
    .order_by(_w.updated_at_ms)
    .limit(bindparam("limit"))
)
FORGET = delete(WORK).where(_w.work_id.in_(bindparam("these", expanding=True)))


class SqlWork:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock

    async def begin(self, new: NewWork) -> Work:
        return await self._connection.run(begin_work(self._clock, new))

    async def get(self, work_id: str) -> Work | None:
        row = (await self._connection.execute(GET, {"this": spelled(work_id)})).first()
        return None if row is None else _work(row)

    async def by_key(self, kind: str, key: str) -> Work | None:
        row = (await self._connection.execute(BY_KEY, {"kind": spelled(kind), "key": spelled(key)})).first()
        return None if row is None else _work(row)

    async def of_subject(self, subject: str, *, limit: int = 100) -> list[Work]:
        names = {"subject": spelled(subject), "limit": limit}
        return [_work(row) for row in await self._connection.execute(OF_SUBJECT, names)]

    async def due(self, kinds: Sequence[str], *, gone: Sequence[str] = (), limit: int = 100) -> list[Work]:
        return [_work(row) for row in await self._connection.run(_due_rows(self._clock, kinds, gone, limit, DUE_NOW))]

    async def first_due(self, groups: Sequence[Sequence[str]], *, gone: Sequence[str] = ()) -> list[Work | None]:
        return await self._connection.run(_first_due(self._clock, groups, gone))

    async def owners(self) -> set[str]:
        return {row.owner for row in await self._connection.execute(OWNERS)}

    async def held_by(self, owner: str) -> set[str]:
        return {row.work_id for row in await self._connection.execute(HELD_BY, {"owner_is": owner})}

    async def hold(self, work_id: str, lease: Lease, *, gone: Sequence[str] = ()) -> Work | None:
        held = await self._hold([spelled(work_id)], lease, gone)
        return held[0] if held else None

    async def hold_these(self, work_ids: Sequence[str], lease: Lease) -> list[Work]:
        return await self._hold([spelled(work_id) for work_id in work_ids], lease, ())

    async def hold_due(
        self, kinds: Sequence[str], lease: Lease, *, gone: Sequence[str] = (), limit: int = 1
    ) -> list[Work]:
        found = await self._connection.run(_due_rows(self._clock, kinds, gone, limit, DUE_LOCKED))
        held = await self._hold([row.work_id for row in found], lease, gone)
        return sorted(held, key=lambda work: (work.due_at_ms, work.work_id))

    async def extend(self, work_ids: Sequence[str], lease: Lease) -> set[str]:
        if not work_ids:
            return set()
        values = {"these": list(work_ids), "owner_is": lease.owner, "until": lease.until_ms}
        return {row.work_id for row in await self._connection.execute(EXTEND, values)}

    async def finish(self, held: Work, result: JsonObject | None = None) -> bool:
        return await self._end(held, "done", result=result)

    async def fail(self, held: Work, error: ErrorValue) -> bool:
        return await self._end(held, "failed", error=error)

    async def bury(self, held: Work, error: ErrorValue) -> bool:
        return await self._end(held, "dead", error=error)

    async def put_off(self, held: Work, *, due_at_ms: int, error: ErrorValue) -> bool:
        return await self._give_back(held, due_at_ms=due_at_ms, error=error, more=0)

    async def let_go(self, held: Work, *, due_at_ms: int | None = None) -> bool:
        due = self._clock.now_ms() if due_at_ms is None else due_at_ms
        return await self._give_back(held, due_at_ms=due, error=held.error, more=1)

    async def cancel(self, work_id: str, error: ErrorValue | None = None) -> bool:
        values = {"this": spelled(work_id), "new_error": _packed_error(error), "now": self._clock.now_ms()}
        return bool((await self._connection.execute(CANCEL, values)).rowcount)

    async def revive(self, work_id: str) -> bool:
        values = {"this": spelled(work_id), "now": self._clock.now_ms()}
        return bool((await self._connection.execute(REVIVE, values)).rowcount)

    async def unfinished(
        self, kinds: Sequence[str], *, status: WorkStatus | None = None, after: str | None = None, limit: int = 100
    ) -> list[Work]:
        statuses = ["waiting", "running", "dead"] if status is None else [status]
        names: dict[str, Any] = {"kinds": list(kinds), "statuses": statuses, "limit": limit}
        if after is not None:
            names["this"] = spelled(after)
        return [_work(row) for row in await self._connection.execute(LISTED_AFTER if after else LISTED, names)]

    async def counts(self, kinds: Sequence[str]) -> list[WorkCount]:
        rows = await self._connection.execute(COUNTS, {"kinds": list(kinds)})
        return [
            WorkCount(kind=row.kind, status=row.status, count=row.count, oldest_due_at_ms=row.oldest) for row in rows
        ]

    async def ask_cut(self, work_id: str) -> bool:
        return bool((await self._connection.execute(ASK_CUT, {"this": spelled(work_id)})).rowcount)

    async def cuts_asked(self, owner: str) -> set[str]:
        return {row.work_id for row in await self._connection.execute(CUTS_ASKED, {"owner_is": owner})}

    async def abandon(self, kinds: Sequence[str], *, left_before_ms: int) -> int:
        values = {"kinds": list(kinds), "before": left_before_ms, "now": self._clock.now_ms()}
        return int((await self._connection.execute(ABANDON, values)).rowcount)

    async def forget(self, *, ended_before_ms: int, limit: int = 1000) -> int:
        rows = await self._connection.execute(LONG_ENDED, {"before": ended_before_ms, "limit": limit})
        these = [row.work_id for row in rows]
        if these:
            await self._connection.execute(FORGET, {"these": these})
        return len(these)

    async def _hold(self, work_ids: list[str], lease: Lease, gone: Sequence[str]) -> list[Work]:
        if not work_ids:
            return []
        values = {
            "these": work_ids,
            "gone": list(gone),
            "now": self._clock.now_ms(),
            "new_owner": spelled(lease.owner),
            "until": lease.until_ms,
        }
        return [_work(row) for row in await self._connection.execute(HOLD, values)]

    async def _end(
        self, held: Work, status: WorkStatus, *, result: JsonObject | None = None, error: ErrorValue | None = None
    ) -> bool:
        return await self._connection.run(end_work(self._clock, held, status, result=result, error=error))

    async def _give_back(self, held: Work, *, due_at_ms: int, error: ErrorValue | None, more: int) -> bool:
        values = {
            **_held(held),
            "new_due": due_at_ms,
            "new_error": _packed_error(error),
            "more": more,
            "now": self._clock.now_ms(),
        }
        return bool((await self._connection.execute(PUT_OFF, values)).rowcount)


def _due_rows(
    clock: Clock, kinds: Sequence[str], gone: Sequence[str], limit: int, queries: tuple[Executable, Executable]
) -> Steps[list[Any]]:
    """What waits and what was left behind, the oldest first."""
    names = {"kinds": list(kinds), "now": clock.now_ms(), "limit": limit}
    waiting = yield queries[0], names
    left_behind = yield queries[1], {**names, "gone": list(gone)}
    return sorted([*waiting, *left_behind], key=lambda row: (row.due_at_ms, row.work_id))[:limit]


def _first_due(clock: Clock, groups: Sequence[Sequence[str]], gone: Sequence[str]) -> Steps[list[Work | None]]:
    found: list[Work | None] = []
    for kinds in groups:
        rows = yield from _due_rows(clock, kinds, gone, 1, DUE_NOW)
        found.append(_work(rows[0]) if rows else None)
    return found


def begin_work(clock: Clock, new: NewWork) -> Steps[Work]:
    """Adds work, or answers the work that is there already."""
    work = new_row(new, clock.now_ms())
    row = {**vars(work), "input": pack("work_input", work.input), "cut_asked": 0}
    del row["is_damaged"]
    added = yield ADD, row
    return work if added.rowcount == 1 else (yield from _already_there(new))


def new_row(new: NewWork, now: int) -> Work:
    """Work as it stands when it was just begun."""
    return Work(
        work_id=spelled(new.work_id),
        kind=spelled(new.kind),
        key=spelled(new.key),
        subject=spelled(new.subject),
        input=new.input,
        status="waiting" if new.held is None else "running",
        owner="" if new.held is None else new.held.owner,
        lease_until_ms=0 if new.held is None else new.held.until_ms,
        attempt=0 if new.held is None else 1,
        let_go=0,
        due_at_ms=new.due_at_ms or now,
        trace_id=new.trace_id or new.work_id,
        created_at_ms=now,
        updated_at_ms=now,
    )


def _already_there(new: NewWork) -> Steps[Work]:
    row = (yield BY_KEY, {"kind": spelled(new.kind), "key": spelled(new.key)}).first() if new.key else None
    row = row or (yield GET, {"this": spelled(new.work_id)}).first()
    assert row is not None, "only work that is there can be in the way"
    return _work(row)


def end_work(
    clock: Clock, held: Work, status: WorkStatus, *, result: JsonObject | None = None, error: ErrorValue | None = None
) -> Steps[bool]:
    """Ends work for who holds it; False for anyone who no longer does."""
    values = {
        **_held(held),
        "new_status": status,
        "new_result": _packed("work_result", result),
        "new_error": _packed_error(error),
        "now": clock.now_ms(),
    }
    return bool((yield END, values).rowcount)


def _held(held: Work) -> dict[str, Any]:
    return {"this": held.work_id, "owner_is": held.owner, "attempt_is": held.attempt}


def _packed(shape: Shape, doc: JsonObject | None) -> str | None:
    return None if doc is None else pack(shape, doc)


def _packed_error(error: ErrorValue | None) -> str | None:
    return None if error is None else pack("error", error.as_json())


def _unpacked(shape: Shape, stored: str | None) -> JsonObject | None:
    return None if stored is None else unpack(shape, stored)


def _work(row: Any) -> Work:
    """Work as it is stored. What cannot be read is told of, not raised: it stands in lists beside what is whole."""
    fields = row._asdict()
    try:
        docs = _documents(fields)
    except StoreError as error:
        docs = _no_documents(fields, error)
    return Work(**{**fields, "cut_asked": bool(fields["cut_asked"]), **docs})


def _documents(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "input": unpack("work_input", fields["input"]),
        "result": _unpacked("work_result", fields["result"]),
        "error": None if fields["error"] is None else stored_error(unpack("error", fields["error"])),
    }


def _no_documents(fields: dict[str, Any], error: StoreError) -> dict[str, Any]:
    sentence = f"The work '{fields['work_id']}' ({fields['kind']}) cannot be done. {error.message}"
    # Work that is done answers with its result; without one it did not succeed.
    status = "failed" if fields["status"] == "done" else fields["status"]
    told = replace(error.value(), message=sentence)
    return {"input": {}, "result": None, "error": told, "status": status, "is_damaged": True}
