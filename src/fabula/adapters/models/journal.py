"""Records every model call. Records are written aside, a moment later and several at once: no turn waits for them.

Who counts tokens is told of those that are not written yet, and who lists calls waits until all are.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from fabula.adapters.group_commit import DelayedBatch
from fabula.ports.errors import FabulaError
from fabula.ports.models import CallRecord, ModelError, ModelReply, ModelRequest, ModelUnusable, Piece, Usage
from fabula.ports.traces import CallTrace
from fabula.ports.world import Clock

log = logging.getLogger("fabula.models")

WRITTEN_AFTER_S = 0.1
"""So long records are gathered: where turns come thick and fast, one transaction is enough for several."""

Record = Callable[[Sequence[CallRecord]], Awaitable[None]]
Trace = Callable[[CallTrace], None]


class Journal:
    """Hands finished records to the sink, in their order."""

    def __init__(self, *, clock: Clock, record: Record | None, trace: Trace | None = None) -> None:
        self._clock = clock
        self._record = record
        self.trace = trace
        self._records: DelayedBatch[CallRecord] = DelayedBatch(self._write, after_s=WRITTEN_AFTER_S)
        self.under_way = 0

    def begin(self, request: ModelRequest, model: str) -> Entry:
        self.under_way += 1
        return Entry(request=request, model=model, clock=self._clock, journal=self)

    def write(self, record: CallRecord) -> None:
        """Takes the record of a call that has ended."""
        self.under_way -= 1
        self._records.put(record)

    def unwritten_tokens(self, session_id: str) -> int:
        """The tokens of a session's calls that are not written yet."""
        return sum(one.usage.total_tokens for one in self._records.unwritten if one.origin.session_id == session_id)

    def complain(self, sentence: str) -> None:
        log.warning(sentence)

    async def settle(self) -> None:
        """Waits until every record is written."""
        await self._records.settle()

    async def _write(self, records: list[CallRecord]) -> None:
        if self._record is None:
            return
        try:
            await self._record(records)
        except FabulaError as error:
            self.complain(f"{len(records)} model calls could not be recorded: {error.message}")


class Entry:
    """One call while it runs. Cancelled is what it is until it has finished or failed."""

    def __init__(self, *, request: ModelRequest, model: str, clock: Clock, journal: Journal) -> None:
        self._request, self._model, self._clock, self._journal = request, model, clock, journal
        self._started = clock.monotonic()
        self._first_piece_ms: int | None = None
        self._reply: ModelReply | None = None
        self._error: ModelError | None = None

    def saw(self, part: Piece | ModelReply) -> None:
        if isinstance(part, ModelReply):
            self._reply = part
        elif self._first_piece_ms is None:
            self._first_piece_ms = self._elapsed_ms()

    def failed(self, error: ModelError) -> None:
        self._error = error

    def end(self) -> None:
        reply = self._reply
        from_memo = reply is not None and reply.memo_hit
        took_ms = self._elapsed_ms()
        origin = self._request.origin
        # NPCs of games have turns, too, which nobody can ask about.
        if self._journal.trace is not None and origin.session_id is not None and origin.turn_id is not None:
            self._journal.trace(self._as_trace(took_ms))
        self._journal.write(
            CallRecord(
                origin=self._request.origin,
                model=reply.model if reply is not None else self._model,
                # An answer from the memo cost nothing.
                usage=reply.usage if reply is not None and not from_memo else Usage(),
                latency_ms=took_ms,
                first_piece_ms=self._first_piece_ms,
                memo_hit=from_memo,
                outcome=self._outcome(),
                error=self._error.message if self._error is not None else None,
                error_name=self._error.name if self._error is not None else None,
                recorded_at_ms=self._clock.now_ms(),
            )
        )

    def _as_trace(self, took_ms: int) -> CallTrace:
        reply, error = self._reply, self._error
        said = error.reply_text if isinstance(error, ModelUnusable) else ""
        problem = "It was stopped before its answer was whole." if reply is None else None
        return CallTrace(
            origin=self._request.origin,
            model=reply.model if reply is not None else self._model,
            messages=self._request.messages,
            reply=reply.text if reply is not None else said,
            usage=reply.usage if reply is not None else Usage(),
            began_at_ms=self._clock.now_ms() - took_ms,
            took_ms=took_ms,
            first_piece_ms=self._first_piece_ms,
            memo_hit=reply is not None and reply.memo_hit,
            problem=problem if error is None else error.message,
        )

    def _outcome(self) -> Literal["ok", "failed", "cancelled"]:
        if self._error is not None:
            return "failed"
        return "ok" if self._reply is not None else "cancelled"

    def _elapsed_ms(self) -> int:
        return round((self._clock.monotonic() - self._started) * 1000)
