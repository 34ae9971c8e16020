"""Release and replacement of chosen resources of a reservation, which keeps the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from blazar.app.leases.change_search import PresentHoldings
from blazar.app.leases.releasing import is_active
from blazar.booking.context import Context, Plugin
from blazar.booking.shares import count_units
from blazar.booking.specs import intact_spec
from blazar.domain.errors import CannotChange, InvalidParameter
from blazar.domain.health import ResourceState
from blazar.domain.lease import Holdings, Lease, Reservation, ReservationId, ResourceId
from blazar.domain.wording import first_few
from blazar.plugins.capabilities import ReleasesChosenResources, ReleasesWhileActive
from blazar.plugins.contract import AllocatedResource


def reduced(
    plugin: Plugin, reservation: Reservation, released: Collection[ResourceId], present: PresentHoldings
) -> Reservation:
    """Return a reservation that needs only the resources that it keeps.

    Raises:
        InvalidParameter: It does not hold all of the released resources, or would keep none.
        CannotChange: Chosen resources of this type cannot be released, or only before the start.
    """
    held = present.by_reservation.get(reservation.id, {})
    _check_held("release", reservation, released, held)
    if not isinstance(plugin, ReleasesChosenResources):
        raise CannotChange(
            f"release: {reservation.resource_type} does not allow it; change the amount of the reservation"
        )
    _check_active("release", plugin, reservation)
    kept = {key: share for key, share in held.items() if key not in released}
    if not kept:
        raise InvalidParameter(
            "release",
            f"names all resources of reservation {reservation.id}; remove it, or delete the lease, instead",
        )
    resources = [
        AllocatedResource(id=each, share=held[each], facts=present.states.get(each, ResourceState()).facts)
        for each in sorted(released)
    ]
    spec = plugin.reduce(intact_spec(plugin, reservation), resources, count_units(kept))
    return replace(reservation, spec=spec)


def check_replaceable(
    context: Context,
    lease: Lease,
    replaced: Mapping[ReservationId, frozenset[ResourceId]],
    present: PresentHoldings,
) -> None:
    """Check that resources of reservations can be replaced by others.

    Raises:
        InvalidParameter: A reservation does not hold one of them.
        CannotChange: Resources of the type cannot be chosen, or only before the start.
    """
    for reservation in lease.reservations:
        if reservation.id not in replaced:
            continue
        plugin = context.plugin_for(reservation.resource_type)
        held = present.by_reservation.get(reservation.id, {})
        _check_held("replace", reservation, replaced[reservation.id], held)
        if not isinstance(plugin, ReleasesChosenResources):
            raise CannotChange(f"replace: {reservation.resource_type} does not allow it")
        _check_active("replace", plugin, reservation)


def _check_held(verb: str, reservation: Reservation, chosen: Collection[ResourceId], held: Holdings) -> None:
    unknown = sorted(each[:64] for each in chosen if each not in held)
    if unknown:
        raise InvalidParameter(verb, f"not held by reservation {reservation.id}: {first_few(unknown)}")


def _check_active(verb: str, plugin: Plugin, reservation: Reservation) -> None:
    if is_active(reservation) and not isinstance(plugin, ReleasesWhileActive):
        raise CannotChange(f"{verb}: {reservation.resource_type} allows it only before the start")
