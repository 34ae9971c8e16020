"""Gauges of free amounts, now and in the future, computed from a manager's indexes of bookings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from blazar.ports import metrics
from blazar.ports.capacity import CapacityLevel
from blazar.ports.meter import Metric
from blazar.telemetry.families import Values, family
from blazar.telemetry.limited import Limited


class CapacityGauges(Collector):
    """The gauges of ``blazar.ports.metrics.FROM_INDEXES``; none of them if they cannot be read."""

    def __init__(self, levels: Limited[Sequence[CapacityLevel]]) -> None:
        """Create a collector of what *levels* reads."""
        self._levels = levels

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges without values; no I/O."""
        for metric in metrics.FROM_INDEXES:
            yield family(metric, ())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges."""
        for metric, values in _values_of(self._levels.get() or ()):
            yield family(metric, values)


def _values_of(levels: Sequence[CapacityLevel]) -> Iterator[tuple[Metric, Values]]:
    found = [((each.collection, each.unit, each.property, each.value), each.forecast) for each in levels]
    yield metrics.CAPACITY, [(labels, own.total) for labels, own in found]
    yield metrics.CAPACITY_FREE, [(labels, own.free) for labels, own in found]
    yield (
        metrics.CAPACITY_LEAST_FREE,
        [
            ((*labels, f"{within.total_seconds() / 3600:g}"), least)
            for labels, own in found
            for within, least in own.least.items()
        ],
    )
    yield (
        metrics.CAPACITY_LOW_AFTER,
        [
            (labels, math.inf if own.low_after is None else own.low_after.total_seconds())
            for labels, own in found
        ],
    )
