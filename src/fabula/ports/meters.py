"""Meters: what happens in one process, counted for whoever runs it. A door shows them; nobody decides by them.

Every label comes from a closed set (kinds of work, roles, methods, names of errors), never from what a caller sent, so
that the number of series is bounded. The table of all meters is `METERS`; a new one is a row there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

BUCKETS_S: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)


@dataclass(frozen=True, kw_only=True)
class Meter:
    """A name, what it counts, and the labels by which it is divided."""

    name: str
    sentence: str
    kind: Literal["counter", "gauge", "seconds"]
    labels: tuple[str, ...] = ()


TURNS = Meter(
    name="fabula_turns",
    kind="counter",
    labels=("outcome",),
    sentence="Turns of sessions that ended in this process: done, failed, or stopped (cancelled or handed over).",
)
TURN_SECONDS = Meter(name="fabula_turn_seconds", kind="seconds", sentence="How long turns took, whatever came of them.")
WORK = Meter(
    name="fabula_work",
    kind="counter",
    labels=("kind", "outcome"),
    sentence="Pieces of durable work that ended in this process, turns among them.",
)
WORK_RUNNING = Meter(
    name="fabula_work_running", kind="gauge", labels=("kind",), sentence="Pieces of work that run in this process now."
)
MODEL_CALLS = Meter(
    name="fabula_model_calls",
    kind="counter",
    labels=("role", "outcome"),
    sentence="Model calls by the role that asked: ok, memo (answered from the memo), failed, or cancelled.",
)
MODEL_CALL_SECONDS = Meter(
    name="fabula_model_call_seconds", kind="seconds", sentence="How long model calls took that were really asked."
)
MODEL_FIRST_PIECE_SECONDS = Meter(
    name="fabula_model_first_piece_seconds", kind="seconds", sentence="How long models took to their first piece."
)
MODEL_TOKENS = Meter(
    name="fabula_model_tokens",
    kind="counter",
    labels=("direction",),
    sentence="Tokens that models read (prompt) and wrote (completion); estimated where a server tells none.",
)
MODEL_CALLS_RUNNING = Meter(
    name="fabula_model_calls_running", kind="gauge", sentence="Model calls that are under way now."
)
RPC_CALLS = Meter(
    name="fabula_rpc_calls",
    kind="counter",
    labels=("method", "outcome"),
    sentence="Calls of JSON-RPC methods: ok, begun (a turn's stream), or the name of the error.",
)
RPC_SECONDS = Meter(
    name="fabula_rpc_seconds", kind="seconds", sentence="How long calls took until they were answered or begun."
)
STREAMS_OPEN = Meter(name="fabula_streams_open", kind="gauge", sentence="Turn streams that are being read now.")
GAMES_CONNECTED = Meter(name="fabula_games_connected", kind="gauge", sentence="Games at the socket now.")
LOOP_STALL_SECONDS = Meter(
    name="fabula_loop_stall_seconds",
    kind="seconds",
    sentence="How long the event loop stood still, each time it did for more than about 0.1 s; the log says where.",
)

METERS: Final = (
    TURNS,
    TURN_SECONDS,
    WORK,
    WORK_RUNNING,
    MODEL_CALLS,
    MODEL_CALL_SECONDS,
    MODEL_FIRST_PIECE_SECONDS,
    MODEL_TOKENS,
    MODEL_CALLS_RUNNING,
    RPC_CALLS,
    RPC_SECONDS,
    STREAMS_OPEN,
    GAMES_CONNECTED,
    LOOP_STALL_SECONDS,
)


@dataclass(kw_only=True)
class Durations:
    """Seconds that were measured: how many fell into each bucket (the last one has no bound), and their sum."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_S) + 1))
    total_s: float = 0.0

    def cumulated(self) -> Iterator[tuple[str, int]]:
        """Each bound with how many took no longer."""
        seen = 0
        for bound, count in zip([*map(str, BUCKETS_S), "+Inf"], self.counts, strict=True):
            seen += count
            yield bound, seen


class Meters:
    """The counts of one process. A gauge goes up and down by the same calls."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[tuple[str, ...], float]] = {meter.name: {} for meter in METERS}
        self._durations: dict[str, Durations] = {meter.name: Durations() for meter in METERS if meter.kind == "seconds"}

    def add(self, meter: Meter, *labels: str, amount: float = 1) -> None:
        counts = self._counts[meter.name]
        counts[labels] = counts.get(labels, 0) + amount

    def observe(self, meter: Meter, seconds: float) -> None:
        measured = self._durations[meter.name]
        measured.counts[bisect_left(BUCKETS_S, seconds)] += 1
        measured.total_s += seconds

    def counts(self, meter: Meter) -> dict[tuple[str, ...], float]:
        return dict(self._counts[meter.name])

    def durations(self, meter: Meter) -> Durations:
        return self._durations[meter.name]
