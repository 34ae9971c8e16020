"""Use cases of maintenance: plan it, list it, change it, end it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from blazar.app.maintenance.requests import changed_maintenance, parse_maintenance, select_resources
from blazar.app.maintenance.views import maintenance_notice, maintenance_view, plan_view
from blazar.booking import event_types
from blazar.booking.clearing import Clearing, plan_clearing
from blazar.booking.context import Context
from blazar.booking.maintenance import MAINTAIN, move_away, return_to_pool
from blazar.booking.retrying import retrying
from blazar.booking.scheduling import reschedule_missing
from blazar.booking.transitions import announce
from blazar.booking.views import JsonObject, lease_view
from blazar.domain.lease import Lease, LeaseId, ResourceId
from blazar.domain.maintenance import Maintenance, MaintenanceNotFound, MaintenanceStatus
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction


def create_maintenance(context: Context, caller: Caller, body: JsonObject, is_dry_run: bool) -> JsonObject:
    """Book resources for maintenance, move upcoming reservations away from them, and return the result.

    Owners of leases that keep a resource are notified. In a dry run, nothing is stored.

    Returns:
        The maintenance, with ``moves``, ``active`` and ``unmovable``.

    Raises:
        BadRequest: The body is invalid, or no resource is selected.
    """
    asked = parse_maintenance(context, caller, body)
    plugin = context.plugin_for(asked.resource_type)

    def once(attempt: int) -> tuple[Maintenance, Clearing]:
        selected = replace(asked, resource_ids=select_resources(context, plugin, body))
        clearing = plan_clearing(context, plugin.collection, selected.resource_ids, selected.window)
        if not is_dry_run:
            store_maintenance(context, selected, clearing)
        return selected, clearing

    maintenance, clearing = retrying(context, once)
    if not is_dry_run:
        move_away(context, maintenance, clearing, caller.user_id or "")
        context.waker.wake()
    return plan_view(context, maintenance, clearing)


def list_maintenances(context: Context, caller: Caller) -> Sequence[JsonObject]:
    """Return all maintenances in the order of their starts, including those that ended some time ago."""
    now = context.clock.now()
    with context.store.read() as transaction:
        found = transaction.maintenances.list()
        names = transaction.maintenances.names_of({key for each in found for key in each.resource_ids})
    return [maintenance_view(each, names, now) for each in found]


def get_maintenance(context: Context, caller: Caller, maintenance_id: str) -> JsonObject:
    """Return a maintenance, with the leases that hold its resources now. Raises MaintenanceNotFound."""
    with context.store.read() as transaction:
        maintenance = _get(transaction, maintenance_id)
    if maintenance.status_at(context.clock.now()) is MaintenanceStatus.ENDED:
        return plan_view(context, maintenance, Clearing())
    collection = context.plugin_for(maintenance.resource_type).collection
    clearing = plan_clearing(context, collection, maintenance.resource_ids, maintenance.window)
    return plan_view(context, maintenance, clearing)


def update_maintenance(context: Context, caller: Caller, maintenance_id: str, body: JsonObject) -> JsonObject:
    """Change the end, the reason or the resources of a maintenance, and return it.

    Resources can only be removed, and return to their pool if they have left it. A later end may affect
    further leases, which are treated as those of a new maintenance.

    Raises:
        MaintenanceNotFound: No maintenance has this id.
        BadRequest: The body is invalid, or the maintenance has ended.
    """

    def once(attempt: int) -> tuple[Maintenance, Maintenance, Clearing]:
        with context.store.read() as transaction:
            before = _get(transaction, maintenance_id)
        after = changed_maintenance(context, before, body)
        collection = context.plugin_for(after.resource_type).collection
        is_longer = after.end > before.end
        clearing = Clearing()
        if is_longer:
            clearing = plan_clearing(context, collection, after.resource_ids, after.window)
        store_maintenance(context, after, clearing, before)
        return before, after, clearing

    before, maintenance, clearing = retrying(context, once)
    return_to_pool(context, before)
    move_away(context, maintenance, clearing, caller.user_id or "")
    context.waker.wake()
    return plan_view(context, maintenance, clearing)


def delete_maintenance(context: Context, caller: Caller, maintenance_id: str) -> None:
    """End a maintenance, and delete it. Raises MaintenanceNotFound."""

    def once(attempt: int) -> Maintenance:
        with context.store.begin() as transaction:
            maintenance = _get(transaction, maintenance_id)
            transaction.maintenances.delete(maintenance)
            transaction.allocations.touch(maintenance.resource_ids)
            reschedule_missing(context, transaction)
            transaction.commit()
        return maintenance

    maintenance = retrying(context, once)
    context.waker.wake()
    return_to_pool(context, maintenance)


def _get(transaction: Transaction, maintenance_id: str) -> Maintenance:
    found = transaction.maintenances.find(maintenance_id)
    if found is None:
        raise MaintenanceNotFound(maintenance_id)
    return found


def store_maintenance(
    context: Context, maintenance: Maintenance, clearing: Clearing, before: Maintenance | None = None
) -> None:
    """Store a maintenance unless its resources were booked after its plan was made.

    Raises:
        ConcurrentUpdate: They were, or the maintenance was changed.
    """
    now = context.clock.now()
    with context.store.begin() as transaction:
        transaction.allocations.claim(clearing.cleared)
        ids = {*maintenance.resource_ids, *(() if before is None else before.resource_ids)}
        transaction.allocations.touch(ids - clearing.cleared.keys())
        if before is None:
            transaction.maintenances.insert(maintenance)
        else:
            transaction.maintenances.replace(before, maintenance)
        names = transaction.maintenances.names_of(maintenance.resource_ids)
        for lease, held in _keeping(clearing):
            more = {
                "maintenance": maintenance_notice(maintenance, sorted(names.get(key, key) for key in held))
            }
            announce(context, transaction, lease_view(lease, context.plugins), event_types.MAINTENANCE, more)
        reschedule_missing(context, transaction)
        # Completes the moves if this manager stops before it has stored them.
        transaction.work.schedule([MAINTAIN], now)
        transaction.commit()


def _keeping(clearing: Clearing) -> Iterator[tuple[Lease, set[ResourceId]]]:
    """Yield the leases that keep resources under maintenance, with these resources."""
    held: dict[LeaseId, set[ResourceId]] = defaultdict(set)
    leases: dict[LeaseId, Lease] = {}
    for each in (*clearing.active, *clearing.unmovable):
        held[each.lease.id].add(each.allocation.resource_id)
        leases[each.lease.id] = each.lease
    for key in sorted(held):
        yield leases[key], held[key]
