"""Storing and removing resources of plugins, whether discovered or registered."""

from __future__ import annotations

from collections.abc import Sequence

from blazar.booking.context import Context
from blazar.booking.retrying import retrying
from blazar.booking.scheduling import reschedule_missing
from blazar.domain.errors import Conflict
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.wording import first_few


def insert_stored(context: Context, new: Sequence[PluginResource]) -> None:
    """Add new resources, all or none; leases with missing resources may use them.

    Raises:
        Conflict: One of them exists already.
    """

    def once(attempt: int) -> None:
        with context.store.begin() as transaction:
            present = transaction.plugin_resources.get_many([each.id for each in new])
            if present:
                names = first_few([each.name for each in present])
                raise Conflict(f"{names} {'is' if len(present) == 1 else 'are'} already registered")
            transaction.plugin_resources.insert_many(new, context.clock.now())
            reschedule_missing(context, transaction)
            transaction.commit()

    retrying(context, once)
    context.waker.wake()


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
