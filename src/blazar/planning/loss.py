"""The effect of the loss of a failure domain: which reservations could not be placed elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from blazar.booking.clearing import Affected, Clearing, plan_clearing
from blazar.booking.context import Context
from blazar.domain.interval import Interval
from blazar.domain.lease import Lease, Reservation, ResourceId
from blazar.planning.allocation_table import ClassAmounts, amounts_of
from blazar.planning.copy import HOSTS
from blazar.planning.hosts import PlannedHost, domain_name, largest_domain


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedReservation:
    """A reservation that loses hosts."""

    lease_id: str
    lease_name: str
    project_id: str | None
    reservation_id: str
    resource_type: str
    start: datetime
    end: datetime
    has_begun: bool
    hosts: tuple[str, ...]
    """The names of the hosts that it loses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """The loss of all hosts of a failure domain now."""

    domain: str
    reservable: int
    """Reservable hosts in it."""
    general: int
    """Hosts of the general pool in it."""
    placed: tuple[AffectedReservation, ...]
    """Reservations that get other hosts."""
    not_placed: tuple[AffectedReservation, ...]
    """Reservations for which there are no others."""
    general_left: tuple[ClassAmounts, ...]
    """The rest of the general pool; the used amounts include those of lost servers."""


def find_loss(context: Context, hosts: Sequence[PlannedHost], window: Interval) -> Loss | None:
    """Return the effect of the loss of the failure domain with the most reservable hosts.

    Args:
        context: A context of :func:`~blazar.planning.copy.copied`.
        hosts: All hosts.
        window: From now to the end of the horizon.

    Returns:
        None if no host is reservable.
    """
    largest = largest_domain(each for each in hosts if each.is_reservable)
    if largest is None:
        return None
    domain, reservable = largest
    lost = [each.resource_id for each in reservable if each.resource_id is not None]
    clearing = plan_clearing(context, HOSTS, lost, window, are_lost=True)
    general = [each for each in hosts if not each.is_reservable]
    left = [each for each in general if each.domain != domain]
    names = {each.resource_id: each.name for each in hosts if each.resource_id is not None}
    now = context.clock.now()
    not_placed = affected_reservations(clearing.unmovable, names, now)
    without = {each.reservation_id for each in not_placed}
    return Loss(
        domain=domain_name(domain),
        reservable=len(reservable),
        general=len(general) - len(left),
        placed=tuple(each for each in _moved(clearing, names, now) if each.reservation_id not in without),
        not_placed=tuple(not_placed),
        general_left=_with_all_used(amounts_of(left), amounts_of(general)),
    )


def affected_reservations(
    affected: Sequence[Affected], names: Mapping[ResourceId, str], now: datetime
) -> Sequence[AffectedReservation]:
    """Return each reservation once, with its hosts, in the order of starts."""
    hosts: dict[str, list[str]] = {}
    reservations: dict[str, tuple[Lease, Reservation]] = {}
    for each in affected:
        key = each.allocation.resource_id
        hosts.setdefault(each.reservation.id, []).append(names.get(key, key))
        reservations[each.reservation.id] = (each.lease, each.reservation)
    found = [_affected(*reservations[key], hosts[key], now) for key in hosts]
    return sorted(found, key=lambda each: (each.start, each.reservation_id))


def _moved(
    clearing: Clearing, names: Mapping[ResourceId, str], now: datetime
) -> Sequence[AffectedReservation]:
    cleared = clearing.cleared.keys()
    lost = [(each, [names.get(key, key) for key in each.removed & cleared]) for each in clearing.moves]
    found = [_affected(each.lease, each.reservation, own, now) for each, own in lost if own]
    return sorted(found, key=lambda each: (each.start, each.reservation_id))


def _affected(
    lease: Lease, reservation: Reservation, hosts: Sequence[str], now: datetime
) -> AffectedReservation:
    return AffectedReservation(
        lease_id=lease.id,
        lease_name=lease.name,
        project_id=lease.project_id,
        reservation_id=reservation.id,
        resource_type=reservation.resource_type,
        start=lease.start,
        end=lease.end,
        has_begun=lease.start <= now,
        hosts=tuple(sorted(hosts)),
    )


def _with_all_used(left: Sequence[ClassAmounts], whole: Sequence[ClassAmounts]) -> tuple[ClassAmounts, ...]:
    used = {each.resource_class: each.used for each in whole}
    return tuple(
        ClassAmounts(
            resource_class=each.resource_class,
            total=each.total,
            capacity=each.capacity,
            used=used[each.resource_class],
            lowest_ratio=each.lowest_ratio,
            highest_ratio=each.highest_ratio,
        )
        for each in left
    )
