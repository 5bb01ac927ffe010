"""Usage added up: what model calls cost, by day, model, role, session or story."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.care.usage import Totals, totals_view
from fabula.actions.house import House
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.models import CallGroup, CallTotals

MOST_ROWS = 1000
LATEST_MS = 2**53 - 1
"""The largest number that every client reads as it is."""


class SumUpUsage(Command):
    """`from_ms` is the first moment that counts, `to_ms` the first that does not; without them, all calls do."""

    by: CallGroup
    from_ms: int = Field(default=0, ge=0, le=LATEST_MS)
    to_ms: int = Field(default=LATEST_MS, ge=0, le=LATEST_MS)


class UsageRow(Totals):
    """The calls of one day (as `2026-11-17`, of UTC), model, role, session or story; "" is what belongs to none."""

    name: str


class UsageSummary(View):
    """`totals` are all calls of that time, also where `rows` are only those that cost most."""

    type: Literal["usage_summary"] = "usage_summary"
    may_be_large = True
    by: CallGroup
    rows: list[UsageRow]
    totals: Totals


@allowed("admin")
async def sum_up_usage(house: House, actor: Actor, command: SumUpUsage) -> UsageSummary:
    """Adds model calls up by day, model, role, session or story: the newest days, or else what cost most, first."""
    if command.from_ms >= command.to_ms:
        raise InvalidRequest("`from_ms` must be before `to_ms`.")
    await house.models.settle()
    async with house.store.reading() as unit:
        totals, rows = await unit.calls.grouped(
            command.by, from_ms=command.from_ms, to_ms=command.to_ms, limit=MOST_ROWS
        )
    return UsageSummary(
        by=command.by, rows=[_row(command.by, name, one) for name, one in rows], totals=totals_view(totals)
    )


def _row(by: CallGroup, name: str, totals: CallTotals) -> UsageRow:
    shown = datetime.fromtimestamp(int(name) / 1000, UTC).strftime("%Y-%m-%d") if by == "day" else name
    return UsageRow(name=shown, **dict(totals_view(totals)))
