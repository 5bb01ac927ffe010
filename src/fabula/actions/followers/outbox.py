"""The outbox: what still follows turns, what was buried and why; try it again, or drop it."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.followers.dispatch import FOLLOWER_WORK
from fabula.actions.house import House
from fabula.actions.views import ListView, View
from fabula.actions.work_items import ListUnfinished, NameWork, WorkItem, item_of, unfinished
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, NotFound, StoreError
from fabula.ports.store import Unit
from fabula.ports.work import Work, WorkCount


class OutboxListed(ListView):
    type: Literal["outbox_listed"] = "outbox_listed"
    items: list[WorkItem]


class OutboxDropped(View):
    type: Literal["outbox_dropped"] = "outbox_dropped"
    id: str


@allowed("admin")
async def list_outbox(house: House, actor: Actor, command: ListUnfinished) -> OutboxListed:
    """Lists what follows turns and is not done, oldest first; what was done is not listed."""
    items, cursor = await unfinished(house, FOLLOWER_WORK, command, name="outbox")
    return OutboxListed(items=items, next_cursor=cursor)


@allowed("admin")
async def show_outbox(house: House, actor: Actor, command: NameWork) -> WorkItem:
    """One piece of work that follows a turn, whatever became of it."""
    return item_of(await house.store.read(lambda unit: _follower(unit, command.id)))


@allowed("admin")
async def retry_outbox(house: House, actor: Actor, command: NameWork) -> WorkItem:
    """Tries work again that was buried, as if it had never been tried."""
    async with house.store.writing() as unit:
        work = await _follower(unit, command.id)
        if not await unit.work.revive(work.work_id):
            raise Conflict(f"'{command.id}' is {work.status}: only what is dead can be tried again.", state=work.status)
        revived = await _follower(unit, command.id)
    house.work.announce(revived)
    return item_of(revived)


@allowed("admin")
async def drop_outbox(house: House, actor: Actor, command: NameWork) -> OutboxDropped:
    """Gives work up that waits or was buried; what the turn itself told stays as it is."""
    async with house.store.writing() as unit:
        work = await _follower(unit, command.id)
        if work.status == "dead":
            await unit.work.revive(work.work_id)
        if work.status == "running" or not await unit.work.cancel(work.work_id):
            raise Conflict(f"'{command.id}' is {work.status}: only what waits or is dead can be dropped.")
    return OutboxDropped(id=work.work_id)


async def follower_counts(house: House) -> list[WorkCount]:
    """How much work that follows turns is in each state; nothing while the store cannot be read."""
    try:
        return await house.store.read(lambda unit: unit.work.counts(FOLLOWER_WORK))
    except StoreError:
        return []


async def _follower(unit: Unit, id: str) -> Work:
    work = await unit.work.get(id)
    if work is None or work.kind not in FOLLOWER_WORK:
        raise NotFound(f"There is nothing named '{id}' in the outbox.")
    return work
