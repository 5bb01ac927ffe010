"""Work: what must be done once it was promised, whoever dies meanwhile.

A piece of work is a row that stands in the transaction that causes it. One process at a time holds it, for as long as
it renews a short lease; what a dead process held is given out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from fabula.story.error_values import ErrorValue
from fabula.story.values import JsonObject

WorkStatus = Literal["waiting", "running", "done", "failed", "dead", "cancelled"]
OPEN: frozenset[WorkStatus] = frozenset({"waiting", "running"})
QueueName = Literal["realtime", "background", "heavy"]
"""Who waits for work: somebody now (realtime), the next turns (background), or nobody soon (heavy)."""
QUEUES: tuple[QueueName, ...] = ("realtime", "background", "heavy")


@dataclass(frozen=True, kw_only=True)
class Work:
    """A piece of work. `subject` names what it is about, `trace_id` what caused it.

    `attempt` counts how often it was held, and never falls: owner and attempt together tell a holder from an earlier
    one. `let_go` counts the attempts that were given back in good order, which no limit counts.
    `cut_asked`: somebody wants it to end early, with what was done so far.
    `is_damaged`: what is stored of it cannot be read, and `error` says so. It cannot be done, but it can be ended.
    """

    work_id: str
    kind: str
    key: str
    subject: str
    input: JsonObject
    status: WorkStatus
    owner: str
    lease_until_ms: int
    attempt: int
    let_go: int
    due_at_ms: int
    trace_id: str
    cut_asked: bool = False
    is_damaged: bool = False
    result: JsonObject | None = None
    error: ErrorValue | None = None
    created_at_ms: int
    updated_at_ms: int

    @property
    def is_open(self) -> bool:
        """Whether it still waits or runs."""
        return self.status in OPEN

    @property
    def tries(self) -> int:
        """The attempts that count against a limit."""
        return self.attempt - self.let_go

    @property
    def stream(self) -> str:
        """The name of its events on the bus. Work that was taken up again is told anew, from its first event."""
        return self.work_id if self.attempt <= 1 else f"{self.work_id}~{self.attempt}"


@dataclass(frozen=True, kw_only=True)
class Lease:
    """Who holds work, and until when unless it is extended."""

    owner: str
    until_ms: int


@dataclass(frozen=True, kw_only=True)
class NewWork:
    """Work to be begun. One with a `held` lease runs at once where it was begun; any other waits until it is due."""

    work_id: str
    kind: str
    key: str = ""
    subject: str = ""
    input: JsonObject = field(default_factory=dict)
    due_at_ms: int = 0
    trace_id: str = ""
    held: Lease | None = None


@dataclass(frozen=True, kw_only=True)
class WorkCount:
    """How much work of a kind is in a status, and when the oldest of it was due."""

    kind: str
    status: WorkStatus
    count: int
    oldest_due_at_ms: int


class WorkTable(Protocol):
    """All work, inside one unit of work.

    Law:
    - `begin` stands in the transaction that causes it: work of a unit that was rolled back was never begun.
    - A key makes work once-only within its kind: a repeat while it waits or runs, or after it is done, answers the work
      that is there; after it failed, died or was cancelled, a repeat is begun anew. Without a key nothing is a repeat.
    - `hold` gives work to one owner and counts the attempt. It gives out work that waits and is due, that runs under a
      lease that has passed, or whose owner is among those known to be `gone`; of any other it answers None.
    - Of any number of holders at once, one gets it.
    - Work that cannot be read is answered like any other, as damaged: one such row keeps nobody from the rest.
    - `hold_these` does the same for work by its ids, and answers what was given out.
    - `hold_due` holds work of these kinds in the order in which it was due, at most `limit`; `due` only looks.
    - `extend` renews the leases of all work that an owner still holds, and answers which that is.
    - `finish`, `put_off`, `let_go`, `fail` and `bury` are for who holds the work. From anyone who no longer does, also
      from an earlier attempt of the same owner, they change nothing and answer False.
    - What was put off waits until it is due; what was let go is due at once, or when it is said to be, and that
      attempt does not count as a try.
    - `cancel` ends work that waits or runs, whoever holds it; of work that has ended it answers False.
    - `ask_cut` marks work that waits or runs, whoever holds it, and leaves it to its holder; of work that has ended it
      answers False. `cuts_asked` answers which of the work that an owner holds is marked.
    - What has ended stays as it ended, but what was buried can be revived: `revive` makes it wait again, due at once,
      with no try counted; of any other work, or where a repeat was begun meanwhile, it answers False.
    - `forget` removes work that ended before a time, some at a time.
    - `abandon` cancels work of these kinds that nobody has held since a time.
    - `of_subject` lists newest first; `by_key` answers the newest.
    - `unfinished` lists work of these kinds that waits, runs or was buried, oldest first, after the work that is named;
      `counts` tells how much of each kind is in each of these statuses, and when the oldest of it was due.
    """

    async def begin(self, new: NewWork) -> Work: ...

    async def get(self, work_id: str) -> Work | None: ...

    async def by_key(self, kind: str, key: str) -> Work | None: ...

    async def of_subject(self, subject: str, *, limit: int = 100) -> list[Work]: ...

    async def due(self, kinds: Sequence[str], *, gone: Sequence[str] = (), limit: int = 100) -> list[Work]: ...

    async def first_due(self, groups: Sequence[Sequence[str]], *, gone: Sequence[str] = ()) -> list[Work | None]:
        """Of each group of kinds, what `due` would name first."""
        ...

    async def owners(self) -> set[str]:
        """Everyone who holds work, or held it when he died."""
        ...

    async def held_by(self, owner: str) -> set[str]:
        """The ids of all work that an owner holds."""
        ...

    async def hold(self, work_id: str, lease: Lease, *, gone: Sequence[str] = ()) -> Work | None: ...

    async def hold_these(self, work_ids: Sequence[str], lease: Lease) -> list[Work]: ...

    async def hold_due(
        self, kinds: Sequence[str], lease: Lease, *, gone: Sequence[str] = (), limit: int = 1
    ) -> list[Work]: ...

    async def extend(self, work_ids: Sequence[str], lease: Lease) -> set[str]: ...

    async def finish(self, held: Work, result: JsonObject | None = None) -> bool: ...

    async def put_off(self, held: Work, *, due_at_ms: int, error: ErrorValue) -> bool: ...

    async def let_go(self, held: Work, *, due_at_ms: int | None = None) -> bool: ...

    async def fail(self, held: Work, error: ErrorValue) -> bool: ...

    async def bury(self, held: Work, error: ErrorValue) -> bool: ...

    async def cancel(self, work_id: str, error: ErrorValue | None = None) -> bool: ...

    async def revive(self, work_id: str) -> bool: ...

    async def unfinished(
        self, kinds: Sequence[str], *, status: WorkStatus | None = None, after: str | None = None, limit: int = 100
    ) -> list[Work]: ...

    async def counts(self, kinds: Sequence[str]) -> list[WorkCount]: ...

    async def ask_cut(self, work_id: str) -> bool: ...

    async def cuts_asked(self, owner: str) -> set[str]: ...

    async def abandon(self, kinds: Sequence[str], *, left_before_ms: int) -> int: ...

    async def forget(self, *, ended_before_ms: int, limit: int = 1000) -> int: ...
