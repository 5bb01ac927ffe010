"""`/metrics` in the format of Prometheus: the meters of this process, and what Python tells of itself."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from fabula.actions.house import House
from fabula.ports.meters import METERS, MODEL_CALLS_RUNNING, Meter


def write_metrics(house: House) -> bytes:
    """All figures as text. The registry is made anew: a process may open one house after another."""
    registry = CollectorRegistry()
    registry.register(_OfHouse(house))
    return generate_latest(registry) + generate_latest(REGISTRY)


class _OfHouse(Collector):
    def __init__(self, house: House) -> None:
        self._house = house

    def collect(self) -> Iterator[Metric]:
        for meter in METERS:
            yield self._family(meter)

    def _family(self, meter: Meter) -> Metric:
        name, sentence, labels = meter.name, meter.sentence, meter.labels
        match meter.kind:
            case "counter":
                return _filled(CounterMetricFamily(name, sentence, labels=labels), self._counts(meter))
            case "gauge":
                return _filled(GaugeMetricFamily(name, sentence, labels=labels), self._counts(meter))
            case "seconds":
                measured = self._house.meters.durations(meter)
                family = HistogramMetricFamily(name, sentence)
                family.add_metric([], list(measured.cumulated()), measured.total_s)
                return family

    def _counts(self, meter: Meter) -> dict[tuple[str, ...], float]:
        if meter is MODEL_CALLS_RUNNING:
            return {(): self._house.models.calls_under_way}
        counts = self._house.meters.counts(meter)
        # A figure without labels is there from the start, so that nobody takes a missing one for none.
        return counts or ({} if meter.labels else {(): 0})


def _filled(
    family: CounterMetricFamily | GaugeMetricFamily, counts: dict[tuple[str, ...], float]
) -> CounterMetricFamily | GaugeMetricFamily:
    for labels, count in counts.items():
        family.add_metric(labels, count)
    return family
