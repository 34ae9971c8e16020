"""Amounts over time, as step functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from blazar.domain.interval import Interval


class Levels:
    """An amount that changes at instants; 0 before the first. Windows include their start, not their end."""

    def __init__(self) -> None:
        """Create a level that is always 0."""
        self._changes: defaultdict[datetime, int] = defaultdict(int)

    @property
    def instants(self) -> frozenset[datetime]:
        """Return the instants at which the level may change."""
        return frozenset(self._changes)

    def add(self, window: Interval, amount: int) -> None:
        """Raise the level by *amount* throughout a window."""
        self._changes[window.start] += amount
        self._changes[window.end] -= amount

    def at(self, instants: Iterable[datetime]) -> Iterator[int]:
        """Yield the level from each instant on; *instants* are ascending and include all its changes."""
        level = 0
        for each in instants:
            level += self._changes.get(each, 0)
            yield level

    def peak(self) -> int:
        """Return the highest level; 0 if the level is never positive."""
        return max(self.at(sorted(self._changes)), default=0)
