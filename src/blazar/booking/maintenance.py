"""Maintenance in the making: moving reservations away, and taking resources out of their pool."""

from __future__ import annotations

import logging
from typing import Final

from blazar.booking.clearing import Clearing, Move
from blazar.booking.context import Context
from blazar.booking.moving import connected, store_moves
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import LeaseId
from blazar.domain.maintenance import Maintenance
from blazar.plugins.capabilities import HasPool
from blazar.plugins.contract import JsonObject

MAINTAIN: Final = "task-maintain"
"""The key of the periodic task that completes what a request has begun."""

_logger = logging.getLogger(__name__)


def move_away(
    context: Context, maintenance: Maintenance, clearing: Clearing, actor: str
) -> frozenset[LeaseId]:
    """Store the moves of a plan; return the leases that could not be moved because they were changed.

    The periodic task plans these again, and is scheduled now.
    """
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
    return frozenset(each.lease.id for each in left)


def leave_pool(context: Context, maintenance: Maintenance) -> None:
    """Take the resources out of their pool that no lease holds. Raises CloudError."""
    plugin = context.plugins.get(maintenance.resource_type)
    if isinstance(plugin, HasPool) and maintenance.leaves_pool:
        plugin.leave_pool(context.cloud, _facts(context, maintenance))


def enter_pool(context: Context, maintenance: Maintenance) -> None:
    """Put the resources back into their pool that no lease holds. Raises CloudError."""
    plugin = context.plugins.get(maintenance.resource_type)
    if isinstance(plugin, HasPool) and maintenance.leaves_pool:
        plugin.enter_pool(context.cloud, _facts(context, maintenance))


def _facts(context: Context, maintenance: Maintenance) -> list[JsonObject]:
    with context.store.read() as transaction:
        states = transaction.resources.get_states(maintenance.resource_ids)
    return [states[key].facts for key in maintenance.resource_ids if key in states]
