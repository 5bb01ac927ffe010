"""`/metrics` in the format of Prometheus: the meters of this process, and what Python tells of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from fabula.actions.house import House
from fabula.ports.meters import METERS, Meter

Counts = Mapping[tuple[str, ...], float]


def write_metrics(house: House, seen: Mapping[Meter, Counts]) -> bytes:
    """All figures as text; `seen` are those that nobody counts, because they are looked up when they are asked for.

    The registry is made anew: a process may open one house after another.
    """
    registry = CollectorRegistry()
    registry.register(_OfHouse(house, seen))
    return generate_latest(registry) + generate_latest(REGISTRY)


class _OfHouse(Collector):
    def __init__(self, house: House, seen: Mapping[Meter, Counts]) -> None:
        self._house, self._seen = house, seen

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
                family = HistogramMetricFamily(name, sentence, labels=labels)
                for of_labels, measured in self._house.meters.durations(meter).items():
                    family.add_metric(of_labels, list(measured.cumulated()), measured.total_s)
                return family

    def _counts(self, meter: Meter) -> Counts:
        counts = self._seen[meter] if meter in self._seen else self._house.meters.counts(meter)
        # A figure without labels is there from the start, so that nobody takes a missing one for none.
        return counts or ({} if meter.labels else {(): 0})


def _filled(family: CounterMetricFamily | GaugeMetricFamily, counts: Counts) -> CounterMetricFamily | GaugeMetricFamily:
    for labels, count in counts.items():
        family.add_metric(labels, count)
    return family
