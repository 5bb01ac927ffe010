"""What machines carry: the computation and the simulation, which know nothing of each other, agree."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.capacity_model import Machines, TurnCosts, bearable, capacity, simulate

COSTS = TurnCosts(
    server_ms=10,
    worker_ms=5,
    database_ms=4,
    redis_ms=0.5,
    rows=10,
    syncs=2,
    log_bytes=10_000,
    stored_bytes=5_000,
    bus_commands=30,
    broker_messages=2,
)
ONE = Machines(
    name="one", server_cores=4, worker_cores=4, database_cores=4, redis_cores=1, syncs_per_s=5000, shares_cores=True
)
TEN = Machines(name="ten", server_cores=7, worker_cores=1, database_cores=1, redis_cores=1, syncs_per_s=5000)


def test_what_is_full_first_bounds_the_whole() -> None:
    assert capacity(COSTS, ONE).breaks_first == "its cores"
    assert capacity(COSTS, ONE).turns_per_s == pytest.approx(4 * 0.7 * 1000 / 19.5)
    assert capacity(COSTS, TEN).breaks_first == "workers"
    assert capacity(COSTS, replace(TEN, worker_cores=800)).breaks_first == "the database's cores"
    assert capacity(replace(COSTS, syncs=50), TEN).breaks_first == "the database's disk"


def test_more_databases_carry_more() -> None:
    wide = replace(TEN, server_cores=10_000, worker_cores=10_000)
    assert capacity(COSTS, replace(wide, databases=10)).turns_per_s == pytest.approx(
        10 * capacity(COSTS, wide).turns_per_s
    )


@pytest.mark.parametrize("machines", [ONE, TEN], ids=["one", "ten"])
def test_the_simulation_agrees_with_the_computation(machines: Machines) -> None:
    full = capacity(COSTS, replace(machines, busy=1.0)).turns_per_s
    assert bearable(COSTS, machines, turns=2500) == pytest.approx(full, rel=0.25)
    calm = simulate(COSTS, machines, turns_per_s=0.6 * full, turns=2500, seed=3)
    assert calm.p95_wait_s < 0.2
    crowded = simulate(COSTS, machines, turns_per_s=2 * full, turns=2500, seed=3)
    assert crowded.p95_wait_s > 1.0
