"""Show the audit: who tried to do what they may not, and what guardrails and the gate decided; keep it short.

A periodic job keeps the newest ten thousand entries, for ninety days. `actions/audit_notes` writes them.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.views import ListView, Paging, View, cursor_after, place_of
from fabula.ports.actors import Actor
from fabula.ports.audit import Why
from fabula.ports.errors import InvalidRequest

PAGE: Final = 100
KEPT: Final = 10_000
KEPT_MS: Final = 90 * 24 * 3600 * 1000


class ListAudit(Paging):
    """`about` is a caller's role or agent, a token, a tool or method, a play or a world; `since` is a time in
    milliseconds."""

    about: str | None = None
    since: int = Field(default=0, ge=0)


class ViolationView(View):
    """A refusal: who called (`caller` is a role or an agent), what for, about what, and why not."""

    optional = frozenset({"token_id"})
    type: Literal["violation"] = "violation"
    at_ms: int
    caller: str
    token_id: str | None = None
    what: str
    why: Why
    about: str
    sentence: str


class AuditListed(ListView):
    type: Literal["audit_listed"] = "audit_listed"
    violations: list[ViolationView]


@allowed("admin")
async def list_audit(house: House, actor: Actor, command: ListAudit) -> AuditListed:
    """Lists who tried to do what they may not, newest first."""
    limit, place = command.limit or PAGE, place_of("audit", command.cursor)
    if place is not None and not place.isdecimal():
        raise InvalidRequest("`cursor` names nothing in this list. Take the `next_cursor` of its last part.")
    before = None if place is None else int(place[:18])
    async with house.store.reading() as unit:
        found = await unit.audit.find(about=command.about, since_ms=command.since, before=before, limit=limit + 1)
    cursor = cursor_after("audit", str(found[limit - 1][0])) if len(found) > limit else None
    return AuditListed(violations=[ViolationView(**vars(one)) for _, one in found[:limit]], next_cursor=cursor)


async def prune_audit(house: House) -> int:
    """Forgets what is old, and the oldest beyond what is kept; answers how many that were."""
    before = house.clock.now_ms() - KEPT_MS
    return await house.store.write(lambda unit: unit.audit.prune(before_ms=before, keep=KEPT), durable=False)
