"""`/metrics` in the format of Prometheus: the meters of this process, and what Python tells of itself.

Of processes that share a port, the one that is asked tells the figures of all, each with the number of its process:
sums over processes would fall when one dies, and be taken for a start from nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from fabula.actions.house import House
from fabula.ports.meters import METERS, SHARED, Meter

Counts = Mapping[tuple[str, ...], float]


PROCESS: Final = "process"
"""The label that tells processes of one port apart."""


def write_metrics(house: House, seen: Mapping[Meter, Counts], meters: Sequence[Meter] = METERS) -> bytes:
    """Figures as text; `seen` are those that nobody counts, because they are looked up when they are asked for."""
    return _text(_OfHouse(house, seen, meters)) + generate_latest(REGISTRY)


def write_shared(house: House, seen: Mapping[Meter, Counts]) -> bytes:
    """The figures that are the same whichever process is asked."""
    return _text(_OfHouse(house, seen, SHARED))


def gather_metrics(told: Mapping[int, bytes]) -> bytes:
    """The figures of several processes as one text, by the numbers of the processes."""
    families: dict[str, Metric] = {}
    for number, text in sorted(told.items()):
        for family in text_string_to_metric_families(text.decode("utf-8")):
            whole = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            whole.samples += [
                sample._replace(labels={**sample.labels, PROCESS: str(number)}) for sample in family.samples
            ]
    return _text(_Gathered(list(families.values())))


def _text(collector: Collector) -> bytes:
    # The registry is made anew: a process may open one house after another.
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry)


class _Gathered(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families


class _OfHouse(Collector):
    def __init__(self, house: House, seen: Mapping[Meter, Counts], meters: Sequence[Meter]) -> None:
        self._house, self._seen, self._meters = house, seen, meters

    def collect(self) -> Iterator[Metric]:
        for meter in self._meters:
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
