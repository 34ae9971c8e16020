"""Steps of maintenance: moving reservations away, and taking resources out of their pool."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from blazar.booking.clearing import Clearing, Move
from blazar.booking.context import Context
from blazar.booking.moving import connected, store_moves
from blazar.domain.errors import CloudError, ConcurrentUpdate, NotFound
from blazar.domain.lease import ResourceId
from blazar.domain.maintenance import Maintenance, MaintenanceStatus, outside_pool
from blazar.plugins.capabilities import HasPool

MAINTAIN: Final = "task-maintain"
"""The key of the periodic task that completes what a request has begun."""
RETURNS_WITHIN: Final = timedelta(hours=1)
"""Time after the end during which resources are put back into their pool; later, the sweep does it."""

_logger = logging.getLogger(__name__)


def move_away(context: Context, maintenance: Maintenance, clearing: Clearing, actor: str) -> None:
    """Store the moves of a plan. If a lease was changed meanwhile, the periodic task plans again now."""
    reason = f"maintenance: {maintenance.reason}" if maintenance.reason else "maintenance"
    left: list[Move] = []
    for group in connected(clearing.moves):
        try:
            store_moves(context, group, clearing.generations, reason, actor)
        except ConcurrentUpdate as error:
            context.doubt(error)
            left += group
    if left:
        _logger.info("leases to be moved later: maintenance_id=%s moves=%d", maintenance.id, len(left))
        with context.store.begin() as transaction:
            transaction.work.schedule([MAINTAIN], context.clock.now())
            transaction.commit()


def keep_pool(context: Context, maintenance_id: str) -> None:
    """Take resources that no lease holds out of their pool during maintenance, and put them back after it.

    Reads the maintenance again, because a request may have changed it. Does nothing unless the maintenance
    asks for it. An error of the cloud is only logged: the periodic task and the sweep try again.
    """
    with context.store.read() as transaction:
        maintenance = transaction.maintenances.find(maintenance_id)
    if maintenance is None or not maintenance.leaves_pool:
        return
    if maintenance.status_at(context.clock.now()) is MaintenanceStatus.ACTIVE:
        _change_pool(context, maintenance, maintenance.resource_ids, is_leaving=True)
    # Also after leaving: a request that ended or shrank the maintenance meanwhile may have put resources back
    # before they were taken out here.
    return_to_pool(context, maintenance)


def return_to_pool(context: Context, maintenance: Maintenance) -> None:
    """Put resources back into their pool, except those that a maintenance now keeps outside.

    Does nothing unless they have left it for this maintenance. An error of the cloud is only logged: the
    sweep tries again.

    Args:
        context: The context.
        maintenance: The maintenance before it was ended, deleted or changed.
    """
    now = context.clock.now()
    has_left = maintenance.leaves_pool and maintenance.start <= now < maintenance.end + RETURNS_WITHIN
    if not has_left:
        return
    with context.store.read() as transaction:
        outside = outside_pool(transaction.maintenances.list(ending_after=now), now)
    returning = [each for each in maintenance.resource_ids if each not in outside]
    if returning:
        _change_pool(context, maintenance, returning, is_leaving=False)


def _change_pool(
    context: Context, maintenance: Maintenance, resource_ids: Sequence[ResourceId], *, is_leaving: bool
) -> None:
    plugin = context.plugins.get(maintenance.resource_type)
    if not isinstance(plugin, HasPool):
        return
    with context.store.read() as transaction:
        states = transaction.resources.get_states(resource_ids)
    facts = [states[key].facts for key in resource_ids if key in states]
    change = plugin.leave_pool if is_leaving else plugin.enter_pool
    try:
        change(context.cloud, facts)
    except (CloudError, NotFound) as error:
        _logger.warning(
            "pool does not match a maintenance yet: maintenance_id=%s reason=%s", maintenance.id, error
        )
