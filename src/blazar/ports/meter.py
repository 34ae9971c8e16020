"""Port: counters and measurements of a process, for operators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Kind(StrEnum):
    """The kind of a metric: the relation between its values."""

    COUNTER = "counter"
    """A value that only grows, from 0 at the start of the process."""
    GAUGE = "gauge"
    """A present value."""
    HISTOGRAM = "histogram"
    """A distribution: the number of observations per size."""


QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Bucket bounds, in seconds, for durations that a user waits for."""
SLOW = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
"""Bucket bounds, in seconds, for long operations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric. Labels have few, known values; no label value is an id."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    """Upper bounds; only for a histogram."""
    alias: Metric | None = None
    """The same metric as earlier versions exported it; it is exported as well for one more release."""

    @property
    def exported(self) -> tuple[Metric, ...]:
        """Return the metric and, if it has one, its alias."""
        return (self,) if self.alias is None else (self, self.alias)


class Meter(Protocol):
    """Metrics sink; never fails, never blocks."""

    def count(self, metric: Metric, *labels: str) -> None:
        """Increment a counter by one. *labels* are the values of the metric's labels, in their order."""

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Record one observation of a histogram."""

    def set(self, metric: Metric, value: float, *labels: str) -> None:
        """Record the present value of a gauge."""


Problems = Callable[[], tuple[str, ...]]
"""Return at once the reasons why a part of a process does not work, without secrets; empty if it works."""
