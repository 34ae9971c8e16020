"""Completion of maintenance: moves that a request could not store, pools, and old entries."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from blazar.booking.clearing import plan_clearing
from blazar.booking.context import Context
from blazar.booking.maintenance import enter_pool, leave_pool, move_away
from blazar.booking.scheduling import reschedule_missing
from blazar.domain.errors import CloudError
from blazar.domain.maintenance import KEPT_FOR, Maintenance, MaintenanceStatus

_RETURNS_WITHIN: Final = timedelta(hours=1)
"""Time after the end in which resources are put back into their pool; later, the sweep does it."""

_logger = logging.getLogger(__name__)


def maintain(context: Context, actor: str, check_claim: Callable[[], None]) -> None:
    """Move reservations ahead away from resources under maintenance, as far as possible by now.

    Resources leave their pool, and return to it when the maintenance has ended. Maintenances that ended
    ``KEPT_FOR`` ago are deleted.

    Args:
        context: The context.
        actor: The actor recorded in the journal.
        check_claim: Called before each longer step; an exception from it ends the task.
    """
    now = context.clock.now()
    with context.store.read() as transaction:
        maintenances = transaction.maintenances.list()
    for each in maintenances:
        if each.resource_type not in context.plugins:
            continue
        check_claim()
        status = each.status_at(now)
        if status is not MaintenanceStatus.ENDED:
            collection = context.plugin_for(each.resource_type).collection
            move_away(
                context, each, plan_clearing(context, collection, each.resource_ids, each.window), actor
            )
        if each.leaves_pool and each.end + _RETURNS_WITHIN > now:
            _keep_pool(context, each, status)
    _delete_old(context, [each for each in maintenances if each.end + KEPT_FOR < now])


def _keep_pool(context: Context, maintenance: Maintenance, status: MaintenanceStatus) -> None:
    try:
        if status is MaintenanceStatus.ACTIVE:
            leave_pool(context, maintenance)
        elif status is MaintenanceStatus.ENDED:
            enter_pool(context, maintenance)
    except CloudError as error:
        _logger.warning("pool differs from a maintenance: maintenance_id=%s reason=%s", maintenance.id, error)


def _delete_old(context: Context, old: list[Maintenance]) -> None:
    if not old:
        return
    with context.store.begin() as transaction:
        for each in old:
            transaction.maintenances.delete(each)
            transaction.allocations.touch(each.resource_ids)
        reschedule_missing(context, transaction)
        transaction.commit()
