"""Work as operators see it, and lists of what is not done: `work.*` and `outbox.*` show the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from fabula.actions.house import House
from fabula.actions.views import Command, Paging, View, cursor_after, place_of
from fabula.ports.work import Work

PAGE = 100


class ListUnfinished(Paging):
    """`state` keeps only what waits, runs, or is dead: buried after all its tries failed."""

    state: Literal["waiting", "running", "dead"] | None = None


class NameWork(Command):
    id: str


class WorkItem(View):
    """A piece of work. `subject` is what it is about (of a turn and of what follows it, the session), `owner` who holds
    it, `trace_id` the turn behind it, if any. `error` says why its last try failed."""

    optional = frozenset({"error"})
    type: Literal["work_item"] = "work_item"
    id: str
    kind: str
    subject: str
    trace_id: str
    state: str
    owner: str
    tries: int
    due_at_ms: int
    created_at_ms: int
    updated_at_ms: int
    error: str | None = None


async def unfinished(
    house: House, kinds: Sequence[str], command: ListUnfinished, *, name: str
) -> tuple[list[WorkItem], str | None]:
    """A page of what is not done, oldest first, and a cursor to the next one; `name` says whose cursors it takes."""
    limit, after = command.limit or PAGE, place_of(name, command.cursor)
    async with house.store.reading() as unit:
        found = await unit.work.unfinished(kinds, status=command.state, after=after, limit=limit + 1)
    cursor = cursor_after(name, found[limit - 1].work_id) if len(found) > limit else None
    return [item_of(work) for work in found[:limit]], cursor


def item_of(work: Work) -> WorkItem:
    return WorkItem(
        id=work.work_id,
        kind=work.kind,
        subject=work.subject,
        trace_id=work.trace_id,
        state=work.status,
        owner=work.owner,
        tries=work.tries,
        due_at_ms=work.due_at_ms,
        created_at_ms=work.created_at_ms,
        updated_at_ms=work.updated_at_ms,
        error=None if work.error is None else work.error.message,
    )
