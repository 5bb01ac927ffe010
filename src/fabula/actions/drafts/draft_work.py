"""Work on a draft: one piece at a time, taken up again after a crash.

A work slot says who builds a draft now and until when, and how often the answers for each of its sections failed: a
section whose answers failed is asked for anew, one that was only interrupted asks the same again. A start slot
remembers the draft that a command began, so that the same command, sent again after a failure, goes on with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from fabula.actions.house import House
from fabula.actions.work.owners import is_dead
from fabula.ports.errors import Conflict
from fabula.ports.store import Slot, Unit
from fabula.story.values import JsonObject

KEPT_MS = 7 * 24 * 3600 * 1000
LEASE_BEYOND_DEADLINE_S = 10


@dataclass(frozen=True, kw_only=True)
class Work:
    """A draft that is held; `attempts` counts the failed answers of each section."""

    draft_id: str
    work_id: str
    attempts: dict[str, int] = field(default_factory=dict)

    def attempt(self, section: int) -> int:
        return self.attempts.get(str(section), 0)


async def take_up(house: House, unit: Unit, draft_id: str, *, work_id: str | None = None) -> Work:
    """Holds a draft, or goes on holding it under the same `work_id`; Conflict while someone else works on it."""
    doc = await _doc(unit, draft_id)
    name = work_id or house.ids.new("work")
    if _held(house, doc) and doc.get("work_id") != name:
        raise busy(draft_id)
    work = Work(draft_id=draft_id, work_id=name, attempts=_attempts(doc))
    await _put(house, unit, work, owner=house.owner)
    return work


async def refuse_busy(house: House, unit: Unit, draft_id: str) -> None:
    """Raises Conflict while someone works on a draft."""
    if _held(house, await _doc(unit, draft_id)):
        raise busy(draft_id)


def busy(draft_id: str) -> Conflict:
    return Conflict(f"The story draft '{draft_id}' is being built right now. Wait for it.", draft_id=draft_id)


@asynccontextmanager
async def working(house: House, work: Work) -> AsyncIterator[None]:
    """Lets go of the draft when the block ends, however it ends."""
    try:
        yield
    finally:
        async with house.store.writing() as unit:
            await _let_go(house, unit, work)


async def _let_go(house: House, unit: Unit, work: Work) -> None:
    doc = await _doc(unit, work.draft_id)
    if doc.get("work_id") != work.work_id:
        return
    if attempts := _attempts(doc):
        await _put(house, unit, replace(work, attempts=attempts), owner="")
    else:
        await unit.slots.remove(_slot_id(work.draft_id))


async def count_failure(house: House, work: Work, section: int) -> None:
    """The answers for a section could not be used: next time it is asked for anew."""
    attempts = {**work.attempts, str(section): work.attempt(section) + 1}
    async with house.store.writing() as unit:
        await _put(house, unit, replace(work, attempts=attempts), owner=house.owner)
    await house.checkpoints.forget(thread_of(work.draft_id))


async def forget_work(unit: Unit, draft_id: str) -> None:
    """The draft is no more."""
    await unit.slots.remove(_slot_id(draft_id))


def thread_of(draft_id: str) -> str:
    """The thread of a draft's checkpoints."""
    return f"draft:{draft_id}"


def command_name(*parts: str | int) -> str:
    """The name under which a command's draft is found again: the same parts give the same name."""
    return f"draft_start:{hashlib.sha256(repr(parts).encode()).hexdigest()[:40]}"


async def draft_for(house: House, unit: Unit, name: str) -> str:
    """The draft that the same command began and did not finish, if nobody works on it; else a new one."""
    slot = await unit.slots.get(name)
    begun = None if slot is None else slot.doc.get("draft_id")
    if isinstance(begun, str) and not _held(house, await _doc(unit, begun)):
        return begun
    draft_id = house.ids.new("draft")
    expires = house.clock.now_ms() + KEPT_MS
    doc: JsonObject = {"draft_id": draft_id}
    await unit.slots.put(Slot(slot_id=name, purpose="draft_start", blob=None, doc=doc, expires_at_ms=expires))
    return draft_id


async def command_done(unit: Unit, name: str, draft_id: str) -> None:
    """The command has its answer: sent again, it begins a draft of its own."""
    slot = await unit.slots.get(name)
    if slot is not None and slot.doc.get("draft_id") == draft_id:
        await unit.slots.remove(name)


def _slot_id(draft_id: str) -> str:
    return f"draft_work:{draft_id}"


async def _doc(unit: Unit, draft_id: str) -> JsonObject:
    slot = await unit.slots.get(_slot_id(draft_id))
    return {} if slot is None else slot.doc


def _held(house: House, doc: JsonObject) -> bool:
    owner, until = doc.get("owner"), doc.get("until_ms")
    if not isinstance(owner, str) or not owner or not isinstance(until, int):
        return False
    return until > house.clock.now_ms() and not is_dead(owner, seen_by=house.owner)


def _attempts(doc: JsonObject) -> dict[str, int]:
    counted = doc.get("attempts")
    if not isinstance(counted, dict):
        return {}
    return {section: count for section, count in counted.items() if isinstance(count, int)}


async def _put(house: House, unit: Unit, work: Work, *, owner: str) -> None:
    now = house.clock.now_ms()
    lease_ms = round((house.settings.section_deadline_s + LEASE_BEYOND_DEADLINE_S) * 1000)
    doc: JsonObject = {
        "owner": owner,
        "work_id": work.work_id,
        "until_ms": now + lease_ms,
        "attempts": dict(work.attempts),
    }
    slot = Slot(slot_id=_slot_id(work.draft_id), purpose="draft_work", blob=None, doc=doc, expires_at_ms=now + KEPT_MS)
    await unit.slots.put(slot)
