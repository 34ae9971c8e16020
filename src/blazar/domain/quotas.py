"""How much a project has reserved, by the names under which operators limit it.

For a resource type whose units are called *things*: ``reserved_things`` is how many the project holds at the
same time, at worst, from now on; ``thing_hours_ahead`` is the sum, over all of them, of the hours for which
they are still promised. Besides these there are ``leases`` (that have not ended), and, since slots differ in
size, ``reserved_instances:VCPU`` and so on for each resource class of which instances need something.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from blazar.domain.capacity import Share
from blazar.domain.interval import Interval

LEASES: Final = "leases"
UNLIMITED: Final = -1
"""The limit that is none, in Keystone's way of saying it."""

_UNITS: Final = {
    "physical:host": "host",
    "virtual:instance": "instance",
    "flavor:instance": "instance",
    "virtual:floatingip": "floatingip",
}
_WHOLE: Final = frozenset({"host", "floatingip"})
"""What is given out whole, so that no amounts of resource classes are counted."""
_HOUR: Final = timedelta(hours=1)

_Steps = Mapping[str, Mapping[datetime, int]]
"""By how much an amount changes, by name and instant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Allocations of a project that are alike."""

    resource_type: str
    window: Interval
    count: int
    share: Share | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """All that a project has reserved: leases that have not ended, and what they hold."""

    leases: int
    held: tuple[Held, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """A limit that a change would exceed."""

    name: str
    limit: int
    before: int
    """What there is without the change, at the instant at which it is worst."""
    after: int

    def __str__(self) -> str:
        asked = self.after - self.before
        return f"{self.name}: {self.before} in use, {asked} more asked for, and the limit is {self.limit}"


def unit_of(resource_type: str) -> str:
    """Return what one of a type's resources is called in names; a type that is not ours has its own name."""
    return _UNITS.get(resource_type, resource_type)


def is_known(name: str, resource_types: Iterable[str]) -> bool:
    """Return whether amounts of this name are counted where these resource types are served."""
    units = {unit_of(each) for each in resource_types}
    known = {LEASES, *(f"reserved_{each}s" for each in units), *(f"{each}_hours_ahead" for each in units)}
    shared = tuple(f"reserved_{each}s:" for each in units - _WHOLE)
    return name in known or (name.startswith(shared) and name not in shared)


def amounts(reserved: Reserved, now: datetime) -> Mapping[str, int]:
    """Return how much there is of everything, at its worst from *now* on; hours are rounded up."""
    peaks = {
        name: max((amount for _, amount in _levels(steps, sorted(steps))), default=0)
        for name, steps in _steps(reserved, now).items()
    }
    return {LEASES: reserved.leases, **peaks, **_hours_ahead(reserved, now)}


def find_excess(
    before: Reserved, after: Reserved, limits: Mapping[str, int], now: datetime
) -> tuple[Excess, ...]:
    """Return the limits that are exceeded after a change, and more so than before it, by name.

    Whoever is over a limit already, because it was lowered, can still change what makes it no worse.
    """
    sums_before = {LEASES: before.leases, **_hours_ahead(before, now)}
    sums_after = {LEASES: after.leases, **_hours_ahead(after, now)}
    steps_before, steps_after = _steps(before, now), _steps(after, now)
    found = []
    for name, limit in sorted(limits.items()):
        if limit == UNLIMITED:
            continue
        pairs = [(sums_before.get(name, 0), sums_after.get(name, 0))]
        pairs += _side_by_side(steps_before.get(name, {}), steps_after.get(name, {}))
        worse = [(one, other) for one, other in pairs if other > limit and other > one]
        if worse:
            one, other = max(worse, key=lambda each: (each[1], each[1] - each[0]))
            found.append(Excess(name=name, limit=limit, before=one, after=other))
    return tuple(found)


def is_more(before: Reserved, after: Reserved, now: datetime) -> bool:
    """Return whether a change makes any amount larger at any instant from *now* on."""
    names = {LEASES, *_hours_ahead(after, now), *_steps(after, now)}
    return bool(find_excess(before, after, dict.fromkeys(names, 0), now))


def _steps(reserved: Reserved, now: datetime) -> _Steps:
    steps: defaultdict[str, defaultdict[datetime, int]] = defaultdict(lambda: defaultdict(int))
    for each in reserved.held:
        if each.window.end <= now:
            continue
        for name, amount in _at_once(each):
            steps[name][max(each.window.start, now)] += amount
            steps[name][each.window.end] -= amount
    return steps


def _at_once(held: Held) -> Iterator[tuple[str, int]]:
    units = held.count * (1 if held.share is None else held.share.slots)
    name = f"reserved_{unit_of(held.resource_type)}s"
    yield name, units
    if held.share is not None:
        for resource_class, amount in held.share.demand.amounts:
            yield f"{name}:{resource_class}", units * amount


def _hours_ahead(reserved: Reserved, now: datetime) -> Mapping[str, int]:
    ahead: defaultdict[str, timedelta] = defaultdict(timedelta)
    for each in reserved.held:
        units = each.count * (1 if each.share is None else each.share.slots)
        left = max(timedelta(0), each.window.end - max(each.window.start, now))
        ahead[f"{unit_of(each.resource_type)}_hours_ahead"] += units * left
    return {name: math.ceil(total / _HOUR) for name, total in ahead.items()}


def _levels(steps: Mapping[datetime, int], instants: Iterable[datetime]) -> Iterator[tuple[datetime, int]]:
    level = 0
    for each in instants:
        level += steps.get(each, 0)
        yield each, level


def _side_by_side(before: Mapping[datetime, int], after: Mapping[datetime, int]) -> Iterator[tuple[int, int]]:
    instants = sorted({*before, *after})
    for (_, one), (_, other) in zip(_levels(before, instants), _levels(after, instants), strict=True):
        yield one, other
