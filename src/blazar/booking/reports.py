"""Resources that a lessee reported as broken, which no later choice for the same lease takes.

The reports of a lease are its entries in the journal with the event :data:`REPORTED`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from blazar.booking.context import Context
from blazar.booking.transitions import request_entry
from blazar.domain.lease import Lease, LeaseId, ReservationId, ResourceId
from blazar.ports.manager import Caller
from blazar.ports.metrics import REPORTED_RESOURCES
from blazar.ports.store import Transaction

REPORTED: Final = "resource.reported"
"""The journal's event. Its reason has the id of the resource, a space, its name, and what is wrong."""


def read_reported(
    context: Context, lease_ids: Collection[LeaseId]
) -> Mapping[LeaseId, frozenset[ResourceId]]:
    """Return the resources that were reported for each of these leases."""
    with context.store.read(of_one_instant=False) as transaction:
        return list_reported(transaction, lease_ids)


def list_reported(
    transaction: Transaction, lease_ids: Collection[LeaseId]
) -> Mapping[LeaseId, frozenset[ResourceId]]:
    """Return the same as :func:`read_reported`."""
    found: dict[LeaseId, set[ResourceId]] = {key: set() for key in lease_ids}
    for each in transaction.journal.list_event(REPORTED, lease_ids):
        if each.lease_id is not None:
            found[LeaseId(each.lease_id)].add(ResourceId(each.reason.partition(" ")[0]))
    return {key: frozenset(own) for key, own in found.items()}


def record_reports(
    context: Context,
    transaction: Transaction,
    lease: Lease,
    reported: Mapping[ReservationId, frozenset[ResourceId]],
    reason: str,
    caller: Caller,
) -> Sequence[str]:
    """Record reports in the journal; each resource is recorded only once for a lease.

    Args:
        context: The context.
        transaction: The transaction; the caller commits it, and then calls :func:`count_reports`.
        lease: The lease.
        reported: The resources, by the reservation that holds them.
        reason: What is wrong with them, in the lessee's words.
        caller: The lessee.

    Returns:
        The resource type of each new report.
    """
    if not reported:
        return []
    known = list_reported(transaction, [lease.id])[lease.id]
    types = {each.id: each.resource_type for each in lease.reservations}
    new = [(key, each) for key in sorted(reported) for each in sorted(reported[key] - known)]
    names = transaction.maintenances.names_of([each for _, each in new])
    text = "".join(each for each in " ".join(reason.split()) if each.isprintable())
    transaction.journal.append(
        [
            request_entry(
                context,
                lease.id,
                REPORTED,
                caller,
                reason=f"{each} {names.get(each, each)}" + (f": {text}" if text else ""),
                reservation_id=key,
            )
            for key, each in new
        ]
    )
    return [types[key] for key, _ in new]


def count_reports(context: Context, resource_types: Sequence[str]) -> None:
    """Count new reports, once they are stored."""
    for each in resource_types:
        context.meter.count(REPORTED_RESOURCES, each)
