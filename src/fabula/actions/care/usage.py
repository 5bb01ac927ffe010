"""Usage: every model call with its cost, of a session, a story or a draft, or of everyone."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.actions.repositories import DRAFTS
from fabula.actions.views import UNKNOWN_CURSOR, Command, ListView, cursor_after, place_of
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.models import CallRecord, CallTotals
from fabula.ports.store import Unit
from fabula.story.values import Value

MOST_CALLS = 500
LIST = "call"


class ListUsage(Command):
    """Calls that were made for a draft are found under its id as `story_id`."""

    session_id: str | None = None
    story_id: str | None = None
    limit: int | None = Field(default=None, ge=1, le=1000)
    cursor: str | None = None


class CallView(Value):
    """One call. `memo_hit` means that the answer was known already and cost nothing."""

    number: int
    agent: str
    session_id: str | None
    story_id: str | None
    turn_id: str | None
    model: str
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    latency_ms: int
    first_piece_ms: int | None
    memo_hit: bool
    outcome: str
    error: str | None
    recorded_at_ms: int


class Totals(Value):
    """All calls that were asked for added up, not only those of this page."""

    calls: int
    failed: int
    memo_hits: int
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class UsageListed(ListView):
    type: Literal["usage_listed"] = "usage_listed"
    calls: list[CallView]
    totals: Totals


@allowed("player")
async def list_usage(house: House, actor: Actor, command: ListUsage) -> UsageListed:
    """Lists model calls with their tokens and times, oldest first, and adds them up.

    Who is no admin names a session of theirs, or as an author a draft.
    """
    limit, after = command.limit or MOST_CALLS, _number(command.cursor)
    wanted = {"session_id": command.session_id or None, "story_id": command.story_id or None}
    await house.models.settle()
    async with house.store.reading() as unit:
        await _check_reach(unit, actor, **wanted)
        rows = await unit.calls.page(**wanted, after=after, limit=limit + 1)
        totals = await unit.calls.totals(**wanted)
    shown = rows[:limit]
    cursor = cursor_after(LIST, str(shown[-1][0])) if len(rows) > limit else None
    return UsageListed(calls=[_view(*row) for row in shown], totals=totals_view(totals), next_cursor=cursor)


async def _check_reach(unit: Unit, actor: Actor, *, session_id: str | None, story_id: str | None) -> None:
    if session_id is not None:
        await play_of(unit, actor, session_id)
    elif not (story_id and actor.may_act_as("author") and await DRAFTS.find(unit, story_id)):
        actor.must_be("admin", "The usage of everybody")


def _number(cursor: str | None) -> int:
    if cursor is None:
        return 0
    number = place_of(LIST, cursor) or ""
    if not number.isdecimal() or len(number) > 18:
        raise InvalidRequest(UNKNOWN_CURSOR)
    return int(number)


def _view(number: int, record: CallRecord) -> CallView:
    origin, usage = record.origin, record.usage
    return CallView(
        number=number,
        agent=origin.agent,
        session_id=origin.session_id,
        story_id=origin.story_id,
        turn_id=origin.turn_id,
        model=record.model,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        total_tokens=usage.total_tokens,
        latency_ms=record.latency_ms,
        first_piece_ms=record.first_piece_ms,
        memo_hit=record.memo_hit,
        outcome=record.outcome,
        error=record.error,
        recorded_at_ms=record.recorded_at_ms,
    )


def totals_view(totals: CallTotals) -> Totals:
    """What calls add up to, as callers see it."""
    return Totals(**vars(totals), total_tokens=totals.prompt_tokens + totals.completion_tokens)
