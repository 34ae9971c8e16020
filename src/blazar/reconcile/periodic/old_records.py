"""Deletion of records that are too old to be needed, such as stored answers, uses and expired feeds."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from blazar.booking.context import Context
from blazar.booking.index import CHANGES_KEPT_FOR
from blazar.booking.scheduling import reschedule_missing
from blazar.ports.store import Transaction

LIFETIME: Final = timedelta(hours=24)
"""Time for which a request with an idempotency key can be repeated; part of the API."""

_Task = Callable[[Context, str, Callable[[], None]], int]

_logger = logging.getLogger(__name__)


def _deletion(
    kind: str, kept_for: Callable[[Context], timedelta], delete: Callable[[Transaction, datetime], int]
) -> _Task:
    """Return a task that deletes old records and returns their number.

    Args:
        kind: The records, for the log.
        kept_for: Returns the time for which they are kept.
        delete: Deletes those before an instant, and returns their number.
    """

    def run(context: Context, actor: str, check_claim: Callable[[], None]) -> int:
        check_claim()
        with context.store.begin() as transaction:
            deleted = delete(transaction, context.clock.now() - kept_for(context))
            transaction.commit()
        if deleted:
            _logger.debug("deleted old records: kind=%s number=%s deleted_by=%s", kind, deleted, actor)
        return deleted

    return run


delete_old_answers: Final = _deletion(
    "answers", lambda context: LIFETIME, lambda transaction, before: transaction.answers.delete_before(before)
)
"""Delete the answers that are older than ``LIFETIME``."""
delete_old_uses: Final = _deletion(
    "uses",
    lambda context: context.rules.longest_cool_down or timedelta(0),
    lambda transaction, before: transaction.uses.delete_before(before),
)
"""Delete the uses that no usage rule still needs: those that are older than the longest cool-down."""
delete_old_usage: Final = _deletion(
    "usage",
    lambda context: context.settings.usage.kept_for,
    lambda transaction, before: transaction.usage.delete_before(before),
)
"""Delete the records of usage that are older than the configured time."""
delete_old_feeds: Final = _deletion(
    "feeds",
    lambda context: context.settings.feeds.longest_age,
    lambda transaction, before: transaction.feeds.delete_before(before),
)
"""Delete the feeds that have expired."""
forget_deleted_leases: Final = _deletion(
    "deleted leases",
    lambda context: context.settings.feeds.cancelled,
    lambda transaction, before: transaction.feeds.forget_deleted(before),
)
"""Delete the deleted leases that feeds no longer show."""


def delete_old_bookings(context: Context, actor: str, check_claim: Callable[[], None]) -> None:
    """Delete allocations of resources that are clean again, and old entries of the change log.

    Capacity that is clean again may satisfy a lease with missing resources, so such leases are rescheduled.
    """
    check_claim()
    now = context.clock.now()
    with context.store.begin() as transaction:
        if transaction.allocations.purge_released(now - context.settings.leases.cleaning_time):
            reschedule_missing(context, transaction)
        transaction.availability.purge_changes(now - CHANGES_KEPT_FOR)
        transaction.commit()
