"""The outbox: what still follows turns, what was buried and why; try it again, or drop it."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.followers.dispatch import FOLLOWER_WORK
from fabula.actions.house import House
from fabula.actions.views import Command, ListView, Paging, View, cursor_after, place_of
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, NotFound, StoreError
from fabula.ports.store import Unit
from fabula.ports.work import Work, WorkCount

PAGE = 100


class ListOutbox(Paging):
    """`state` keeps only what waits, runs, or is dead: buried after all its tries failed."""

    state: Literal["waiting", "running", "dead"] | None = None


class NameOutboxItem(Command):
    id: str


class OutboxItem(View):
    """A piece of work that follows a turn. `error` says why its last try failed."""

    optional = frozenset({"error"})
    type: Literal["outbox_item"] = "outbox_item"
    id: str
    kind: str
    session_id: str
    turn_id: str
    state: str
    tries: int
    due_at_ms: int
    created_at_ms: int
    updated_at_ms: int
    error: str | None = None


class OutboxListed(ListView):
    type: Literal["outbox_listed"] = "outbox_listed"
    items: list[OutboxItem]


class OutboxDropped(View):
    type: Literal["outbox_dropped"] = "outbox_dropped"
    id: str


@allowed("admin")
async def list_outbox(house: House, actor: Actor, command: ListOutbox) -> OutboxListed:
    """Lists what follows turns and is not done, oldest first; what was done is not listed."""
    limit = command.limit or PAGE
    after = place_of("outbox", command.cursor)
    async with house.store.reading() as unit:
        found = await unit.work.unfinished(FOLLOWER_WORK, status=command.state, after=after, limit=limit + 1)
    cursor = cursor_after("outbox", found[limit - 1].work_id) if len(found) > limit else None
    return OutboxListed(items=[item_of(work) for work in found[:limit]], next_cursor=cursor)


@allowed("admin")
async def retry_outbox(house: House, actor: Actor, command: NameOutboxItem) -> OutboxItem:
    """Tries work again that was buried, as if it had never been tried."""
    async with house.store.writing() as unit:
        work = await _follower(unit, command.id)
        if not await unit.work.revive(work.work_id):
            raise Conflict(f"'{command.id}' is {work.status}: only what is dead can be tried again.", state=work.status)
        revived = await _follower(unit, command.id)
    house.work.announce(revived)
    return item_of(revived)


@allowed("admin")
async def drop_outbox(house: House, actor: Actor, command: NameOutboxItem) -> OutboxDropped:
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


def item_of(work: Work) -> OutboxItem:
    """Work as operators see it."""
    return OutboxItem(
        id=work.work_id,
        kind=work.kind,
        session_id=work.subject,
        turn_id=str(work.input.get("turn_id", "")),
        state=work.status,
        tries=work.tries,
        due_at_ms=work.due_at_ms,
        created_at_ms=work.created_at_ms,
        updated_at_ms=work.updated_at_ms,
        error=None if work.error is None else work.error.message,
    )
