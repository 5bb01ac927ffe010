"""What machines carry, from what one turn costs: computed by shares of each part, and checked by simulation.

A turn takes time of a server's cores, of a worker's, of the database's and of Redis, which has one. What is full first
bounds the whole. The simulation sends turns at random moments through the same parts, each a line with as many servers
as it has cores, and tells how many turns come out and how long they waited; it knows nothing of the computation.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class TurnCosts:
    """What one turn with all that follows it costs: milliseconds of CPU, rows, bytes and messages."""

    server_ms: float
    worker_ms: float
    database_ms: float
    redis_ms: float
    rows: float
    syncs: float
    log_bytes: float
    stored_bytes: float
    bus_commands: float
    broker_messages: float


@dataclass(frozen=True, kw_only=True)
class Machines:
    """Cores that each part has, and how much of them may be busy in the long run.

    Where everything `shares_cores`, those of the servers are all there are.
    """

    name: str
    server_cores: float
    worker_cores: float
    database_cores: float
    redis_cores: float
    syncs_per_s: float
    databases: int = 1
    shares_cores: bool = False
    busy: float = 0.7


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """How many turns a second each part carries; the least of them is that of the whole."""

    parts: dict[str, float]

    @property
    def turns_per_s(self) -> float:
        return min(self.parts.values())

    @property
    def breaks_first(self) -> str:
        return min(self.parts, key=lambda part: self.parts[part])


def capacity(costs: TurnCosts, machines: Machines) -> Capacity:
    """What each part carries when it may be busy so much."""

    def carried(cores: float, ms: float) -> float:
        return cores * machines.busy * 1000 / ms if ms > 0 else float("inf")

    disk = machines.syncs_per_s * machines.databases * machines.busy / costs.syncs if costs.syncs else float("inf")
    redis = carried(machines.redis_cores * machines.databases, costs.redis_ms)
    if machines.shares_cores:
        cores = carried(machines.server_cores, _all_ms(costs))
        return Capacity(parts={"its cores": cores, "its disk": disk, "Redis": redis})
    return Capacity(
        parts={
            "servers": carried(machines.server_cores, costs.server_ms),
            "workers": carried(machines.worker_cores, costs.worker_ms),
            "the database's cores": carried(machines.database_cores * machines.databases, costs.database_ms),
            "the database's disk": disk,
            "Redis": redis,
        }
    )


def _all_ms(costs: TurnCosts) -> float:
    return costs.server_ms + costs.worker_ms + costs.database_ms + costs.redis_ms


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """What came out: turns a second, and how long the slowest twentieth waited for the parts, in all."""

    turns_per_s: float
    p95_wait_s: float


class _Line:
    """A part: whoever comes first is served first, by as many as it has cores."""

    def __init__(self, cores: float) -> None:
        # Half a core is one that takes twice as long.
        self._slower = max(1.0, 1.0 / cores) if cores < 1 else 1.0
        self._free = [0.0] * max(1, round(cores))
        heapq.heapify(self._free)

    def serve(self, now: float, takes_s: float) -> tuple[float, float]:
        """When it is over, and how long it waited."""
        begins = max(now, heapq.heappop(self._free))
        ends = begins + takes_s * self._slower
        heapq.heappush(self._free, ends)
        return ends, begins - now


def _lines(machines: Machines) -> dict[str, _Line]:
    disk, redis = _Line(machines.databases), _Line(machines.redis_cores * machines.databases)
    if machines.shares_cores:
        cores = _Line(machines.server_cores)
        return {"server": cores, "database": cores, "redis": cores, "worker": cores, "disk": disk}
    return {
        "server": _Line(machines.server_cores),
        "database": _Line(machines.database_cores * machines.databases),
        "redis": redis,
        "worker": _Line(machines.worker_cores),
        "disk": disk,
    }


def simulate(costs: TurnCosts, machines: Machines, *, turns_per_s: float, turns: int, seed: int) -> Simulated:
    """Sends turns at random moments: server and database before and after a model's answer, then what follows.

    Assumed: turns come independently (Poisson); the work of a part varies exponentially around its mean; two thirds of
    a server's work, and a quarter of the database's, come before the answer; a model takes five seconds and is never
    full.
    """
    chance = random.Random(seed)
    lines = _lines(machines)
    steps = (
        ("server", costs.server_ms * 2 / 3, 0.0),
        ("database", costs.database_ms / 4, 0.0),
        ("disk", 1000 * costs.syncs / 2 / machines.syncs_per_s, 5.0),
        ("redis", costs.redis_ms, 0.0),
        ("server", costs.server_ms / 3, 0.0),
        ("database", costs.database_ms / 4, 0.0),
        ("worker", costs.worker_ms, 0.0),
        ("database", costs.database_ms / 2, 0.0),
        ("disk", 1000 * costs.syncs / 2 / machines.syncs_per_s, 0.0),
    )
    # (when, number, step, waited): the earliest event is next, whoever's it is.
    events: list[tuple[float, int, int, float]] = []
    now = 0.0
    for number in range(turns):
        now += chance.expovariate(turns_per_s)
        events.append((now, number, 0, 0.0))
    heapq.heapify(events)
    waits: list[float] = []
    ended = 0.0
    while events:
        when, number, step, waited = heapq.heappop(events)
        part, ms, pause_s = steps[step]
        over, wait = lines[part].serve(when, chance.expovariate(1.0) * ms / 1000)
        if step + 1 < len(steps):
            heapq.heappush(events, (over + pause_s, number, step + 1, waited + wait))
        else:
            # The first half only fills the lines: what grows without end shows in the second.
            if number >= turns // 2:
                waits.append(waited + wait)
            ended = max(ended, over)
    return Simulated(turns_per_s=turns / ended, p95_wait_s=sorted(waits)[int(len(waits) * 0.95)])


def bearable(costs: TurnCosts, machines: Machines, *, seed: int = 1, turns: int = 30_000) -> float:
    """The highest rate at which turns wait less than a second at p95, found by halving."""
    low, high = 0.0, 2 * capacity(costs, replace(machines, busy=1.0)).turns_per_s
    for _ in range(12):
        middle = (low + high) / 2
        if simulate(costs, machines, turns_per_s=middle, turns=turns, seed=seed).p95_wait_s < 1.0:
            low = middle
        else:
            high = middle
    return low
