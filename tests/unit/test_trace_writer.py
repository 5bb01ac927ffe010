"""Traces that wait to be written have a bound by their letters, too: prompts of players may be large."""

from __future__ import annotations

from fabula.adapters.traces.writer import MOST_LETTERS_WAITING, TraceWriter
from fabula.ports.meters import TRACE_PARTS, Meters
from fabula.ports.models import CallOrigin, Message, Usage
from fabula.ports.store import Store
from fabula.ports.traces import CallTrace
from fabula.testing.world import FixedClock

LETTERS = MOST_LETTERS_WAITING // 8


def call(number: int) -> CallTrace:
    return CallTrace(
        origin=CallOrigin(agent="narrator", turn_id=f"t{number}"),
        model="m",
        messages=[Message(role="user", content=str(number) * LETTERS)],
        reply="",
        usage=Usage(),
        began_at_ms=0,
        took_ms=1,
        first_piece_ms=None,
        memo_hit=False,
        problem=None,
    )


async def test_large_prompts_that_wait_to_be_written_have_a_bound_together(sqlite_store: Store) -> None:
    meters = Meters()
    writer = TraceWriter(store=sqlite_store, clock=FixedClock(), meters=meters)
    for number in range(9):
        writer.put(call(number))
    assert meters.counts(TRACE_PARTS) == {("dropped",): 1}
    await writer.settle()
    writer.put(call(9))
    await writer.close()
    assert meters.counts(TRACE_PARTS) == {("dropped",): 1, ("kept",): 9}
