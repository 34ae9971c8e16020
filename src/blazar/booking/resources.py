"""Storing and removing resources of plugins, whether discovered or registered."""

from __future__ import annotations

from blazar.booking.context import Context
from blazar.booking.retrying import retrying
from blazar.booking.scheduling import reschedule_missing
from blazar.domain.plugin_resources import PluginResource


def put_stored(context: Context, resource: PluginResource) -> None:
    """Add a resource, or replace its facts and amounts; leases with missing resources may use it."""
    with context.store.begin() as transaction:
        transaction.plugin_resources.put(resource, context.clock.now())
        reschedule_missing(context, transaction)
        transaction.commit()
    context.waker.wake()


def delete_stored(context: Context, resource: PluginResource) -> bool:
    """Delete a resource unless it is held or being cleaned; return whether it was deleted."""

    def once(attempt: int) -> bool:
        now = context.clock.now()
        with context.store.begin() as transaction:
            transaction.allocations.purge_released(now - context.settings.leases.cleaning_time)
            # A concurrent booking changes the generation.
            generation = transaction.availability.generations([resource.id])
            transaction.allocations.claim(generation)
            if transaction.allocations.count_on(resource.id):
                return False
            transaction.work.schedule(transaction.resources.list_holders(resource.id), now)
            transaction.plugin_resources.delete(resource.id, now)
            transaction.commit()
        return True

    return retrying(context, once)
