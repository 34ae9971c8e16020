"""Completion of maintenance: moves that a request could not store, pools, and old entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from blazar.booking.clearing import plan_clearing
from blazar.booking.context import Context
from blazar.booking.maintenance import RETURNS_WITHIN, keep_pool, move_away
from blazar.booking.scheduling import reschedule_missing
from blazar.domain.maintenance import KEPT_FOR, Maintenance, MaintenanceStatus


def maintain(context: Context, actor: str, check_claim: Callable[[], None]) -> None:
    """Move upcoming reservations away from resources under maintenance, as far as possible by now.

    Resources leave their pool, and return to it when the maintenance has ended. Maintenances that ended
    ``KEPT_FOR`` ago are deleted.

    Args:
        context: The context.
        actor: The actor recorded in the journal.
        check_claim: Called before each longer step; an exception from it ends the task.
    """
    now = context.clock.now()
    with context.store.read() as transaction:
        maintenances = transaction.maintenances.list(ending_after=now - RETURNS_WITHIN)
        old = transaction.maintenances.list_ended(now - KEPT_FOR)
    for each in maintenances:
        if each.resource_type not in context.plugins:
            continue
        check_claim()
        _move_away(context, each.id, actor)
        keep_pool(context, each.id)
    if old:
        _delete(context, old)


def _move_away(context: Context, maintenance_id: str, actor: str) -> None:
    """Move reservations away from the resources that are under a maintenance now."""
    with context.store.read() as transaction:
        maintenance = transaction.maintenances.find(maintenance_id)
    if maintenance is None or maintenance.status_at(context.clock.now()) is MaintenanceStatus.ENDED:
        return
    collection = context.plugin_for(maintenance.resource_type).collection
    clearing = plan_clearing(context, collection, maintenance.resource_ids, maintenance.window)
    move_away(context, maintenance, clearing, actor)


def _delete(context: Context, old: Sequence[Maintenance]) -> None:
    with context.store.begin() as transaction:
        for each in old:
            transaction.maintenances.delete(each)
            transaction.allocations.touch(each.resource_ids)
        reschedule_missing(context, transaction)
        transaction.commit()
