"""All metrics of the service in the Prometheus text format.

They are plain numbers in memory (`actors/metrics.py`), formatted at each scrape. The process's own metrics (memory,
processor time, open files) keep the names that the client library gives them everywhere.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from actors.app_context import AppContext
from actors.metrics import Counter, Gauge, Histogram
from api.route import Answer, Call, Route

PREFIX = "sanderling_"
MEDIA = "text/plain; version=0.0.4; charset=utf-8"


class Service(Collector):
    """Collects everything from the app context."""

    def __init__(self, context: AppContext) -> None:
        self._context = context

    def collect(self) -> Iterator[Metric]:
        """Yield the families, in the order of the manual's page."""
        version = self._context.overseer.version
        build = GaugeMetricFamily(f"{PREFIX}build_info", "The running program; always 1.", labels=("version", "python"))
        build.add_metric((version, platform.python_version()), 1)
        yield build
        for figure in self._context.figures():
            kind = CounterMetricFamily if figure.counts else GaugeMetricFamily
            family = kind(PREFIX + figure.name, figure.says, labels=figure.labels)
            for values, value in figure.values.items():
                family.add_metric(values, value)
            yield family
        for metric in self._context.world.metrics:
            yield _family(metric)


def _family(metric: Counter | Gauge | Histogram) -> Metric:
    name = PREFIX + metric.name
    match metric:
        case Counter():
            counter = CounterMetricFamily(name, metric.says, labels=metric.labels)
            for values, value in metric.values.items():
                counter.add_metric(values, value)
            return counter
        case Gauge():
            return GaugeMetricFamily(name, metric.says, value=metric.value)
        case Histogram():
            ends = (*(f"{bound:g}" for bound in metric.bounds), "+Inf")
            buckets = list(zip(ends, map(float, accumulate(metric.counts)), strict=True))
            return HistogramMetricFamily(name, metric.says, buckets=buckets, sum_value=metric.total)


def exposition(context: AppContext) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Service(context))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


async def metrics(call: Call) -> Answer:
    return Answer(exposition(call.context), media=MEDIA)


ROUTES = (
    Route(
        method="GET",
        path="/metrics",
        scope="admin",
        run=metrics,
        says="Read all figures, for Prometheus.",
        answers={200: str},
        media=MEDIA,
    ),
)
