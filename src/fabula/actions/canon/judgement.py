"""What the policy of a world makes of the changes of a play, held against what is true on its line."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.plays.play_states import state_at
from fabula.actions.setups.seen_canon import as_read, canon_to_judge, merged_in
from fabula.canon.merge import explained
from fabula.canon.policy import Known, review
from fabula.ports.canon import ChangeRow
from fabula.ports.canon_layers import Ruling
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.boundaries import limits_of
from fabula.story.canon import Change, ChangeStatus, Decision, Result, Verdict
from fabula.story.worlds import World

MOST_OPEN = 200
"""So many open changes of a line are judged at once, the newest first."""
SMALL_CANON = 200
STATUS: dict[Result, ChangeStatus] = {"accept": "committed", "reject": "rejected", "pending": "pending"}


async def judge_open(
    unit: Unit, world: World, turn_id: str, decision: Decision, *, mentions: dict[str, int] | None = None
) -> tuple[list[Ruling], dict[str, int]]:
    """What the policy of the world makes of all that is open on the line to a turn: rulings, and how many of each.

    A change that waits for a human already, and still does, is not ruled upon again.
    """
    rows = await unit.canon_layers.at(turn_id, only_open=True, limit=MOST_OPEN)
    judged = await judge_rows(unit, world, turn_id, rows, mentions=mentions)
    tally = {"accepted": 0, "rejected": 0, "pending": 0}
    rulings = []
    for row, verdict in judged:
        tally[_TALLY[verdict.result]] += 1
        if verdict.result == "pending" and row.verdict is not None:
            continue
        reason = decision.reason if verdict.result == "accept" else verdict.sentence[:2000]
        rulings.append(
            Ruling(
                change_id=row.change.change_id,
                status=STATUS[verdict.result],
                verdict=verdict,
                decision=decision.model_copy(update={"reason": reason}),
            )
        )
    return rulings, tally


_TALLY: dict[Result, str] = {"accept": "accepted", "reject": "rejected", "pending": "pending"}


async def judge_rows(
    unit: Unit, world: World, turn_id: str, rows: Sequence[ChangeRow], *, mentions: dict[str, int] | None = None
) -> list[tuple[ChangeRow, Verdict]]:
    """The verdicts on changes of a play, held against what is true on the line to a turn."""
    left_of = await merged_in(unit, world.world_id)
    changes = await as_read(unit, world.world_id, [row.change for row in rows], left_of)
    used = frozenset(_subject(change) for change in changes if any(one.type == "roll" for one in change.evidence))
    canon = await canon_to_judge(unit, world.world_id, turn_id, changes) if changes else []
    limits = limits_of(world.session_zero, (await state_at(unit, turn_id)).session_zero) if changes else None
    known = Known(canon=canon, mentions=mentions or {}, used=used, limits=limits)
    by_id = {row.change.change_id: row for row in rows}
    # Much of it is judged beside the event loop.
    few = len(canon) + len(changes) <= SMALL_CANON
    judged = review(changes, world.policy, known) if few else await run_in_thread(review, changes, world.policy, known)
    return [
        (row := by_id[change.change_id], explained(verdict, row.change, change, left_of)) for change, verdict in judged
    ]


def _subject(change: Change) -> str:
    return str(getattr(change.content, "subject", ""))
