"""The load of a pool over time: how much is in use at once, from the times of single uses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from blazar.domain.instants import micros
from blazar.domain.interval import Interval

Use = tuple[int, int, float]
"""Start and end in microseconds since 1970, and the amount that is in use between them."""
USUAL_SHARE = 0.95
"""The share of the time in which the usual load is not exceeded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The amounts that are in use at the same time within a window."""

    peak: float = 0
    mean: float = 0
    usual: float = 0
    """The amount that is not exceeded in 95 % of the time."""


def load_of(uses: Iterable[Use], window: Interval) -> Load:
    """Return the load of some uses within a window; uses may overlap."""
    first, last = micros(window.start), micros(window.end)
    changes: dict[int, float] = {first: 0.0, last: 0.0}
    for start, end, amount in uses:
        begin, stop = max(start, first), min(end, last)
        if begin < stop:
            changes[begin] = changes.get(begin, 0) + amount
            changes[stop] = changes.get(stop, 0) - amount
    levels = _levels(changes, last)
    whole = last - first
    return Load(
        peak=max(level for level, _ in levels),
        mean=sum(level * length for level, length in levels) / whole,
        usual=_quantile(levels, whole * USUAL_SHARE),
    )


def merged(times: Iterable[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return the times that at least one of *times* covers, without overlaps, in order."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(times):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def quantile(values: Iterable[float], share: float) -> float:
    """Return the smallest of some values that at least *share* of them do not exceed; 0 without values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0


def _levels(changes: dict[int, float], last: int) -> list[tuple[float, int]]:
    """Return the amounts in use, each with the time for which it stays."""
    found, level, instants = [], 0.0, sorted(changes)
    for instant, following in zip(instants, [*instants[1:], last], strict=True):
        level += changes[instant]
        if following > instant:
            # Sums of fractions of hosts, which would otherwise differ in the last digits.
            found.append((round(level, 9), following - instant))
    return found


def _quantile(levels: list[tuple[float, int]], length: float) -> float:
    passed = 0
    for level, duration in sorted(levels):
        passed += duration
        if passed >= length:
            return level
    return levels[-1][0]
