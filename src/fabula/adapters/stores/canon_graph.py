"""The knowledge graph on both engines: the true rows of `canon_changes`, each question with a partial index of its own.

SQLite takes a partial index only where the query says its condition in the same words, so `_TRUE` stands in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, or_, select

from fabula.adapters.stores.canon import CANON_CHANGES, TRUE_NOW, change_row
from fabula.adapters.stores.tables import Access, portions, spelled, unpack
from fabula.ports.canon import ChangeRow
from fabula.ports.canon_graph import EDGE_KINDS, Edge, TimeSpan, TrueKind
from fabula.story.canon import EntityContent, Moment

_c = CANON_CHANGES.c
_WORLDS_OWN: Final = _c.session_id.is_(None)
_EDGE_COLUMNS = (_c.change_id, _c.kind, _c.subject, _c.predicate, _c.object, _c.strength, _c.begins_at, _c.ends_at)


class SqlGraph:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection

    async def edges(self, world_id: str, ends: Sequence[str], *, at: Moment | None = None, limit: int) -> list[Edge]:
        found: dict[str, Edge] = {}
        for some in portions(list(ends)):
            for end in (_c.subject, _c.object):
                query = _true(world_id, *_EDGE_COLUMNS).where(end.in_(some), _c.kind.in_(EDGE_KINDS), *_holds(at))
                rows = await self._connection.execute(query.limit(limit))
                found.update((row.change_id, _edge(row)) for row in rows)
        return sorted(found.values(), key=lambda edge: edge.change_id)[:limit]

    async def entities(self, world_id: str, ids: Sequence[str]) -> dict[str, EntityContent]:
        found: dict[str, EntityContent] = {}
        for some in portions(list(ids)):
            query = _true(world_id, _c.change_id, _c.subject, _c.doc).where(_c.kind == "entity", _c.subject.in_(some))
            # Sorted here: asked for an order, SQLite would read all entities in it instead of looking up these.
            for row in sorted(await self._connection.execute(query), key=lambda row: str(row.change_id)):
                content = unpack("canon_change", row.doc)["content"]
                found[row.subject] = EntityContent.model_validate(content)
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
        query = _true(world_id, CANON_CHANGES).where(_c.kind == kind, *_holds(at))
        if after is not None:
            query = query.where(_c.change_id > spelled(after))
        if end is None:
            rows = await self._connection.execute(query.order_by(_c.change_id).limit(limit))
            return [change_row(row) for row in rows]
        # Each side has an index in this order, so each ends by itself after so many; `OR` would sort all there are.
        found: dict[str, ChangeRow] = {}
        for side in (_c.subject, _c.object):
            part = query.where(side == spelled(end)).order_by(_c.change_id).limit(limit)
            found.update((row.change_id, change_row(row)) for row in await self._connection.execute(part))
        return [found[name] for name in sorted(found)][:limit]

    async def timeline(
        self, world_id: str, span: TimeSpan, *, after: tuple[Moment, str] | None = None, limit: int = 100
    ) -> list[ChangeRow]:
        query = _true(world_id, CANON_CHANGES).where(_c.begins_at.is_not(None), _c.kind.in_(EDGE_KINDS))
        if span.begins is not None:
            query = query.where(_c.begins_at >= span.begins)
        if span.ends is not None:
            query = query.where(_c.begins_at < span.ends)
        if after is not None:
            moment, name = after
            later = and_(_c.begins_at == moment, _c.change_id > spelled(name))
            query = query.where(_c.begins_at >= moment, or_(_c.begins_at > moment, later))
        rows = await self._connection.execute(query.order_by(_c.begins_at, _c.change_id).limit(limit))
        return [change_row(row) for row in rows]


def _true(world_id: str, *columns: Any) -> Select[Any]:
    return select(*columns).where(_c.world_id == spelled(world_id), TRUE_NOW, _WORLDS_OWN)


def _holds(at: Moment | None) -> tuple[ColumnElement[bool], ...]:
    if at is None:
        return ()
    return (or_(_c.begins_at.is_(None), _c.begins_at <= at), or_(_c.ends_at.is_(None), _c.ends_at > at))


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
