"""Deletion of expired offers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from blazar.booking.context import Context
from blazar.booking.scheduling import reschedule_missing
from blazar.domain.offers import EXPIRY_GRACE

LIFETIME: Final = timedelta(hours=24)
"""Time after its expiry for which an offer is kept, so that a late commit gets 410; part of the API."""

_logger = logging.getLogger(__name__)


def delete_expired_offers(context: Context, actor: str, check_claim: Callable[[], None]) -> int:
    """Delete the allocations of expired offers, and the offers that expired ``LIFETIME`` ago.

    Searches have ignored these allocations since the offers expired; leases with missing resources may use
    them now.

    Args:
        context: The context.
        actor: The manager, for the log.
        check_claim: Called before the database is changed; an exception from it ends the task.

    Returns:
        The number of deleted allocations.
    """
    check_claim()
    now = context.shared_now() - EXPIRY_GRACE
    with context.store.begin() as transaction:
        released = transaction.offers.release_expired(now)
        purged = transaction.offers.purge(now - LIFETIME)
        if released:
            reschedule_missing(context, transaction)
        transaction.commit()
    if released or purged:
        _logger.debug(
            "deleted expired offers: allocations=%s offers=%s deleted_by=%s", released, purged, actor
        )
    return released
