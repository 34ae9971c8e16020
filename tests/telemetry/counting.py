"""A meter that tests can read."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from blazar.ports.meter import Metric

if TYPE_CHECKING:
    from blazar.ports.meter import Meter


class Counts:
    """A meter in memory; asserts that callers pass the labels of the metric."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.counted: Counter[tuple[str, ...]] = Counter()
        self.gauges: dict[tuple[str, ...], float] = {}
        self.observed: dict[tuple[str, ...], list[float]] = defaultdict(list)

    def count(self, metric: Metric, *labels: str) -> None:
        assert len(labels) == len(metric.labels), metric
        with self._lock:
            self.counted[(metric.name, *labels)] += 1

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        assert len(labels) == len(metric.labels), metric
        with self._lock:
            self.observed[(metric.name, *labels)].append(value)

    def set(self, metric: Metric, value: float, *labels: str) -> None:
        assert len(labels) == len(metric.labels), metric
        with self._lock:
            self.gauges[(metric.name, *labels)] = value

    def of(self, metric: Metric) -> dict[tuple[str, ...], int]:
        """Return the counts of one metric by its labels."""
        return {key[1:]: number for key, number in self.counted.items() if key[0] == metric.name}

    def values(self, metric: Metric) -> dict[tuple[str, ...], list[float]]:
        """Return the observations of one metric by its labels."""
        return {key[1:]: values for key, values in self.observed.items() if key[0] == metric.name}


if TYPE_CHECKING:
    _: Meter = Counts()
