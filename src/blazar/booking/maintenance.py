"""Steps of maintenance: moving reservations away, and taking resources out of their pool."""

from __future__ import annotations

import logging
from typing import Final

from blazar.booking.clearing import Clearing, Move
from blazar.booking.context import Context
from blazar.booking.moving import connected, store_moves
from blazar.domain.errors import CloudError, ConcurrentUpdate
from blazar.domain.maintenance import Maintenance, MaintenanceStatus
from blazar.plugins.capabilities import HasPool

MAINTAIN: Final = "task-maintain"
"""The key of the periodic task that completes what a request has begun."""

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


def keep_pool(context: Context, maintenance: Maintenance) -> None:
    """Take resources that no lease holds out of their pool during maintenance, and put them back after it.

    Does nothing unless the maintenance asks for it. An error of the cloud is only logged: the periodic task
    and the sweep try again.
    """
    plugin, status = (
        context.plugins.get(maintenance.resource_type),
        maintenance.status_at(context.clock.now()),
    )
    if not maintenance.leaves_pool or not isinstance(plugin, HasPool) or status is MaintenanceStatus.PLANNED:
        return
    with context.store.read() as transaction:
        states = transaction.resources.get_states(maintenance.resource_ids)
    facts = [states[key].facts for key in maintenance.resource_ids if key in states]
    change = plugin.leave_pool if status is MaintenanceStatus.ACTIVE else plugin.enter_pool
    try:
        change(context.cloud, facts)
    except CloudError as error:
        _logger.warning(
            "pool does not match a maintenance yet: maintenance_id=%s reason=%s", maintenance.id, error
        )
