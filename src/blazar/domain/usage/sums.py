"""Sums of usage over steps of time, by group and unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate, pairwise

from blazar.domain.capacity import Amounts
from blazar.domain.interval import Interval
from blazar.domain.quotas import Units
from blazar.domain.requirements import Fact
from blazar.domain.usage.figures import Figure, Segment, divide
from blazar.domain.usage.records import Holding, ResourceFacts, UsageRecords
from blazar.domain.usage.timelines import Timelines

Group = Fact
Key = Callable[[Holding, ResourceFacts], Group]
"""Returns the group of a holding with these facts."""
_Alike = tuple[str, Amounts]
"""The name of units, and the amounts of one of them by resource class."""
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
    """Amounts of windows that cover a step only in part."""
    _levels: dict[int, int] = field(default_factory=dict)
    """Changes, at the start of steps, of the amounts that cover whole steps."""

    def add(self, start: datetime, end: datetime, amount: int) -> None:
        """Add an amount from *start* to *end*, which are inside the period."""
        begin, length = self.steps.window.start, self.steps.length
        after_start, after_end = start - begin, end - begin
        first, last = after_start // length, after_end // length
        if first == last:
            self._add(first, after_end - after_start, amount)
            return
        self._add(first, (first + 1) * length - after_start, amount)
        self._add(last, after_end - last * length, amount)
        self._levels[first + 1] = self._levels.get(first + 1, 0) + amount
        self._levels[last] = self._levels.get(last, 0) - amount

    def add_multiple(self, other: Series, factor: int) -> None:
        """Add another integral of the same steps, multiplied."""
        for own, more in ((self._parts, other._parts), (self._levels, other._levels)):
            for step, value in more.items():
                own[step] = own.get(step, 0) + value * factor

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

    def add(self, segment: Segment) -> None:
        """Add the units of a segment."""
        for figure, count in segment.units.items():
            if count:
                self._of(figure).add(segment.start, segment.end, count)

    def add_multiple(self, other: UnitSums, factor: int) -> None:
        """Add the sums of other units, multiplied."""
        for figure, series in other.series.items():
            self._of(figure).add_multiple(series, factor)

    def _of(self, figure: Figure) -> Series:
        if figure not in self.series:
            self.series[figure] = Series(self.steps)
        return self.series[figure]

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
    found: dict[Group, dict[_Alike, UnitSums]] = {}
    capacities: dict[int, Amounts] = {}
    timelines = Timelines(records)
    for holding in records.holdings:
        declared = units.get(holding.resource_type)
        name = f"{holding.resource_type if declared is None else declared.name}s"
        for segment in divide(holding, timelines, steps.window, now):
            amounts = _amounts(holding, segment.facts, capacities)
            sums = found.setdefault(key(holding, segment.facts), {})
            alike = sums.setdefault((name, amounts), UnitSums(steps))
            alike.add(segment)
    return {group: _by_unit(sums, steps) for group, sums in found.items()}


def _amounts(holding: Holding, facts: ResourceFacts, capacities: dict[int, Amounts]) -> Amounts:
    """Return the amounts of one unit of a holding by resource class; *capacities* caches those of facts."""
    if holding.share is not None:
        return holding.share.demand.amounts
    if id(facts) not in capacities:
        capacities[id(facts)] = tuple(sorted(facts.amounts.items()))
    return capacities[id(facts)]


def _by_unit(found: Mapping[_Alike, UnitSums], steps: Steps) -> Mapping[Unit, UnitSums]:
    """Return the sums of units and of resource classes, from those of units that are alike."""
    merged: dict[Unit, UnitSums] = {}
    for (name, amounts), sums in found.items():
        for unit, amount in ((Unit(name), 1), *((Unit(name, each), many) for each, many in amounts if many)):
            merged.setdefault(unit, UnitSums(steps)).add_multiple(sums, amount)
    return merged


def _hours(microseconds: int) -> float:
    return round(microseconds / _HOUR, 6)
