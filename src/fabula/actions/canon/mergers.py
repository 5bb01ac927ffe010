"""What a merger of two entities made together, and what keeps it from being undone."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.canon.contradictions import said
from fabula.ports.canon import ChangeRow
from fabula.ports.canon_graph import EDGE_KINDS, TrueKind
from fabula.ports.store import Unit
from fabula.story.canon import EntityContent

MOST_MOVED = 500
"""So many facts, relationships and events one merger moves at most."""
PAGE = 500
MOST_NAMED = 5
_KINDS: tuple[TrueKind, ...] = ("entity", *EDGE_KINDS)


async def made_by_merger(unit: Unit, row: ChangeRow) -> list[ChangeRow]:
    """The changes that became true with a merger: the entity that is left, then what was moved. None for any other."""
    if row.status != "committed" or not await _is_merger(unit, row):
        return []
    found = [row]
    for other in await unit.canon.since(row.change.world_id, row.version, limit=MOST_MOVED):
        # A merger writes its entity first, so the next entity belongs to something else.
        if isinstance(other.change.content, EntityContent):
            break
        if other.status == "committed" and other.decision == row.decision:
            found.append(other)
    return found


async def _is_merger(unit: Unit, row: ChangeRow) -> bool:
    content = row.change.content
    if not isinstance(content, EntityContent) or row.verdict is None:
        return False
    olds = [await unit.canon.get(id) for id in row.verdict.retcons]
    ids = {old.change.content.entity_id for old in olds if old and isinstance(old.change.content, EntityContent)}
    return bool(ids - {content.entity_id})


async def depending_on(unit: Unit, together: Sequence[ChangeRow]) -> str | None:
    """Why a merger cannot be undone: what became true since is about the entity that is left, or took the place of
    what was moved."""
    merger, names = together[0], {row.change.change_id for row in together}
    left = merger.change.content
    if not isinstance(left, EntityContent):
        return None
    later = {id: await unit.canon.get(id) for id in dict.fromkeys(row.replaced_by for row in together) if id}
    for kind in _KINDS:
        after, is_more = None, True
        while is_more and len(later) <= MOST_NAMED:
            rows = await unit.graph.about(merger.change.world_id, kind, end=left.entity_id, after=after, limit=PAGE)
            since = (row for row in rows if row.version > merger.version and row.change.change_id not in names)
            later.update((row.change.change_id, row) for row in since)
            is_more = len(rows) == PAGE
            after = rows[-1].change.change_id if rows else None
    if not later:
        return None
    told = [f"'{said(row.change.content)}' ({id})" for id, row in later.items() if row is not None]
    more = " and more" if len(told) > MOST_NAMED else ""
    return (
        f"what became true since depends on '{left.entity_id}': {', '.join(told[:MOST_NAMED])}{more}. Undo that first."
    )
