"""Observation of which reserved resources are in use."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from blazar.booking.assignments import assign
from blazar.booking.context import Context
from blazar.domain.lease import Lease, LeaseId, ReservationId, ReservationStatus, ResourceId
from blazar.domain.portions import in_portions
from blazar.plugins.capabilities import ObservesUse
from blazar.plugins.contract import Assignment
from blazar.ports.store import Transaction
from blazar.reconcile.periodic.no_shows import end_no_shows

_LEASES_AT_ONCE: Final = 1_000
_MISSED: Final = 3
"""An observation counts for at most this many intervals, if the next ones fail or no manager runs."""

_logger = logging.getLogger(__name__)


def observe_use(context: Context, actor: str, check_claim: Callable[[], None]) -> None:
    """Record which resources of active reservations are in use now.

    The cloud is asked once for all reservations of a type. If it does not answer, only the other types are
    observed this time. Then leases that are not used are ended, if the operator wants that.

    Args:
        context: The context.
        actor: The manager, for the log.
        check_claim: Called before each type; an exception from it ends the task.
    """
    assignments, observed = _read_assignments(context), set[str]()
    for resource_type, plugin in sorted(context.plugins.items()):
        if not isinstance(plugin, ObservesUse):
            continue
        check_claim()
        # Before the request: a server that is created meanwhile appears in the next observation.
        now = context.clock.now()
        try:
            found = plugin.observe_use(context.cloud, assignments[resource_type])
        except Exception as error:
            _logger.warning(
                "cannot observe the use of resources: type=%s reason=%s observed_by=%s",
                *(resource_type, error, actor),
            )
            continue
        used = _units(assignments[resource_type], found)
        with context.store.begin() as transaction:
            transaction.usage.observe(resource_type, used, now, _MISSED * context.settings.usage.interval)
            transaction.commit()
        observed.add(resource_type)
    end_no_shows(context, actor, observed, check_claim)


def _units(
    assignments: Sequence[Assignment[Any]], found: Mapping[ReservationId, Mapping[ResourceId, int]]
) -> Mapping[tuple[ReservationId, ResourceId], int]:
    """Return the units in use of each resource: at most as many as the reservation holds."""
    return {
        (assignment.reservation_id, each.id): min(
            found.get(assignment.reservation_id, {}).get(each.id, 0), each.share.slots if each.share else 1
        )
        for assignment in assignments
        for each in assignment.resources
    }


def _read_assignments(context: Context) -> Mapping[str, Sequence[Assignment[Any]]]:
    """Return the active reservations by resource type."""
    found: defaultdict[str, list[Assignment[Any]]] = defaultdict(list)
    with context.store.read() as transaction:
        for some in in_portions(transaction.usage.list_active(), _LEASES_AT_ONCE):
            for resource_type, assignment in _assign_some(context, transaction, some):
                found[resource_type].append(assignment)
    return found


def _assign_some(
    context: Context, transaction: Transaction, lease_ids: Sequence[LeaseId]
) -> Sequence[tuple[str, Assignment[Any]]]:
    active = [
        (lease, each)
        for lease in transaction.leases.get_many(lease_ids)
        for each in lease.reservations
        if _is_observed(context, lease, each.status, each.resource_type)
    ]
    allocations = transaction.allocations.of_reservations([each.id for _, each in active])
    states = transaction.resources.get_states({each.resource_id for each in allocations})
    held = defaultdict(list)
    for each in allocations:
        held[each.reservation_id].append(each)
    return [
        (reservation.resource_type, assign(context, lease, reservation, held[reservation.id], states))
        for lease, reservation in active
    ]


def _is_observed(context: Context, lease: Lease, status: ReservationStatus, resource_type: str) -> bool:
    is_running = status is ReservationStatus.ACTIVE and not lease.is_deleting
    return is_running and isinstance(context.plugins.get(resource_type), ObservesUse)
