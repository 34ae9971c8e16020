"""Metrics in Prometheus' formats."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.multiprocess import MultiProcessCollector

from blazar.ports.meter import Kind, Meter, Metric

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable: the folder in which the processes of one API keep their numbers together."""

# When a number was begun says when the process started, a thousand times.
prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]


class PrometheusMeter:
    """Implements :class:`blazar.ports.meter.Meter` on a registry; safe for use by several threads."""

    def __init__(self, registry: CollectorRegistry, metrics: Iterable[Metric]) -> None:
        """Make the metrics known, so that those without labels are there from the start, as 0."""
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}
        for each in metrics:
            if each.kind is Kind.COUNTER:
                self._counters[each.name] = Counter(each.name, each.help, each.labels, registry=registry)
            elif each.kind is Kind.HISTOGRAM:
                self._histograms[each.name] = Histogram(
                    each.name, each.help, each.labels, buckets=each.buckets, registry=registry
                )

    def count(self, metric: Metric, *labels: str) -> None:
        """Count one more."""
        counter = self._counters[metric.name]
        (counter.labels(*labels) if labels else counter).inc()

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Note one observation of a histogram."""
        histogram = self._histograms[metric.name]
        (histogram.labels(*labels) if labels else histogram).observe(value)


def metrics_page(registry: CollectorRegistry) -> WSGIApplication:
    """Return what answers every request with the metrics, in the format that it asks for.

    Where :data:`SHARED` is set, these are the sums over all processes that share the folder.

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
