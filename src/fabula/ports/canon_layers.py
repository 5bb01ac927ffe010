"""The canon of plays in the store: what a play proposes hangs on its turns, and so does what was decided about it.

A layer is what stands on one line of turns. Going back, or taking another branch, is reading another line: nothing is
undone, and a change that was decided on one branch is still open on another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fabula.ports.canon import ChangeRow
from fabula.story.canon import Change, ChangeKind, ChangeStatus, Decision, Verdict
from fabula.story.plays import CanonReason


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
      what was last decided about it on that line, and pending where nothing was. What a committed one replaces is
      marked as replaced, also where that one is not asked for. With `about` only those that name one of these entities
      at either end, with `kind` those of a kind, with `only_open` those that are pending; with a limit the last ones,
      of those that are very long together fewer. Without one none is missing, however long the line is and however
      many other branches the play has.
    - `find` answers one of them; None for a change that was staged on another line, or never.
    - `replaced` names what the committed changes on a line replace, of the world's own canon too, and by which.
    - `commit` keeps rulings and the record of a turn together. Of a turn that has a record it answers False and changes
      nothing.
    - `get` finds a change by its id, on whatever line.
    - They go with the last play of their tree.
    """

    async def stage(self, changes: Sequence[Change]) -> None: ...

    async def get(self, change_id: str) -> Change | None: ...

    async def at(
        self,
        turn_id: str,
        *,
        about: Sequence[str] = (),
        kind: ChangeKind | None = None,
        only_open: bool = False,
        limit: int | None = None,
    ) -> list[ChangeRow]: ...

    async def find(self, turn_id: str, change_id: str) -> ChangeRow | None: ...

    async def replaced(self, turn_id: str) -> Mapping[str, str]: ...

    async def commit(self, record: CanonCommit, rulings: Sequence[Ruling]) -> bool: ...

    async def commit_of(self, turn_id: str) -> CanonCommit | None: ...
