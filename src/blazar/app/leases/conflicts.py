"""Resources of a lease that others have booked in its new period, and their treatment by a request."""

from __future__ import annotations

from collections.abc import Mapping

from blazar.app.leases.change_search import PresentHoldings
from blazar.app.leases.changes import OnConflict
from blazar.app.leases.releasing import is_active
from blazar.booking.context import Context
from blazar.domain.errors import CannotChange
from blazar.domain.interval import Interval
from blazar.domain.lease import Lease, Reservation, ReservationId, ResourceId
from blazar.domain.wording import first_few
from blazar.plugins.capabilities import ReleasesChosenResources

_Resources = Mapping[ReservationId, frozenset[ResourceId]]


def find_conflicts(
    context: Context,
    lease: Lease,
    asked: Mapping[ReservationId, OnConflict],
    ahead: Interval,
    present: PresentHoldings,
) -> _Resources:
    """Return the resources to drop or to replace, for each reservation for which the request says so.

    Args:
        context: The context.
        lease: The lease before the change.
        asked: What the request says, by reservation.
        ahead: The part of the new window that has not passed.
        present: What the lease holds.

    Raises:
        CannotChange: The type has no resources that can be dropped, the reservation has begun, or nothing
            would remain.
    """
    found = {}
    for reservation in lease.reservations:
        action = asked.get(reservation.id)
        if action is None or action is OnConflict.FAIL:
            continue
        plugin = context.plugin_for(reservation.resource_type)
        if not isinstance(plugin, ReleasesChosenResources):
            raise CannotChange(f"on_conflict: reservations of {reservation.resource_type} do not support it")
        conflicts = _conflicts(context, lease, reservation, ahead, present)
        if conflicts:
            if action is OnConflict.DROP:
                _check_droppable(reservation, conflicts, present)
            found[reservation.id] = conflicts
    return found


def _conflicts(
    context: Context, lease: Lease, reservation: Reservation, ahead: Interval, present: PresentHoldings
) -> frozenset[ResourceId]:
    held = present.by_reservation.get(reservation.id, {})
    plugin = context.plugin_for(reservation.resource_type)
    with context.indexes[plugin.collection].searching() as availability:
        free = availability.free(
            ahead,
            now=context.clock.now(),
            cleaning_time=context.settings.leases.cleaning_time,
            ignoring=[each.id for each in lease.reservations],
            awaited=held if is_active(reservation) else (),
            among=availability.mask_of(held),
        )
        positions = {each: availability.position_of(each) for each in held}
        return frozenset(
            each for each, position in positions.items() if position is None or not free[position]
        )


def _check_droppable(
    reservation: Reservation, conflicts: frozenset[ResourceId], present: PresentHoldings
) -> None:
    shown = first_few(sorted(conflicts))
    if is_active(reservation):
        # The lessee would lose them before the end that was promised.
        raise CannotChange(
            f"on_conflict: drop is only possible before the start; reservation {reservation.id} uses {shown},"
            " which another lease has in the new period. Send replace, or release them"
        )
    if len(conflicts) == len(present.by_reservation[reservation.id]):
        raise CannotChange(
            f"on_conflict: other leases have all resources of reservation {reservation.id} in the new period:"
            f" {shown}; drop would leave none"
        )
