"""How late each queue is: how long the oldest work that is due in it has waited. Measured now and then, for all."""

from __future__ import annotations

from collections.abc import Mapping

from fabula.ports.meters import WORK_LAG_SECONDS, Meters
from fabula.ports.store import Store
from fabula.ports.work import QUEUES, QueueName, WorkCount
from fabula.ports.world import Clock

MEASURED_FOR_S = 2.0


class QueueLag:
    """Remembers the last measure for a moment: everyone who hands out work asks, and a burst asks very often."""

    def __init__(self) -> None:
        # Who asks while the first measure is taken is told that nothing is late.
        self._lags: Mapping[QueueName, float] = dict.fromkeys(QUEUES, 0.0)
        self._until = float("-inf")

    async def measure(
        self, store: Store, clock: Clock, meters: Meters, queues: Mapping[str, QueueName]
    ) -> Mapping[QueueName, float]:
        """The lag of each queue in seconds; `queues` has that of each kind of work."""
        if clock.monotonic() >= self._until:
            self._until = clock.monotonic() + MEASURED_FOR_S
            counts = await store.read(lambda unit: unit.work.counts(list(queues)))
            self._lags = lags(counts, queues, now_ms=clock.now_ms())
            for queue, lag_s in self._lags.items():
                meters.set(WORK_LAG_SECONDS, queue, value=lag_s)
        return self._lags


def lags(counts: list[WorkCount], queues: Mapping[str, QueueName], *, now_ms: int) -> dict[QueueName, float]:
    """How long the oldest work that waits in each queue has been due; nothing is late whose time has not come."""
    found: dict[QueueName, float] = dict.fromkeys(QUEUES, 0.0)
    for count in counts:
        if count.status == "waiting":
            queue = queues[count.kind]
            found[queue] = max(found[queue], (now_ms - count.oldest_due_at_ms) / 1000)
    return found
