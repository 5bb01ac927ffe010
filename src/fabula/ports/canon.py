"""Canon in the store: every change that was ever proposed, and which of them are true now.

The layer of the world is seen by all; a play's own layer hangs on its turns, so that going back hides it with nothing
to undo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fabula.story.canon import Change, ChangeKind, ChangeStatus, Content, Decision, Verdict


@dataclass(frozen=True, kw_only=True)
class ChangeRow:
    """A change as it is kept. `version` counts the changes of its world that were committed, this one included; it is
    0 for one that never was. `replaced_by` names the change that took its place."""

    change: Change
    status: ChangeStatus
    verdict: Verdict | None = None
    decision: Decision | None = None
    version: int = 0
    replaced_by: str | None = None
    created_at_ms: int
    updated_at_ms: int

    @property
    def is_true(self) -> bool:
        """Whether it is part of canon now."""
        return self.status == "committed" and self.replaced_by is None


@dataclass(frozen=True, kw_only=True)
class ChangeQuestion:
    """Which changes are wanted. `about` is an entity that they are about, from either side."""

    world_id: str
    status: ChangeStatus | None = None
    kind: ChangeKind | None = None
    about: str | None = None
    session_id: str | None = None


class CanonTable(Protocol):
    """Law:

    - `propose` keeps a change as pending; an id that is there already is refused with Conflict.
    - `commit` makes changes true together and gives each the next version of its world, without a gap; what they
      replace is marked and stays. One that is no longer pending is refused with Conflict, and then none is committed.
    - `commit_new` keeps changes of one world that are true from the first moment, as `commit` would; they replace
      nothing. Of an id that is there already it is refused, and then none is kept.
    - `reject` and `note` write a verdict down; `note` leaves the change pending.
    - `reword` gives a change that is pending another content; any other is refused with Conflict.
    - `undo` takes a change out of canon, and what it had replaced is true again; of any other it answers False.
    - `find` is in the order in which changes were proposed, after the one that is named.
    - `true_now` answers what is true in a world's own layer, oldest version first; with a session also what hangs on
      its turns, whatever its line: who asks knows which turns count.
    - `since` answers what was committed or undone after a version, at most so many.
    - `touching` answers true facts, relationships and events that name one of these entities, the newest so many,
      oldest version first (of one version by id); with `entities` also what says who they are, before anything else is
      left out. Of changes that are very long together the newest are answered.
    - `saying` answers true facts and relationships with one of these predicates, at most so many.
    - `mergers` names the entities of a world that an entity with another id took the place of, and that one; the newest
      so many. Who is in canon by its own id again is not among them.
    - `version` is that of the last change that was committed; 0 in a world that has none.
    - Worlds do not see each other.
    """

    async def propose(self, change: Change) -> ChangeRow: ...

    async def get(self, change_id: str) -> ChangeRow | None: ...

    async def commit(self, verdicts: Sequence[tuple[str, Verdict]], decision: Decision) -> list[ChangeRow]: ...

    async def commit_new(self, judged: Sequence[tuple[Change, Verdict]], decision: Decision) -> None: ...

    async def reject(self, change_id: str, verdict: Verdict | None, decision: Decision) -> ChangeRow: ...

    async def reword(self, change_id: str, content: Content) -> None: ...

    async def note(self, change_id: str, verdict: Verdict) -> None: ...

    async def undo(self, change_id: str, decision: Decision) -> bool: ...

    async def find(self, asked: ChangeQuestion, *, after: str | None = None, limit: int = 100) -> list[ChangeRow]: ...

    async def true_now(
        self, world_id: str, *, session_id: str | None = None, kinds: Sequence[ChangeKind] = (), limit: int = 5000
    ) -> list[ChangeRow]: ...

    async def since(self, world_id: str, version: int, *, limit: int = 1000) -> list[ChangeRow]: ...

    async def touching(
        self, world_id: str, ids: Sequence[str], *, limit: int, entities: bool = False
    ) -> list[ChangeRow]: ...

    async def saying(self, world_id: str, predicates: Sequence[str], *, limit: int) -> list[ChangeRow]: ...

    async def mergers(self, world_id: str, *, limit: int) -> dict[str, str]: ...

    async def version(self, world_id: str) -> int: ...
