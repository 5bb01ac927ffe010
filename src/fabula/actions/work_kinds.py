"""Every kind of work that a house does, in one table."""

from __future__ import annotations

from functools import partial

from fabula.actions.building.build_world import building_kinds
from fabula.actions.conversations.close_conversation import conversation_kinds
from fabula.actions.drafts.build_story import draft_kinds
from fabula.actions.followers.dispatch import follower_kinds
from fabula.actions.house import House
from fabula.actions.library.packages import import_kinds
from fabula.actions.periodic_jobs import periodic_jobs
from fabula.actions.tools.agent_scenes import AgentScenes
from fabula.actions.turns.turn_runner import turn_kinds
from fabula.actions.work.periodic import periodic_kind
from fabula.actions.work.work_kind import WorkKind


def work_kinds(house: House) -> dict[str, WorkKind]:
    """The kinds by name."""
    periodic = {job.kind: periodic_kind(job) for job in periodic_jobs(house)}
    return {
        **turn_kinds(house),
        **draft_kinds(house),
        **import_kinds(house),
        **building_kinds(house),
        **conversation_kinds(house),
        **follower_kinds(house, partial(AgentScenes, house)),
        **periodic,
    }
