"""Snapshot of a lease's allocations and the states of its resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blazar.booking.assignments import assign
from blazar.booking.context import Context
from blazar.domain.health import ResourceState
from blazar.domain.lease import Allocation, Lease, Reservation, ReservationId, ResourceId
from blazar.plugins.contract import Assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseSnapshot:
    """The unreleased allocations of a lease's reservations, and the states of their resources."""

    allocations: Mapping[ReservationId, tuple[Allocation, ...]]
    states: Mapping[ResourceId, ResourceState]

    def assign(self, context: Context, lease: Lease, reservation: Reservation) -> Assignment[Any]:
        """Return a reservation of the lease together with its allocations."""
        return assign(context, lease, reservation, self.allocations[reservation.id], self.states)

    def failed(self, reservation: Reservation) -> Mapping[ResourceId, str]:
        """Return the failed resources of a reservation, with the reason for each."""
        # A resource that was deleted since its allocations were read has no state.
        known = (each.resource_id for each in self.allocations[reservation.id])
        diagnoses = {each: self.states[each].diagnosis for each in known if each in self.states}
        return {key: each.problem for key, each in diagnoses.items() if each.has_failed}


def read_snapshot(context: Context, lease: Lease) -> LeaseSnapshot:
    """Return the present snapshot of a lease. The states of resources may be later than its allocations."""
    with context.store.read(of_one_instant=False) as transaction:
        held = transaction.allocations.of_reservations([each.id for each in lease.reservations])
        lost = {one for each in lease.reservations for one in each.lost_resources}
        states = transaction.resources.get_states({each.resource_id for each in held} | lost)
    return LeaseSnapshot(
        allocations={
            each.id: tuple(one for one in held if one.reservation_id == each.id)
            for each in lease.reservations
        },
        states=states,
    )
