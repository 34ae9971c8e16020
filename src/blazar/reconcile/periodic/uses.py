"""Deletion of records of uses that no usage rule needs any more."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from blazar.booking.context import Context

_logger = logging.getLogger(__name__)


def delete_old_uses(context: Context, actor: str, check_claim: Callable[[], None]) -> int:
    """Delete the records that are older than the longest cool-down; return their number.

    Args:
        context: The context.
        actor: The manager, for the log.
        check_claim: Called before the database is changed; an exception from it ends the task.
    """
    check_claim()
    kept = context.rules.longest_cool_down or timedelta(0)
    with context.store.begin() as transaction:
        deleted = transaction.uses.delete_before(context.clock.now() - kept)
        transaction.commit()
    if deleted:
        _logger.debug("deleted old records of uses: number=%s deleted_by=%s", deleted, actor)
    return deleted
