"""Sums of usage over steps of time, by group and unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate, pairwise

from blazar.domain.interval import Interval
from blazar.domain.quotas import Units
from blazar.domain.requirements import Fact
from blazar.domain.usage.figures import Figure, divide
from blazar.domain.usage.records import Holding, ResourceFacts, UsageRecords

Group = Fact
Key = Callable[[Holding, ResourceFacts], Group]
"""Returns the group of a holding with these facts."""
_MICROSECOND = timedelta.resolution
_HOUR = timedelta(hours=1) // _MICROSECOND


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """Something that is counted: units of a resource type, or the amounts of a resource class in them."""

    name: str
    """Plural, as in the names of limits: ``hosts``."""
    resource_class: str = ""
    """Empty for the units themselves."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A period in steps of equal length; the last one may be shorter."""

    window: Interval
    length: timedelta

    @property
    def count(self) -> int:
        """Return the number of steps, at least 1."""
        return -(-self.window.duration // self.length)

    def windows(self) -> Iterator[Interval]:
        """Yield the steps in the order of time."""
        for number in range(self.count):
            start = self.window.start + number * self.length
            yield Interval(start, min(start + self.length, self.window.end))


@dataclass(slots=True)
class Series:
    """An integral over time for each step, in units × microseconds; integers, so that nothing is lost."""

    steps: Steps
    _parts: dict[int, int] = field(default_factory=dict)
    """Of windows that cover a step only in part."""
    _levels: dict[int, int] = field(default_factory=dict)
    """Changes, at the start of steps, of what covers the whole step."""

    def add(self, window: Interval, amount: int) -> None:
        """Add an amount during a window inside the period."""
        start, end = window.start - self.steps.window.start, window.end - self.steps.window.start
        length = self.steps.length
        first, last = start // length, end // length
        if first == last:
            self._add(first, end - start, amount)
            return
        self._add(first, (first + 1) * length - start, amount)
        self._add(last, end - last * length, amount)
        self._levels[first + 1] = self._levels.get(first + 1, 0) + amount
        self._levels[last] = self._levels.get(last, 0) - amount

    def _add(self, step: int, time: timedelta, amount: int) -> None:
        self._parts[step] = self._parts.get(step, 0) + time // _MICROSECOND * amount

    def hours(self) -> list[float]:
        """Return the hours of each step."""
        count = self.steps.count
        levels = accumulate(self._levels.get(each, 0) for each in range(count))
        whole = self.steps.length // _MICROSECOND
        return [_hours(level * whole + self._parts.get(number, 0)) for number, level in enumerate(levels)]

    def total(self) -> float:
        """Return the hours of the whole period."""
        whole, level, found = self.steps.length // _MICROSECOND, 0, sum(self._parts.values())
        changes = sorted(self._levels.items())
        for (number, change), (following, _) in pairwise(changes):
            level += change
            found += level * whole * (following - number)
        return _hours(found)


@dataclass(slots=True)
class UnitSums:
    """The series of one unit in one group, by figure."""

    steps: Steps
    series: dict[Figure, Series] = field(default_factory=dict)

    def add(self, figure: Figure, window: Interval, amount: int) -> None:
        """Add an amount during a window."""
        if figure not in self.series:
            self.series[figure] = Series(self.steps)
        self.series[figure].add(window, amount)

    def totals(self) -> Mapping[Figure, float]:
        """Return the hours of the whole period."""
        return {each: self.series[each].total() if each in self.series else 0.0 for each in Figure}

    def by_step(self) -> Sequence[Mapping[Figure, float]]:
        """Return the hours of each step."""
        none = [0.0] * self.steps.count
        columns = [self.series[each].hours() if each in self.series else none for each in Figure]
        return [dict(zip(Figure, row, strict=True)) for row in zip(*columns, strict=True)]


Usage = Mapping[Group, Mapping[Unit, UnitSums]]


def sum_usage(records: UsageRecords, steps: Steps, key: Key, units: Units, now: datetime) -> Usage:
    """Return the usage of a period by group and unit.

    Args:
        records: What is recorded about the period.
        steps: The period.
        key: The group of a holding; it may change with the facts of the resource.
        units: The unit of each resource type.
        now: The present.
    """
    found: dict[Group, dict[Unit, UnitSums]] = {}
    for holding in records.holdings:
        declared = units.get(holding.resource_type)
        name = f"{holding.resource_type if declared is None else declared.name}s"
        for segment in divide(holding, records, steps.window, now):
            sums = found.setdefault(key(holding, segment.facts), {})
            for unit, amount in _amounts(name, holding, segment.facts):
                of_unit = sums.setdefault(unit, UnitSums(steps))
                for figure, count in segment.units.items():
                    if count:
                        of_unit.add(figure, segment.window, count * amount)
    return found


def _amounts(name: str, holding: Holding, facts: ResourceFacts) -> Iterator[tuple[Unit, int]]:
    """Yield the amounts of one unit: 1, and those by resource class."""
    yield Unit(name), 1
    classes = facts.amounts.items() if holding.share is None else holding.share.demand.amounts
    for resource_class, amount in classes:
        if amount:
            yield Unit(name, resource_class), amount


def _hours(microseconds: int) -> float:
    return round(microseconds / _HOUR, 6)
