"""Every kind of work that a house does, in one table."""

from __future__ import annotations

from fabula.actions.house import House
from fabula.actions.work.work_kind import WorkKind


def work_kinds(house: House) -> dict[str, WorkKind]:
    """The kinds by name."""
    return {}
