"""Under load what matters least is left out or put off first; world changes and summaries never are."""

from __future__ import annotations

import asyncio

import pytest

from fabula.actions.work.queue_lag import QueueLag, lags
from fabula.ports.meters import Meters
from fabula.ports.store import Store
from fabula.ports.work import WorkCount
from fabula.story.shedding import LONGEST_DELAY_S, SHED, Shed, shed
from fabula.testing.world import FixedClock

ORDER = ("lore", "npc", "conflict", "memory")


def test_kinds_are_shed_in_the_order_lore_npc_conflict_memory() -> None:
    assert tuple(SHED) == ORDER
    for lag_s in range(0, 200, 5):
        given_up = [kind for kind in ORDER if shed(kind, lag_s) is not None]
        assert given_up == list(ORDER[: len(given_up)])
    assert [kind for kind in ORDER if shed(kind, 0.0)] == [] and all(shed(kind, 1000.0) for kind in ORDER)


@pytest.mark.parametrize("kind", ["world", "summary", "unheard of"])
def test_world_changes_are_never_shed(kind: str) -> None:
    assert shed(kind, 1_000_000.0) is None


def test_lore_is_left_out_and_the_others_are_put_off_for_a_bounded_time() -> None:
    assert shed("lore", 20.0) == Shed(how="skip")
    assert shed("npc", 40.0) == Shed(how="delay", delay_s=80.0)
    assert shed("memory", 10_000.0) == Shed(how="delay", delay_s=LONGEST_DELAY_S)


async def test_who_asks_while_the_lag_is_measured_is_answered_at_once(sqlite_store: Store, clock: FixedClock) -> None:
    lag, queues = QueueLag(), {"errand": "background", "chore": "heavy"}
    asked = [lag.measure(sqlite_store, clock, Meters(), queues) for _ in range(5)]  # type: ignore[arg-type]
    assert [found["heavy"] for found in await asyncio.gather(*asked)] == [0.0] * 5


def test_a_queue_is_as_late_as_its_oldest_work_that_waits() -> None:
    def count(kind: str, status: str, due: int) -> WorkCount:
        return WorkCount(kind=kind, status=status, count=1, oldest_due_at_ms=due)  # type: ignore[arg-type]

    counts = [
        count("a", "waiting", 4000),
        count("b", "waiting", 9000),
        count("b", "dead", 1),
        count("c", "waiting", 12_000),
    ]
    found = lags(counts, {"a": "background", "b": "background", "c": "heavy"}, now_ms=10_000)
    assert found == {"realtime": 0.0, "background": 6.0, "heavy": 0.0}
