"""Metrics in the formats of Prometheus."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.multiprocess import MultiProcessCollector

from blazar.ports.meter import Kind, Meter, Metric

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable: the folder in which the processes of one API share their metrics."""

# Creation timestamps would only repeat the start time of the process for each time series.
prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]


class PrometheusMeter:
    """Implements :class:`blazar.ports.meter.Meter` on a registry; thread-safe."""

    def __init__(self, registry: CollectorRegistry, metrics: Iterable[Metric]) -> None:
        """Register the metrics, so that those without labels are exported as 0 from the start."""
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}
        self._gauges: dict[str, Gauge] = {}
        for each in (each for metric in metrics for each in metric.exported):
            if each.kind is Kind.COUNTER:
                self._counters[each.name] = Counter(each.name, each.help, each.labels, registry=registry)
            elif each.kind is Kind.HISTOGRAM:
                self._histograms[each.name] = Histogram(
                    each.name, each.help, each.labels, buckets=each.buckets, registry=registry
                )
            else:
                # The processes of one API share their metrics; a gauge of all of them is not the one of each.
                self._gauges[each.name] = Gauge(
                    each.name, each.help, each.labels, registry=registry, multiprocess_mode="max"
                )

    def count(self, metric: Metric, *labels: str) -> None:
        """Increment a counter."""
        counter = self._counters[metric.name]
        (counter.labels(*labels) if labels else counter).inc()
        if metric.alias is not None:
            self.count(metric.alias, *labels)

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Record one observation of a histogram."""
        histogram = self._histograms[metric.name]
        (histogram.labels(*labels) if labels else histogram).observe(value)
        if metric.alias is not None:
            self.observe(metric.alias, value, *labels)

    def set(self, metric: Metric, value: float, *labels: str) -> None:
        """Set a gauge."""
        gauge = self._gauges[metric.name]
        (gauge.labels(*labels) if labels else gauge).set(value)
        if metric.alias is not None:
            self.set(metric.alias, value, *labels)


def metrics_page(registry: CollectorRegistry) -> WSGIApplication:
    """Return a WSGI application that serves the metrics in the requested format.

    If :data:`SHARED` is set, the values are the sums over all processes that share the folder.

    Raises:
        ValueError: The folder does not exist.
    """
    if os.environ.get(SHARED):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return prometheus_client.make_wsgi_app(registry)


if TYPE_CHECKING:

    def _witness(meter: PrometheusMeter) -> Meter:
        return meter
