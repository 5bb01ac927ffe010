"""Meters: what happens in one process, counted for whoever runs it. A door shows them; nobody decides by them.

Every label comes from a closed set (kinds of work, roles, methods, names of errors), never from what a caller sent, so
that the number of series is bounded. The table of all meters is `METERS`; a new one is a row there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

BUCKETS_S: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
SHORT_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""For what should take milliseconds."""


@dataclass(frozen=True, kw_only=True)
class Meter:
    """A name, what it counts, and the labels by which it is divided. `buckets` are the bounds of measured seconds."""

    name: str
    sentence: str
    kind: Literal["counter", "gauge", "seconds"]
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = BUCKETS_S


TURNS = Meter(
    name="fabula_turns",
    kind="counter",
    labels=("outcome",),
    sentence="Turns of sessions that ended in this process: done, failed, or stopped (cancelled or handed over).",
)
VIOLATIONS = Meter(
    name="fabula_violations",
    kind="counter",
    labels=("why",),
    sentence="Calls that were refused because the caller may not make them, by the reason; the audit names some.",
)
TURN_SECONDS = Meter(name="fabula_turn_seconds", kind="seconds", sentence="How long turns took, whatever came of them.")
TURN_PART_SECONDS = Meter(
    name="fabula_turn_part_seconds",
    kind="seconds",
    labels=("part",),
    sentence="Where the time of turns that were committed went: context (until the first question left), model "
    "(waiting for answers), commit (writing the turn down), first_text (from the start to the first word told).",
)
WORK = Meter(
    name="fabula_work",
    kind="counter",
    labels=("kind", "outcome"),
    sentence="Pieces of durable work that ended in this process, turns among them.",
)
WORK_RUNNING = Meter(
    name="fabula_work_running", kind="gauge", labels=("kind",), sentence="Pieces of work that run in this process now."
)
WORK_LAG_SECONDS = Meter(
    name="fabula_work_lag_seconds",
    kind="gauge",
    labels=("queue",),
    sentence="How long the oldest work that follows turns has been due in a queue, as this process last measured it.",
)
FOLLOWERS_SHED = Meter(
    name="fabula_followers_shed",
    kind="counter",
    labels=("kind", "how"),
    sentence="Followers of turns that were left out (skip) or put off (delay) because their queue was late.",
)
MODEL_CALLS = Meter(
    name="fabula_model_calls",
    kind="counter",
    labels=("role", "outcome"),
    sentence="Model calls by the role that asked: ok, memo (answered from the memo), failed, or cancelled.",
)
MODEL_ERRORS = Meter(
    name="fabula_model_errors",
    kind="counter",
    labels=("error",),
    sentence="Model calls that failed, by the name of the error.",
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
STREAMS_OPEN = Meter(
    name="fabula_streams_open", kind="gauge", sentence="Turn streams and feeds of sessions that are being read now."
)
FOLLOWERS = Meter(
    name="fabula_followers",
    kind="gauge",
    labels=("kind", "state"),
    sentence="Work that follows turns and is not done, of all servers together: waiting, running, or dead.",
)
FOLLOWER_AGE_SECONDS = Meter(
    name="fabula_follower_age_seconds",
    kind="gauge",
    labels=("kind", "state"),
    sentence="How long ago the oldest of that work was due.",
)
READY = Meter(
    name="fabula_ready", kind="gauge", sentence="Whether this process can work (1) or not (0), as `/readyz` says."
)
PROCESSES = Meter(
    name="fabula_processes",
    kind="gauge",
    sentence="Processes whose figures these are: of those that share a port, one that hangs is missing.",
)
RECALL_SECONDS = Meter(
    name="fabula_recall_seconds",
    kind="seconds",
    buckets=SHORT_BUCKETS_S,
    sentence="How long it took to find what a moment brings back to a character.",
)
GAMES_CONNECTED = Meter(name="fabula_games_connected", kind="gauge", sentence="Games at the socket now.")
REALTIME_CONNECTED = Meter(
    name="fabula_realtime_connected", kind="gauge", sentence="Clients at the Socket.IO door now."
)
TRACE_PARTS = Meter(
    name="fabula_trace_parts",
    kind="counter",
    labels=("outcome",),
    sentence="Parts of traces (turns, model calls, work): kept, or dropped because they could not be written.",
)
LOOP_STALL_SECONDS = Meter(
    name="fabula_loop_stall_seconds",
    kind="seconds",
    sentence="How long the event loop stood still, each time it did for more than about 0.1 s; the log says where.",
)
LOOP_BUSY_SECONDS = Meter(
    name="fabula_loop_busy_seconds",
    kind="seconds",
    sentence="How much of each stall this process computed; the rest the machine was busy with something else.",
)

METERS: Final = (
    TURNS,
    VIOLATIONS,
    TURN_SECONDS,
    TURN_PART_SECONDS,
    WORK,
    WORK_RUNNING,
    WORK_LAG_SECONDS,
    FOLLOWERS_SHED,
    MODEL_CALLS,
    MODEL_ERRORS,
    MODEL_CALL_SECONDS,
    MODEL_FIRST_PIECE_SECONDS,
    MODEL_TOKENS,
    MODEL_CALLS_RUNNING,
    RPC_CALLS,
    RPC_SECONDS,
    STREAMS_OPEN,
    GAMES_CONNECTED,
    FOLLOWERS,
    FOLLOWER_AGE_SECONDS,
    READY,
    PROCESSES,
    RECALL_SECONDS,
    REALTIME_CONNECTED,
    TRACE_PARTS,
    LOOP_STALL_SECONDS,
    LOOP_BUSY_SECONDS,
)

SHARED: Final = (FOLLOWERS, FOLLOWER_AGE_SECONDS, PROCESSES)
"""What is looked up when somebody asks, and is the same whichever process of a port answers."""


class Durations:
    """Seconds that were measured: how many fell into each bucket (the last one has no bound), and their sum."""

    def __init__(self, buckets: tuple[float, ...]) -> None:
        self.buckets = buckets
        self.counts = [0] * (len(buckets) + 1)
        self.total_s = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(self.buckets, seconds)] += 1
        self.total_s += seconds

    def cumulated(self) -> Iterator[tuple[str, int]]:
        """Each bound with how many took no longer."""
        seen = 0
        for bound, count in zip([*map(str, self.buckets), "+Inf"], self.counts, strict=True):
            seen += count
            yield bound, seen


class Meters:
    """The counts of one process. A gauge goes up and down by the same calls."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[tuple[str, ...], float]] = {meter.name: {} for meter in METERS}
        self._durations: dict[str, dict[tuple[str, ...], Durations]] = {
            # A figure without labels is there from the start, so that nobody takes a missing one for none.
            meter.name: {} if meter.labels else {(): Durations(meter.buckets)}
            for meter in METERS
            if meter.kind == "seconds"
        }

    def add(self, meter: Meter, *labels: str, amount: float = 1) -> None:
        counts = self._counts[meter.name]
        counts[labels] = counts.get(labels, 0) + amount

    def set(self, meter: Meter, *labels: str, value: float) -> None:
        self._counts[meter.name][labels] = value

    def observe(self, meter: Meter, seconds: float, *labels: str) -> None:
        measured = self._durations[meter.name]
        if labels not in measured:
            measured[labels] = Durations(meter.buckets)
        measured[labels].observe(seconds)

    def counts(self, meter: Meter) -> dict[tuple[str, ...], float]:
        return dict(self._counts[meter.name])

    def durations(self, meter: Meter) -> dict[tuple[str, ...], Durations]:
        return dict(self._durations[meter.name])
