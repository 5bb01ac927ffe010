"""Every periodic job of a house, in one table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from fabula.actions.care.audit import prune_audit
from fabula.actions.care.prune_traces import prune_traces
from fabula.actions.followers.catch_up import catch_up_summaries
from fabula.actions.followers.consolidation import begin_consolidations
from fabula.actions.followers.lore_bundles import prune_lore_bundles, refresh_lore
from fabula.actions.house import House
from fabula.actions.memories.embed_memories import embed_memories
from fabula.actions.work.periodic import PeriodicJob
from fabula.actions.work.work_kind import HeldWork
from fabula.story.values import JsonObject

MINUTE, HOUR = 60, 3600


def periodic_jobs(house: House) -> list[PeriodicJob]:
    """The jobs; a new one is a row here."""
    return [
        PeriodicJob(
            kind="prune.work",
            every_s=10 * MINUTE,
            does="forgets work that ended more than a week ago",
            run=_counted(house.work.forget_old),
        ),
        PeriodicJob(
            kind="prune.checkpoints",
            every_s=HOUR,
            does="removes checkpoints of loops whose work has ended",
            run=_counted(house.work.sweep_checkpoints),
        ),
        PeriodicJob(
            kind="prune.traces",
            every_s=10 * MINUTE,
            does="removes what is kept of turns that are older than the setting `trace_days` says",
            run=_counted(partial(prune_traces, house)),
        ),
        PeriodicJob(
            kind="lore.refresh",
            every_s=HOUR,
            does="prepares the lore of large stories that was changed, of the plays that changed last",
            run=_counted(partial(refresh_lore, house)),
        ),
        PeriodicJob(
            kind="prune.lore_bundles",
            every_s=HOUR,
            does="removes lore that was prepared long ago; it is prepared again when it is needed",
            run=_counted(partial(prune_lore_bundles, house)),
        ),
        PeriodicJob(
            kind="prune.audit",
            every_s=HOUR,
            does="forgets refusals that are older than ninety days, and the oldest beyond ten thousand",
            run=_counted(partial(prune_audit, house)),
        ),
        PeriodicJob(
            kind="memory.embed",
            every_s=10 * MINUTE,
            does="makes the vectors of memories that have none, or those of another embedder",
            run=partial(embed_memories, house),
        ),
        PeriodicJob(
            kind="summary.catch_up",
            every_s=HOUR,
            does="has those of the plays that changed last summed up whose summaries were left behind",
            run=_counted(partial(catch_up_summaries, house)),
        ),
        PeriodicJob(
            kind="memory.look_after",
            every_s=HOUR,
            does="has what is remembered in the plays that changed last consolidated, and lets it fade",
            run=_counted(partial(begin_consolidations, house)),
        ),
    ]


def _counted(chore: Callable[[], Awaitable[int]]) -> Callable[[HeldWork], Awaitable[JsonObject | None]]:
    async def run(held: HeldWork) -> JsonObject | None:
        return {"count": await chore()}

    return run
