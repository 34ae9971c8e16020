"""Deletion of stored answers that are too old to be repeated."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from blazar.booking.context import Context

LIFETIME: Final = timedelta(hours=24)
"""Time for which a request with an idempotency key can be repeated; part of the API."""

_logger = logging.getLogger(__name__)


def delete_old_answers(context: Context, actor: str, check_claim: Callable[[], None]) -> int:
    """Delete the answers that are older than ``LIFETIME``; return their number.

    Args:
        context: The context.
        actor: The manager, for the log.
        check_claim: Called before the database is changed; an exception from it ends the task.
    """
    check_claim()
    with context.store.begin() as transaction:
        deleted = transaction.answers.delete_before(context.clock.now() - LIFETIME)
        transaction.commit()
    if deleted:
        _logger.debug("deleted old answers: number=%s deleted_by=%s", deleted, actor)
    return deleted
