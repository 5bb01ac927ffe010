"""The knowledge graph on both engines: the true rows of `canon_changes`, each question with a partial index of its own.

SQLite takes a partial index only where the query says its condition in the same words, so `_TRUE` stands in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, Literal

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, literal_column, or_, select

from fabula.adapters.stores.canon import CANON_CHANGES, TRUE_NOW, change_row
from fabula.adapters.stores.tables import NUMBER, Access, portions, spelled, unpack
from fabula.ports.canon import ChangeRow
from fabula.ports.canon_graph import EDGE_KINDS, Edge, NodeName, TimeSpan, TrueKind
from fabula.story.canon import EntityContent, Moment

_c = CANON_CHANGES.c
_WORLDS_OWN: Final = _c.session_id.is_(None)
_EDGE_COLUMNS = (_c.change_id, _c.kind, _c.subject, _c.predicate, _c.object, _c.strength, _c.begins_at, _c.ends_at)
_SIDES: Final[tuple[Literal["subject", "object"], ...]] = ("subject", "object")


def _true(*columns: Any) -> Select[Any]:
    return select(*columns).where(_c.world_id == bindparam("world"), TRUE_NOW, _WORLDS_OWN)


def _holds(held: bool) -> tuple[ColumnElement[bool], ...]:
    if not held:
        return ()
    at: BindParameter[int] = bindparam("at", type_=NUMBER)
    return (or_(_c.begins_at.is_(None), _c.begins_at <= at), or_(_c.ends_at.is_(None), _c.ends_at > at))


# Each statement is made once: one that is made anew for every question is compiled anew, and crowds out others.
@cache
def edges_at(side: Literal["subject", "object"], held: bool) -> Select[Any]:
    ends = _c[side].in_(bindparam("ends", expanding=True))
    kinds = _c.kind.in_([literal_column(f"'{kind}'") for kind in EDGE_KINDS])
    return _true(*_EDGE_COLUMNS).where(ends, kinds, *_holds(held)).limit(bindparam("most"))


CONTENTS = _true(_c.change_id, _c.subject, _c.doc).where(
    _c.kind == literal_column("'entity'"), _c.subject.in_(bindparam("ends", expanding=True))
)


@cache
def of_kind(side: Literal["subject", "object"] | None, held: bool, goes_on: bool) -> Select[Any]:
    query = _true(CANON_CHANGES).where(_c.kind == bindparam("of_kind"), *_holds(held))
    if goes_on:
        query = query.where(_c.change_id > bindparam("after"))
    if side is not None:
        query = query.where(_c[side] == bindparam("end"))
    return query.order_by(_c.change_id).limit(bindparam("most"))


@cache
def moments(begins: bool, ends: bool, goes_on: bool) -> Select[Any]:
    kinds = _c.kind.in_([literal_column(f"'{kind}'") for kind in EDGE_KINDS])
    query = _true(CANON_CHANGES).where(_c.begins_at.is_not(None), kinds)
    if begins:
        query = query.where(_c.begins_at >= bindparam("begins"))
    if ends:
        query = query.where(_c.begins_at < bindparam("ends"))
    if goes_on:
        later = and_(_c.begins_at == bindparam("moment"), _c.change_id > bindparam("after"))
        beyond = or_(_c.begins_at > bindparam("moment"), later)
        query = query.where(_c.begins_at >= bindparam("moment"), beyond)
    return query.order_by(_c.begins_at, _c.change_id).limit(bindparam("most"))


class SqlGraph:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection

    async def edges(self, world_id: str, ends: Sequence[str], *, at: Moment | None = None, limit: int) -> list[Edge]:
        found: dict[str, Edge] = {}
        for some in portions(list(ends)):
            for side in _SIDES:
                asked = {"world": spelled(world_id), "ends": some, "most": limit, **_moment(at)}
                rows = await self._connection.execute(edges_at(side, at is not None), asked)
                found.update((row.change_id, _edge(row)) for row in rows)
        return sorted(found.values(), key=lambda edge: edge.change_id)[:limit]

    async def entities(self, world_id: str, ids: Sequence[str]) -> dict[str, EntityContent]:
        found = await self._contents(world_id, ids)
        return {id: EntityContent.model_validate(content) for id, content in found.items()}

    async def names(self, world_id: str, ids: Sequence[str]) -> dict[str, NodeName]:
        found = await self._contents(world_id, ids)
        # Hundreds of them: what was checked when it was proposed is not checked again for two words.
        return {id: NodeName(kind=one["entity_kind"], name=one["name"]) for id, one in found.items()}

    async def _contents(self, world_id: str, ids: Sequence[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for some in portions(list(ids)):
            rows = await self._connection.execute(CONTENTS, {"world": spelled(world_id), "ends": some})
            # Sorted here: asked for an order, SQLite would read all entities in it instead of looking up these.
            for row in sorted(rows, key=lambda row: str(row.change_id)):
                found[row.subject] = unpack("canon_change", row.doc)["content"]
        return found

    async def about(
        self,
        world_id: str,
        kind: TrueKind,
        *,
        end: str | None = None,
        at: Moment | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> list[ChangeRow]:
        asked: dict[str, Any] = {"world": spelled(world_id), "of_kind": kind, "most": limit, **_moment(at)}
        if after is not None:
            asked["after"] = spelled(after)
        if end is not None:
            asked["end"] = spelled(end)
        # Each side has an index in this order, so each ends by itself after so many; `OR` would sort all there are.
        found: dict[str, ChangeRow] = {}
        for side in _SIDES if end is not None else (None,):
            rows = await self._connection.execute(of_kind(side, at is not None, after is not None), asked)
            found.update((row.change_id, change_row(row)) for row in rows)
        return [found[name] for name in sorted(found)][:limit]

    async def timeline(
        self, world_id: str, span: TimeSpan, *, after: tuple[Moment, str] | None = None, limit: int = 100
    ) -> list[ChangeRow]:
        asked: dict[str, Any] = {"world": spelled(world_id), "most": limit}
        asked |= {} if span.begins is None else {"begins": span.begins}
        asked |= {} if span.ends is None else {"ends": span.ends}
        asked |= {} if after is None else {"moment": after[0], "after": spelled(after[1])}
        query = moments(span.begins is not None, span.ends is not None, after is not None)
        return [change_row(row) for row in await self._connection.execute(query, asked)]


def _moment(at: Moment | None) -> dict[str, int]:
    return {} if at is None else {"at": at}


def _edge(row: Any) -> Edge:
    return Edge(
        change_id=row.change_id,
        kind=row.kind,
        subject=row.subject,
        predicate=row.predicate,
        object=row.object,
        strength=row.strength,
        begins=row.begins_at,
        ends=row.ends_at,
    )
