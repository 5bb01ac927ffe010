"""The canon of plays in the store: what a play proposes hangs on its turns, and so does what was decided about it.

A layer is what stands on one line of turns. Going back, or taking another branch, is reading another line: nothing is
undone, and a change that was decided on one branch is still open on another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fabula.ports.canon import ChangeRow
from fabula.story.canon import Change, ChangeStatus, Decision, Verdict
from fabula.story.plays import CanonReason

MOST_STAGED = 2000
"""So many of the last changes of a line are read at once."""


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """What a turn decided about a change that was staged at or above it."""

    change_id: str
    status: ChangeStatus
    verdict: Verdict | None = None
    decision: Decision


@dataclass(frozen=True, kw_only=True)
class CanonCommit:
    """That the canon keeper has done its work for a turn, and what came of it."""

    turn_id: str
    world_id: str
    why: CanonReason
    accepted: int = 0
    rejected: int = 0
    pending: int = 0
    committed_at_ms: int = 0


class CanonLayers(Protocol):
    """Law:

    - `stage` keeps changes that hang on a turn, in their order; one that is there already is left as it is. So does the
      commit of a turn with those that it names.
    - `at` answers the changes that were staged on the line which ends at a turn, oldest first, and no others: each with
      what was last decided about it on that line, and pending where nothing was. What a committed one of them replaces
      is marked as replaced. With `about` only those that name one of these entities at either end; of very many the
      last ones.
    - `replaced` names what of the world's own canon the committed changes on a line replace.
    - `commit` keeps rulings and the record of a turn together. Of a turn that has a record it answers False and changes
      nothing.
    - `get` finds a change by its id, on whatever line.
    - They go with the last play of their tree.
    """

    async def stage(self, changes: Sequence[Change]) -> None: ...

    async def get(self, change_id: str) -> Change | None: ...

    async def at(self, turn_id: str, *, about: Sequence[str] = (), limit: int = MOST_STAGED) -> list[ChangeRow]: ...

    async def replaced(self, turn_id: str) -> frozenset[str]: ...

    async def commit(self, record: CanonCommit, rulings: Sequence[Ruling]) -> bool: ...

    async def commit_of(self, turn_id: str) -> CanonCommit | None: ...
