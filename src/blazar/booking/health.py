"""Noting that resources have failed, or are sound again, and having done about it what is to be done."""

from __future__ import annotations

import logging

from blazar.booking.context import Context
from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import ResourceId
from blazar.ports.store import JournalEntry, Transaction

_logger = logging.getLogger(__name__)


def record_health(context: Context, actor: str, resource_id: ResourceId, name: str, after: Diagnosis) -> None:
    """Write down a resource's health, and have the leases looked at that this concerns.

    Args:
        context: The context.
        actor: Who found it out, for the journal.
        resource_id: The resource; one that is gone is passed over.
        name: What operators call it.
        after: What is so now; nothing happens if that is known.
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
        if after.health is Health.SOUND:
            have_missing_sought(context, transaction)
        transaction.commit()
    _logger.warning("%s: %s", name, change)
    context.waker.wake()


def have_missing_sought(context: Context, transaction: Transaction) -> None:
    """Have the leases looked at that something could heal which others can have now."""
    transaction.work.schedule(transaction.resources.list_missing(), context.clock.now())
