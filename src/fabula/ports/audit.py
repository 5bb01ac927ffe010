"""The audit: what was refused, to whom, and why. Kept for a while, and never without end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Why = Literal[
    "not_listed", "unknown_tool", "out_of_reach", "check_failed", "role", "boundary", "feasibility", "prohibited"
]
"""Who called is not listed for it; there is no such tool; it is about something that is not theirs; the check itself
failed; their role is too low for the method; it crosses a boundary of the table or world; it cannot be done in the
world; a directive forbids it."""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A refusal. `caller` is the role of a person or the name of an agent; `token_id` is None for the operator.

    `what` is the tool or method, `about` the play or world that it named.
    """

    at_ms: int
    caller: str
    token_id: str | None
    what: str
    why: Why
    about: str
    sentence: str


class AuditTable(Protocol):
    """Law:

    - `note` keeps a violation, after all that were kept before.
    - `find` answers the newest first, at most so many, before the number that is named; with `about` only those whose
      caller, token, tool or subject is that; with a moment only those since.
    - `prune` removes what is older than a moment, and the oldest beyond so many; it answers how many that were.
    """

    async def note(self, violation: Violation) -> None: ...

    async def find(
        self, *, about: str | None = None, since_ms: int = 0, before: int | None = None, limit: int = 100
    ) -> list[tuple[int, Violation]]: ...

    async def prune(self, *, before_ms: int, keep: int) -> int: ...
