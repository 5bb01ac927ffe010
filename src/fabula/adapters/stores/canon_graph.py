"""The knowledge graph on both engines: the true rows of `canon_changes`, each question with a partial index of its own.

SQLite takes a partial index only where the query says its condition in the same words, so `_TRUE` stands in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import isfinite
from typing import Any, Final, Literal

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    CompoundSelect,
    Executable,
    Select,
    and_,
    bindparam,
    literal_column,
    or_,
    select,
    union_all,
)

from fabula.adapters.stores.canon import CANON_CHANGES, TRUE_NOW, change_row
from fabula.adapters.stores.sql import Steps
from fabula.adapters.stores.tables import NUMBER, Access, portions, spelled, unpack
from fabula.adapters.stores.whole_rows import read_page
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
def edges_at(held: bool) -> CompoundSelect[Any]:
    """The edges that begin or end somewhere, so many of each: both in one statement, because each is a round trip."""
    return union_all(*(select(_edges_of(side, held).subquery()) for side in _SIDES))


def _edges_of(side: Literal["subject", "object"], held: bool) -> Select[Any]:
    ends = _c[side].in_(bindparam("ends", expanding=True))
    # As an expression, so that SQLite looks an end up once, and not once for each kind.
    kinds = (_c.kind + "").in_([literal_column(f"'{kind}'") for kind in EDGE_KINDS])
    return _true(*_EDGE_COLUMNS).where(ends, kinds, *_holds(held)).limit(bindparam("most"))


_ENTITY: Final = _c.kind == literal_column("'entity'")
_THESE: Final = _c.subject.in_(bindparam("ends", expanding=True))
NAMES = _true(_c.change_id, _c.subject, _c.entity_kind, _c.entity_name).where(_ENTITY, _THESE)
# Which ones is asked of the index of names: asked for documents of several ids, SQLite reads every change of the world.
_WHICH: Final = _true(_c.change_id).where(_ENTITY, _THESE).correlate(None)
CONTENTS = select(_c.change_id, _c.subject, _c.doc).where(_c.change_id.in_(_WHICH))


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
        return await self._connection.run(_read_edges(spelled(world_id), list(ends), at, limit))

    async def entities(self, world_id: str, ids: Sequence[str]) -> dict[str, EntityContent]:
        rows = await self._connection.run(_read_entities(CONTENTS, spelled(world_id), ids))
        contents = {subject: unpack("canon_change", doc)["content"] for _, subject, doc in rows}
        return {id: EntityContent.model_validate(content) for id, content in contents.items()}

    async def names(self, world_id: str, ids: Sequence[str]) -> dict[str, NodeName]:
        rows = await self._connection.run(_read_entities(NAMES, spelled(world_id), ids))
        return {subject: NodeName(kind=kind, name=name) for _, subject, kind, name in rows}

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
        asked: dict[str, Any] = {"world": spelled(world_id), "of_kind": kind, **_moment(at)}
        if after is not None:
            asked["after"] = spelled(after)
        if end is not None:
            asked["end"] = spelled(end)
        # Each side has an index in this order, so each ends by itself after so many; `OR` would sort all there are.
        found: dict[str, ChangeRow] = {}
        for side in _SIDES if end is not None else (None,):
            rows = await self._page(of_kind(side, at is not None, after is not None), asked, limit)
            found.update((row.change.change_id, row) for row in rows)
        return [found[name] for name in sorted(found)][:limit]

    async def timeline(
        self, world_id: str, span: TimeSpan, *, after: tuple[Moment, str] | None = None, limit: int = 100
    ) -> list[ChangeRow]:
        asked: dict[str, Any] = {"world": spelled(world_id)}
        asked |= {} if span.begins is None else {"begins": span.begins}
        asked |= {} if span.ends is None else {"ends": span.ends}
        asked |= {} if after is None else {"moment": after[0], "after": spelled(after[1])}
        query = moments(span.begins is not None, span.ends is not None, after is not None)
        return await self._page(query, asked, limit)

    async def _page(self, query: Executable, asked: dict[str, Any], limit: int) -> list[ChangeRow]:
        return await read_page(lambda most: self._connection.execute(query, {**asked, "most": most}), change_row, limit)


def _read_edges(world_id: str, ends: list[str], at: Moment | None, limit: int) -> Steps[list[Edge]]:
    found: dict[str, Edge] = {}
    for some in portions(ends):
        asked = {"world": world_id, "ends": some, "most": limit, **_moment(at)}
        rows = yield edges_at(at is not None), asked
        # Rows have the columns of an edge, in its order.
        edges = map(Edge._make, rows.plain)
        # A strength without end is damage: no answer could carry it.
        found.update((edge.change_id, edge) for edge in edges if edge.strength is None or isfinite(edge.strength))
    return [found[name] for name in sorted(found)][:limit]


def _read_entities(query: Select[Any], world_id: str, ids: Sequence[str]) -> Steps[list[Any]]:
    """Rows of entities, in the order of their changes: of an id that two have, the newer one counts."""
    found: list[Any] = []
    for some in portions(list(ids)):
        found += (yield query, {"world": world_id, "ends": some}).plain
    # Sorted here: asked for an order, SQLite would read all entities in it instead of looking up these.
    return sorted(found, key=lambda row: str(row[0]))


def _moment(at: Moment | None) -> dict[str, int]:
    return {} if at is None else {"at": at}
