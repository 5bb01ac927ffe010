"""All durable work that is not done: turns, imports, sections of drafts, what follows turns. Look at it, or stop it."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.views import Command, ListView, Paging, View, cursor_after, place_of
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, InvalidRequest, NotFound
from fabula.ports.work import Work

PAGE = 100


class ListWork(Paging):
    """`state` keeps only what waits, runs, or is dead; `kind` only one kind of work."""

    state: Literal["waiting", "running", "dead"] | None = None
    kind: str | None = None


class NameWork(Command):
    id: str


class WorkItem(View):
    """A piece of work. `subject` is what it is about, `owner` who holds it, `trace_id` the turn behind it, if any."""

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


class WorkListed(ListView):
    type: Literal["work_listed"] = "work_listed"
    work: list[WorkItem]


@allowed("admin")
async def list_work(house: House, actor: Actor, command: ListWork) -> WorkListed:
    """Lists the work of all servers that is not done, oldest first; what was done is not listed."""
    kinds = house.work.kinds
    if command.kind is not None and command.kind not in kinds:
        raise InvalidRequest(f"There is no kind of work named '{command.kind[:100]}'.", kinds=list(kinds))
    limit, after = command.limit or PAGE, place_of("work", command.cursor)
    async with house.store.reading() as unit:
        found = await unit.work.unfinished(
            kinds if command.kind is None else [command.kind], status=command.state, after=after, limit=limit + 1
        )
    cursor = cursor_after("work", found[limit - 1].work_id) if len(found) > limit else None
    return WorkListed(work=[_item(work) for work in found[:limit]], next_cursor=cursor)


@allowed("admin")
async def cancel_work(house: House, actor: Actor, command: NameWork) -> WorkItem:
    """Ends work that waits or runs, on whichever server; a turn keeps its words, and can be tried again."""
    work = await house.store.read(lambda unit: unit.work.get(command.id))
    if work is None or work.kind not in house.work.kinds:
        raise NotFound(f"There is no work named '{command.id}', or it ended long ago.")
    if not await house.work.cancel(command.id):
        raise Conflict(f"'{command.id}' is {work.status}: only what waits or runs can be cancelled.", state=work.status)
    ended = await house.store.read(lambda unit: unit.work.get(command.id))
    return _item(ended or work)


def _item(work: Work) -> WorkItem:
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
