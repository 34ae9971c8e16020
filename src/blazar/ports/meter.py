"""Counting and measuring what happens in a process, for whoever operates it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Kind(StrEnum):
    """How the values of a metric relate to each other."""

    COUNTER = "counter"
    """Grows, from 0 when the process starts."""
    GAUGE = "gauge"
    """Is what it is now."""
    HISTOGRAM = "histogram"
    """How many observations were how large."""


QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Bounds, in seconds, for what somebody waits for."""
SLOW = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
"""Bounds, in seconds, for what may take its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """What is measured. No label ever has an id for its value: there are few values, and they are known."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    """Upper bounds; of a histogram only."""


class Meter(Protocol):
    """Where numbers go; never fails, never blocks."""

    def count(self, metric: Metric, *labels: str) -> None:
        """Count one more. *labels* are the values of the metric's labels, in their order."""

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Note one observation of a histogram."""


class NoMeter:
    """Implements :class:`Meter` where nobody is interested."""

    def count(self, metric: Metric, *labels: str) -> None:
        """Do nothing."""

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Do nothing."""


Problems = Callable[[], tuple[str, ...]]
"""Returns at once why a part of a process does not work, in words without secrets; empty if it does."""
