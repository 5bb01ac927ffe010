"""Traces: what happened in a turn and when, kept for a while so that somebody can ask why.

The id of a trace is the id of its turn. Everything that is done for a turn notes its part under it, in whichever
process: the turn itself, each model call, each piece of work that follows. Nothing is decided by a trace, and no turn
waits for one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from fabula.ports.models import CallOrigin, Message, Usage
from fabula.story.values import JsonObject

PartKind = Literal["turn", "call", "work"]

LONGEST_TEXT = 500_000
"""So many letters of a prompt or an answer are kept."""

TRACE_TASK = "trace "


def trace_task(trace_id: str) -> str:
    """The name of a task that works for a trace: lines that it logs tell the trace without being told it."""
    return TRACE_TASK + trace_id


@dataclass(frozen=True, kw_only=True)
class TracedStep:
    """A step of a turn; `began_ms` counts from the beginning of the turn."""

    name: str
    began_ms: int
    took_ms: int


@dataclass(frozen=True, kw_only=True)
class TurnTrace:
    """An attempt at a turn. `describe` tells the rest of it; it may take a while, and is called in a thread."""

    turn_id: str
    began_at_ms: int
    took_ms: int
    outcome: Literal["done", "failed", "stopped"]
    steps: Sequence[TracedStep]
    describe: Callable[[], JsonObject]


@dataclass(frozen=True, kw_only=True)
class CallTrace:
    """A model call with all that was sent and answered. `problem` says why it failed."""

    origin: CallOrigin
    model: str
    messages: Sequence[Message]
    reply: str
    usage: Usage
    began_at_ms: int
    took_ms: int
    first_piece_ms: int | None
    memo_hit: bool
    problem: str | None

    @property
    def turn_id(self) -> str:
        return self.origin.turn_id or ""


@dataclass(frozen=True, kw_only=True)
class WorkTrace:
    """An attempt at work that a turn caused."""

    turn_id: str
    work_id: str
    kind: str
    attempt: int
    began_at_ms: int
    took_ms: int
    outcome: str
    problem: str | None


TracePart = TurnTrace | CallTrace | WorkTrace


@dataclass(frozen=True, kw_only=True)
class StoredPart:
    """A part of a trace as it is kept; the texts that it names by their hashes stand apart, each once."""

    turn_id: str
    kind: PartKind
    at_ms: int
    doc: JsonObject


class TraceTable(Protocol):
    """What is kept of traces, inside one unit of work.

    Law:
    - `keep` keeps the parts of turns that exist, in their order, and each text once; of other turns it keeps nothing.
    - `of_turn` answers the parts of a turn in the order in which they were kept, at most `limit`. One that is damaged,
      or too large for what the parts of a turn may have together, is passed over.
    - `texts` answers those of the named texts that are kept.
    - The parts of a turn go when the turn does.
    - `prune` removes parts from before a time, and texts that no later part named; at most `limit` of each. It answers
      how many of both.
    """

    async def keep(self, parts: Sequence[StoredPart], texts: Mapping[str, bytes]) -> None: ...

    async def of_turn(self, turn_id: str, *, limit: int = 500) -> list[StoredPart]: ...

    async def texts(self, hashes: Sequence[str]) -> dict[str, bytes]: ...

    async def prune(self, *, before_ms: int, limit: int) -> int: ...


class TraceLog(Protocol):
    """Where parts of traces are put.

    Law:
    - `put` neither waits nor fails. What was put is kept a moment later, several parts at once; it survives a kill
      from then on, not a power cut.
    - While it is off, nothing is kept. Where more comes than can be written, what is too much is dropped and counted.
    - `settle` returns when everything that was put before is kept or dropped.
    """

    @property
    def is_on(self) -> bool: ...

    def put(self, part: TracePart) -> None: ...

    async def settle(self) -> None: ...
