"""All durable work that is not done: turns, imports, sections of drafts, what follows turns. Look at it, or stop it."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.views import ListView
from fabula.actions.work_items import ListUnfinished, NameWork, WorkItem, item_of, unfinished
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, InvalidRequest, NotFound


class ListWork(ListUnfinished):
    """`state` keeps only what waits, runs, or is dead; `kind` only one kind of work."""

    kind: str | None = None


class WorkListed(ListView):
    type: Literal["work_listed"] = "work_listed"
    work: list[WorkItem]


@allowed("admin")
async def list_work(house: House, actor: Actor, command: ListWork) -> WorkListed:
    """Lists the work of all servers that is not done, oldest first; what was done is not listed."""
    kinds = house.work.kinds
    if command.kind is not None and command.kind not in kinds:
        raise InvalidRequest(f"There is no kind of work named '{command.kind[:100]}'.", kinds=list(kinds))
    work, cursor = await unfinished(house, kinds if command.kind is None else [command.kind], command, name="work")
    return WorkListed(work=work, next_cursor=cursor)


@allowed("admin")
async def cancel_work(house: House, actor: Actor, command: NameWork) -> WorkItem:
    """Ends work that waits or runs, on whichever server; a turn keeps its words, and can be tried again."""
    work = await house.store.read(lambda unit: unit.work.get(command.id))
    if work is None or work.kind not in house.work.kinds:
        raise NotFound(f"There is no work named '{command.id}', or it ended long ago.")
    if not await house.work.cancel(command.id):
        raise Conflict(f"'{command.id}' is {work.status}: only what waits or runs can be cancelled.", state=work.status)
    ended = await house.store.read(lambda unit: unit.work.get(command.id))
    return item_of(ended or work)
