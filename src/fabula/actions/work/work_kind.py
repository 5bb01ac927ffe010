"""A kind of work: what is done, how long that may take, and what follows a failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import orjson

from fabula.ports.bus import Sender
from fabula.ports.errors import BackendError, FabulaError
from fabula.ports.store import Unit
from fabula.ports.work import Work
from fabula.story.values import JsonObject


@dataclass(frozen=True, kw_only=True)
class HeldWork:
    """Work that this process holds. What happens in it goes to `sender`."""

    work: Work
    sender: Sender

    @property
    def is_resumed(self) -> bool:
        """Whether an earlier attempt may have left something to go on with."""
        return self.work.attempt > 1

    def tell_progress(self, done: int, total: int, label: str) -> None:
        """How far it has come, for those who watch."""
        self.sender.send(orjson.dumps({"type": "progress", "done": done, "total": total, "label": label}))


class NoLongerHeld(BackendError):
    """Raised inside a transaction by who finds that its work was given to another, so that nothing of it is kept."""

    def __init__(self, work: Work) -> None:
        super().__init__(f"Another process goes on with {work.kind} {work.work_id}.", work_id=work.work_id)


Run = Callable[[HeldWork], Awaitable[JsonObject | None]]
"""Does the work and answers its result; None when it ended the work, and told how it ended, itself."""


@dataclass(frozen=True, kw_only=True)
class WorkKind:
    """How one kind of work is done.

    `deadline_s` bounds one attempt, unless it is None.
    `most_attempts` bounds those that failed, or that the process died with.
    With a `backoff` (seconds to wait after so many tries) work that failed is tried again, and in the end buried;
    without one its first error ends it, because someone waits for the answer and decides.
    `is_swept`: whether any process takes it up after its holder died. If not, the call that began it does.
    `on_failure` stands in the transaction that ends the work as failed or dead.
    `on_lost` is told when the work was stopped here, because it ended elsewhere or is another's now.
    `last_event` is what watchers are told of work that has ended.
    """

    run: Run
    deadline_s: float | None
    most_attempts: int
    backoff: Callable[[int], float] | None = None
    is_swept: bool = True
    on_failure: Callable[[Unit, Work, JsonObject], Awaitable[None]] | None = None
    on_lost: Callable[[HeldWork, Work | None], Awaitable[None]] | None = None
    last_event: Callable[[Work], Awaitable[bytes]] | None = None


def doubling(*, first_s: float, longest_s: float) -> Callable[[int], float]:
    """Waits twice as long after each try, up to a bound."""
    return lambda tries: min(longest_s, first_s * 2 ** min(tries - 1, 30))


def stored_error(error: FabulaError) -> JsonObject:
    """An error as it is kept with the work that failed with it."""
    return {"code": error.code, "message": error.message, "data": error.data}


class StoredError(FabulaError):
    """The error with which work failed, in this process or another."""

    def __init__(self, stored: JsonObject) -> None:
        data = stored.get("data")
        super().__init__(str(stored.get("message", "")), **(data if isinstance(data, dict) else {}))
        code = stored.get("code")
        self.code = code if isinstance(code, int) else FabulaError.code
