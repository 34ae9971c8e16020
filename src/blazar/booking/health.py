"""Recording that resources failed or recovered, and scheduling the affected leases."""

from __future__ import annotations

import logging

from blazar.booking.context import Context
from blazar.booking.scheduling import reschedule_missing
from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import ResourceId
from blazar.ports.journal import JournalEntry

_logger = logging.getLogger(__name__)


def record_health(context: Context, actor: str, resource_id: ResourceId, name: str, after: Diagnosis) -> None:
    """Store a resource's health and schedule the leases that are affected.

    Args:
        context: The context.
        actor: The actor recorded in the journal.
        resource_id: The resource; ignored if it no longer exists.
        name: The name that operators know it by.
        after: The new diagnosis; nothing happens if it equals the stored one.
    """
    now = context.clock.now()
    with context.store.begin() as transaction:
        before = transaction.resources.set_diagnosis(resource_id, after, now)
        if before is None or before == after:
            return
        change = f"{before.health} -> {after}"
        transaction.journal.append(
            [
                JournalEntry(
                    at=now, lease_id=None, event="resource.health", reason=f"{name}: {change}", actor=actor
                )
            ]
        )
        if before.has_failed is not after.has_failed:
            transaction.work.schedule(transaction.resources.list_holders(resource_id), now)
        if after.health is Health.HEALTHY:
            reschedule_missing(context, transaction)
        transaction.commit()
    _logger.warning("health of a resource changed: resource=%s change=%s", name, change)
    context.waker.wake()
