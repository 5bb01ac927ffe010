"""Work on a draft: one piece at a time, taken up again by the same call after a crash.

Starting a draft, building a section and generating a whole story are kinds of work that nobody takes up unasked: an
author may want to edit, finish by hand or delete instead. The same call goes on with what was interrupted; sent again
after a failure, it goes on with the same draft. A section whose answers failed is asked for anew, one that was only
interrupted asks the same again: so each piece of work carries how often the answers for each section failed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fabula.actions.house import House
from fabula.actions.work.owners import is_dead
from fabula.actions.work.work_kind import taken_over
from fabula.ports.errors import Conflict
from fabula.ports.store import Unit
from fabula.ports.work import NewWork, Work
from fabula.story.values import JsonObject

DraftWorkKind = Literal["draft_start", "draft_section", "story_generation"]


@dataclass(frozen=True, kw_only=True)
class DraftWork:
    """Work on a draft that this process holds."""

    draft_id: str
    work: Work

    def attempt(self, section: int) -> int:
        """How often the answers for a section failed."""
        return _failed(self.work).get(str(section), 0)

    async def finish(self, unit: Unit, result: JsonObject) -> None:
        """The work is done, together with what the unit writes; refused when another goes on with it."""
        if not await unit.work.finish(self.work, result):
            raise taken_over(self.work)


async def take_up_command(
    house: House, unit: Unit, kind: DraftWorkKind, name: str, *, gone: Sequence[str], unless: str | None = None
) -> DraftWork:
    """The draft that the same command began and did not finish, if nobody works on it; else a new one.

    A draft named by `unless` is left alone.
    """
    newest = await _newest_of(unit, name)
    draft_id = None if newest is None else str(newest.input.get("draft_id"))
    if newest is None or draft_id is None or newest.status == "done" or _is_held(house, newest) or draft_id == unless:
        return await _begin(house, unit, kind, house.ids.new("draft"), subject=name, failed={})
    if newest.is_open:
        return DraftWork(draft_id=draft_id, work=await _hold(house, unit, newest, draft_id, gone))
    return await _begin(house, unit, kind, draft_id, subject=name, failed=_failed_so_far(newest))


async def take_up_section(
    house: House, unit: Unit, draft_id: str, section: int, *, made_at_ms: int, gone: Sequence[str]
) -> DraftWork:
    """Holds the draft's next section; Conflict while someone else works on the draft."""
    await refuse_busy(house, unit, draft_id)
    # A draft's name may come back after it was deleted; its time of making does not.
    key = f"{draft_id}:{section}:{made_at_ms}"
    newest = await unit.work.by_key("draft_section", key)
    if newest is not None and newest.is_open:
        return DraftWork(draft_id=draft_id, work=await _hold(house, unit, newest, draft_id, gone))
    generated = newest or await unit.work.by_key("story_generation", draft_id)
    failed = {} if generated is None else _failed_so_far(generated)
    return await _begin(house, unit, "draft_section", draft_id, subject=draft_id, failed=failed, key=key)


async def unfinished_draft(unit: Unit, name: str) -> str | None:
    """The draft that a command began and did not finish."""
    newest = await _newest_of(unit, name)
    return None if newest is None or newest.status == "done" else str(newest.input.get("draft_id"))


async def _newest_of(unit: Unit, name: str) -> Work | None:
    """What a command began last; None also where it cannot be read: nobody can tell which draft it was about."""
    newest = next(iter(await unit.work.of_subject(name, limit=1)), None)
    return None if newest is None or newest.is_damaged else newest


async def refuse_busy(house: House, unit: Unit, draft_id: str) -> None:
    """Raises Conflict while someone works on a draft."""
    if any(_is_held(house, work) for work in await _all_work(unit, draft_id)):
        raise _busy(draft_id)


async def cancel_work(unit: Unit, draft_id: str) -> list[str]:
    """The draft is no more, and neither is what was begun on it; answers which work that was."""
    found = [work.work_id for work in await _all_work(unit, draft_id)]
    return [work_id for work_id in found if await unit.work.cancel(work_id)]


def command_name(*parts: str | int) -> str:
    """The name under which a command's draft is found again: the same parts give the same name."""
    return f"draft_command:{hashlib.sha256(repr(parts).encode()).hexdigest()[:40]}"


async def _begin(
    house: House,
    unit: Unit,
    kind: DraftWorkKind,
    draft_id: str,
    *,
    subject: str,
    failed: dict[str, int],
    key: str = "",
) -> DraftWork:
    new = NewWork(
        work_id=house.ids.new("work"),
        kind=kind,
        key=key or draft_id,
        subject=subject,
        input={"draft_id": draft_id, "failed": dict(failed)},
        held=house.work.lease(),
    )
    work = await unit.work.begin(new)
    if work.work_id != new.work_id:
        raise _busy(draft_id)
    return DraftWork(draft_id=draft_id, work=work)


async def _hold(house: House, unit: Unit, work: Work, draft_id: str, gone: Sequence[str]) -> Work:
    held = await unit.work.hold(work.work_id, house.work.lease(), gone=gone)
    if held is None:
        raise _busy(draft_id)
    return held


async def _all_work(unit: Unit, draft_id: str) -> list[Work]:
    commands = [await unit.work.by_key(kind, draft_id) for kind in ("draft_start", "story_generation")]
    return [*await unit.work.of_subject(draft_id), *(work for work in commands if work is not None)]


def _is_held(house: House, work: Work) -> bool:
    alive = work.lease_until_ms > house.clock.now_ms() and not is_dead(work.owner, seen_by=house.owner)
    return work.status == "running" and alive


def _failed(work: Work) -> dict[str, int]:
    counted = work.input.get("failed")
    if not isinstance(counted, dict):
        return {}
    return {section: count for section, count in counted.items() if isinstance(count, int)}


def _failed_so_far(work: Work) -> dict[str, int]:
    """The failures that a piece of work began with, and the one with which it ended."""
    counted = _failed(work)
    section = None if work.error is None else work.error.data.get("section_index")
    return counted if section is None else {**counted, str(section): counted.get(str(section), 0) + 1}


def _busy(draft_id: str) -> Conflict:
    return Conflict(f"The story draft '{draft_id}' is being built right now. Wait for it.", draft_id=draft_id)
