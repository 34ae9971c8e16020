"""Records of what leases have used, for usage rules about the time until the next use."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from blazar.booking.context import Context
from blazar.domain.lease import ReservationId, ResourceId
from blazar.ports.store import Transaction


def record_uses(
    context: Context,
    transaction: Transaction,
    reservation_id: ReservationId,
    resource_ids: Collection[ResourceId] | None,
    now: datetime,
) -> None:
    """Record the past use of resources that a reservation is about to release, if a rule needs it.

    Args:
        context: The context.
        transaction: The transaction that releases them afterwards.
        reservation_id: The reservation.
        resource_ids: The resources; None for all.
        now: The present.
    """
    if context.rules.longest_cool_down is not None:
        transaction.uses.record(reservation_id, resource_ids, now)
