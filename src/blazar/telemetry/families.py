"""Values of metrics in the form in which collectors yield them."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily

from blazar.ports.meter import Metric

Values = Iterable[tuple[tuple[str, ...], float]]
"""Values of a metric, each with the values of its labels."""


def family(metric: Metric, values: Values) -> GaugeMetricFamily:
    """Return a gauge with its values, sorted by label."""
    found = GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)
    for labels, value in sorted(values):
        found.add_metric(labels, value)
    return found
