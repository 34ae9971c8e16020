"""Common parts of measuring programs: the clock, the count of statements, the floor."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable

import sqlalchemy as sa

Spread = tuple[float, float, float]
"""Median, minimum and maximum, in milliseconds."""


class Counter:
    """Counter of the statements of an engine."""

    def __init__(self, engine: sa.Engine) -> None:
        self.count = 0
        sa.event.listen(engine, "before_cursor_execute", self._on_statement)

    def _on_statement(self, *_: object) -> None:
        self.count += 1


def timed(act: Callable[[], object], counter: Counter) -> tuple[float, int]:
    """Return the duration in milliseconds and the number of statements of an operation."""
    before, start = counter.count, time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000, counter.count - before


def spread(values: Iterable[float]) -> Spread:
    """Return median, minimum and maximum."""
    ordered = sorted(values)
    return statistics.median(ordered), ordered[0], ordered[-1]


def shown(figures: Spread) -> str:
    """Return median (minimum to maximum)."""
    return f"{figures[0]:.2f} ({figures[1]:.2f} to {figures[2]:.1f})"


def ranged(counts: tuple[int, int]) -> str:
    """Return one number, or a range."""
    return str(counts[0]) if counts[0] == counts[1] else f"{counts[0]} to {counts[1]}"
