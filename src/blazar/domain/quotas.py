"""A project's reserved amounts, under the names for which operators set limits.

For a resource type with units called *things*: ``reserved_things`` is the largest number that the project
holds at the same time from now on; ``thing_hours_ahead`` is the sum, over all of them, of the hours for which
they are still reserved. Other names are ``leases`` (that have not ended) and, since instances differ in size,
``reserved_instances:VCPU`` and so on for each resource class that instances need.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from blazar.domain.capacity import Share
from blazar.domain.interval import Interval
from blazar.domain.levels import Levels

LEASES: Final = "leases"
UNLIMITED: Final = -1
"""The value for no limit, as in Keystone."""

_HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUnit:
    """The unit in which reserved amounts of a resource type are counted and limited."""

    name: str
    """Singular, as part of the names of limits: ``host`` in ``reserved_hosts`` and ``host_hours_ahead``."""
    is_whole: bool = False
    """Whether it is only reserved whole, so that amounts of resource classes are not counted."""


Units = Mapping[str, QuotaUnit]
"""The units by resource type; a type that is missing is its own unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Equal allocations of a project."""

    resource_type: str
    window: Interval
    count: int
    share: Share | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """Everything that a project has reserved: leases that have not ended, open offers, and what they hold."""

    leases: int
    held: tuple[Held, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """A limit that a change would exceed."""

    name: str
    limit: int
    before: int
    """The amount without the change, at the instant of the largest excess."""
    after: int

    def __str__(self) -> str:
        asked = self.after - self.before
        return f"{self.name}: {self.before} in use, {asked} more requested, and the limit is {self.limit}"


def is_known(name: str, units: Units) -> bool:
    """Return whether this name is that of an amount that is counted for the resource types of these units."""
    names = {each.name for each in units.values()}
    known = {LEASES, *(f"reserved_{each}s" for each in names), *(f"{each}_hours_ahead" for each in names)}
    shared = tuple(f"reserved_{each.name}s:" for each in units.values() if not each.is_whole)
    return name in known or (name.startswith(shared) and name not in shared)


def amounts(reserved: Reserved, units: Units, now: datetime) -> Mapping[str, int]:
    """Return the largest amount of each name from *now* on; hours are rounded up."""
    peaks = {name: levels.peak() for name, levels in _levels(reserved, units, now).items()}
    return {LEASES: reserved.leases, **peaks, **_hours_ahead(reserved, units, now)}


def find_excess(
    before: Reserved, after: Reserved, limits: Mapping[str, int], units: Units, now: datetime
) -> tuple[Excess, ...]:
    """Return, by name, the limits that a change exceeds by more than before.

    A project that is already over a limit, because the limit was lowered, can still make changes that do
    not increase the excess.
    """
    sums_before = {LEASES: before.leases, **_hours_ahead(before, units, now)}
    sums_after = {LEASES: after.leases, **_hours_ahead(after, units, now)}
    levels_before, levels_after = _levels(before, units, now), _levels(after, units, now)
    found = []
    for name, limit in sorted(limits.items()):
        if limit == UNLIMITED:
            continue
        pairs = [(sums_before.get(name, 0), sums_after.get(name, 0))]
        pairs += _paired(levels_before.get(name, Levels()), levels_after.get(name, Levels()))
        worse = [(one, other) for one, other in pairs if other > limit and other > one]
        if worse:
            one, other = max(worse, key=lambda each: (each[1], each[1] - each[0]))
            found.append(Excess(name=name, limit=limit, before=one, after=other))
    return tuple(found)


def is_more(before: Reserved, after: Reserved, units: Units, now: datetime) -> bool:
    """Return whether a change increases any amount at any instant from *now* on."""
    names = {LEASES, *_hours_ahead(after, units, now), *_levels(after, units, now)}
    return bool(find_excess(before, after, dict.fromkeys(names, 0), units, now))


def _levels(reserved: Reserved, units: Units, now: datetime) -> Mapping[str, Levels]:
    """Return the amounts from *now* on, by name."""
    levels: defaultdict[str, Levels] = defaultdict(Levels)
    for each in reserved.held:
        if each.window.end <= now:
            continue
        for name, amount in _at_once(each, units):
            levels[name].add(each.window.after(now), amount)
    return levels


def _at_once(held: Held, units: Units) -> Iterator[tuple[str, int]]:
    count = held.count * (1 if held.share is None else held.share.slots)
    name = f"reserved_{_unit_of(held, units)}s"
    yield name, count
    if held.share is not None:
        for resource_class, amount in held.share.demand.amounts:
            yield f"{name}:{resource_class}", count * amount


def _hours_ahead(reserved: Reserved, units: Units, now: datetime) -> Mapping[str, int]:
    ahead: defaultdict[str, timedelta] = defaultdict(timedelta)
    for each in reserved.held:
        count = each.count * (1 if each.share is None else each.share.slots)
        left = max(timedelta(0), each.window.end - max(each.window.start, now))
        ahead[f"{_unit_of(each, units)}_hours_ahead"] += count * left
    return {name: math.ceil(total / _HOUR) for name, total in ahead.items()}


def _unit_of(held: Held, units: Units) -> str:
    unit = units.get(held.resource_type)
    return held.resource_type if unit is None else unit.name


def _paired(before: Levels, after: Levels) -> Iterator[tuple[int, int]]:
    instants = sorted(before.instants | after.instants)
    return zip(before.at(instants), after.at(instants), strict=True)
