"""A kind of work: what is done, how long that may take, and what follows a failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from fabula.loops.turns.cut import Cut
from fabula.ports.bus import Sender
from fabula.ports.errors import TakenOver
from fabula.ports.store import Unit
from fabula.ports.work import QueueName, Work
from fabula.story.error_values import ErrorValue, Hint
from fabula.story.events import Completed, Failed, Progress, Told
from fabula.story.values import JsonObject


@dataclass(frozen=True, kw_only=True)
class HeldWork:
    """Work that this process holds. What happens in it goes to `sender`; `cut` says when it is to end early."""

    work: Work
    sender: Sender[Told]
    cut: Cut = field(default_factory=Cut)

    @property
    def is_resumed(self) -> bool:
        """Whether an earlier attempt may have left something to go on with."""
        return self.work.attempt > 1

    def tell_progress(self, event: Progress) -> None:
        """How far it has come, for those who watch."""
        self.sender.send(event)


class Unheard:
    """The sender of work that nobody watches."""

    next_sequence = 0

    def send(self, event: Told, *, last: bool = False) -> None: ...

    async def flush(self) -> None: ...

    async def close(self) -> None: ...


def taken_over(work: Work) -> TakenOver:
    """Raised inside a transaction by who finds that its work was given to another, so that nothing of it is kept."""
    return TakenOver("Another process goes on with this.", work_id=work.work_id)


Run = Callable[[HeldWork], Awaitable[JsonObject | None]]
"""Does the work and answers its result; None when it ended the work, and told how it ended, itself."""


BadEnd = Literal["failed", "cancelled"]


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """What users are told of work that did not fail by itself. A `hint` says what to do next."""

    too_long: str = "This took too long. Try it again."
    broken: str = "This failed inside the server; its log has the details."
    worn_out: str = "The server stopped again and again while it was at this. It is not tried any more."
    cancelled: str = "This was cancelled."
    hint: Hint | None = None


@dataclass(frozen=True, kw_only=True)
class WorkKind:
    """How one kind of work is done.

    `does` says what it does, for the reference.
    `deadline_s` bounds one attempt, unless it is None.
    `most_attempts` bounds those that failed, or that the process died with.
    With a `backoff` (seconds to wait after so many tries) work that failed is tried again, and in the end buried;
    without one its first error ends it, because someone waits for the answer and decides.
    Without a `run` nobody takes it up after its holder died but the call that began it, which brings the function.
    `is_loop`: its checkpoints stand under the id of the work, and are of no use once it has ended.
    `on_failure` stands in the transaction that ends the work as failed, dead or cancelled, before the work itself.
    `last_event` is what watchers are told of work that has ended. Of `unwatched` work nobody is told anything.
    `queue` says who waits for it, and so what makes room for what; `priority`, from 0 to 9, which of it comes first.
    `on_bad_end` is called once it is written down that work failed, died or was cancelled, by who wrote it.
    """

    run: Run | None = None
    does: str = ""
    deadline_s: float | None
    most_attempts: int = 2
    backoff: Callable[[int], float] | None = None
    is_loop: bool = False
    sentences: Sentences = Sentences()
    on_failure: Callable[[Unit, str, BadEnd, ErrorValue], Awaitable[None]] | None = None
    last_event: Callable[[str], Awaitable[Completed | Failed]] | None = None
    on_bad_end: Callable[[Work, BadEnd], None] | None = None
    unwatched: bool = False
    queue: QueueName = "realtime"
    priority: int = 5


def doubling(*, first_s: float, longest_s: float) -> Callable[[int], float]:
    """Waits twice as long after each try, up to a bound."""
    return lambda tries: min(longest_s, first_s * 2 ** min(tries - 1, 30))
