"""The capacity allocation table: by zone, rack and host type, where hosts are and how many are reserved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from blazar.domain.instants import micros
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.planning.hosts import CLASSES, PlannedHost
from blazar.planning.load import load_of

Times = Sequence[tuple[int, int]]
"""Times in microseconds since 1970, in order, without overlaps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BookedTimes:
    """The times at which each registered host is reserved, or is not free for another reason."""

    reserved: Mapping[ResourceId, Times]
    """By leases and offers."""
    occupied: Mapping[ResourceId, Times]
    """These times, with maintenance and with the time in which hosts are cleaned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassAmounts:
    """The amounts of a resource class on some hosts."""

    resource_class: str
    total: int
    """Without overcommit."""
    capacity: int
    """What can be allocated, with overcommit."""
    used: int
    """The amount that servers use; only for hosts of the general pool."""
    lowest_ratio: float
    highest_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationRow:
    """The hosts of one zone, rack and type; or of the whole cloud."""

    zone: str
    rack: str
    kind: str
    total: int
    general: int
    reservable: int
    unusable: int
    """Reservable hosts that take no new reservations, because they are disabled, failed or not registered."""
    reserved_now: int
    peak: int
    """The most hosts that are reserved at the same time in the horizon."""
    mean: float
    """How many hosts are reserved, on average over the horizon."""
    headroom: int
    """The fewest usable reservable hosts that are free at the same time in the horizon."""
    general_amounts: tuple[ClassAmounts, ...]
    reservable_amounts: tuple[ClassAmounts, ...]


def allocation_table(
    hosts: Sequence[PlannedHost], booked: BookedTimes, window: Interval
) -> tuple[AllocationRow, ...]:
    """Return a row for each zone, rack and host type, in order; the window begins now."""
    groups: dict[tuple[str, str, str], list[PlannedHost]] = {}
    for each in hosts:
        groups.setdefault((each.zone, each.rack, each.kind), []).append(each)
    return tuple(allocation_row(key, groups[key], booked, window) for key in sorted(groups))


def allocation_row(
    key: tuple[str, str, str], hosts: Sequence[PlannedHost], booked: BookedTimes, window: Interval
) -> AllocationRow:
    """Return the row of some hosts; *key* has the texts for zone, rack and type."""
    reservable = [each for each in hosts if each.is_reservable]
    usable = [each for each in reservable if each.is_usable]
    load = load_of(_uses(reservable, booked.reserved), window)
    occupied = load_of(_uses(usable, booked.occupied), window)
    now = micros(window.start)
    zone, rack, kind = key
    return AllocationRow(
        zone=zone,
        rack=rack,
        kind=kind,
        total=len(hosts),
        general=len(hosts) - len(reservable),
        reservable=len(reservable),
        unusable=len(reservable) - len(usable),
        reserved_now=sum(start <= now < end for start, end, _ in _uses(reservable, booked.reserved)),
        peak=round(load.peak),
        mean=round(load.mean, 2),
        headroom=len(usable) - round(occupied.peak),
        general_amounts=amounts_of(each for each in hosts if not each.is_reservable),
        reservable_amounts=amounts_of(reservable),
    )


def amounts_of(hosts: Iterable[PlannedHost]) -> tuple[ClassAmounts, ...]:
    """Return the amounts of each resource class that some hosts have."""
    hosts = list(hosts)
    found = []
    for name in CLASSES:
        inventories = [each.inventories[name] for each in hosts if name in each.inventories]
        if inventories:
            ratios = [each.allocation_ratio for each in inventories]
            found.append(
                ClassAmounts(
                    resource_class=name,
                    total=sum(each.total for each in inventories),
                    capacity=sum(each.capacity for each in inventories),
                    used=sum(each.used.get(name, 0) for each in hosts),
                    lowest_ratio=min(ratios),
                    highest_ratio=max(ratios),
                )
            )
    return tuple(found)


def _uses(
    hosts: Iterable[PlannedHost], times: Mapping[ResourceId, Times]
) -> Sequence[tuple[int, int, float]]:
    return [
        (start, end, 1.0)
        for each in hosts
        if each.resource_id is not None
        for start, end in times.get(each.resource_id, ())
    ]
