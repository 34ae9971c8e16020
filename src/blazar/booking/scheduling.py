"""Scheduling of reconcile passes and checks after a change, and waking of the managers that run them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from blazar.booking.context import Context
from blazar.domain.lease import Lease
from blazar.domain.lifecycle import next_pass, preparation_due
from blazar.ports.store import Transaction

HOST_CHECK: Final = "host-monitor"
"""The key under which a check of all hosts is scheduled as work."""
_GATHERING_TIME = timedelta(seconds=1)
"""Changes reported within this time are covered by one check."""


def first_pass_of(context: Context, lease: Lease) -> datetime:
    """Return when a new lease is first reconciled."""
    return preparation_due(lease, context.clock.now(), context.settings.leases.prepare_lead)


def next_pass_of(context: Context, lease: Lease) -> datetime:
    """Return when a lease that a request changed is reconciled next."""
    return next_pass(lease, context.clock.now(), context.settings.leases.prepare_lead)


def wake_for(context: Context, due_at: datetime) -> None:
    """Wake the managers for work that is due soon; they find later work by polling."""
    if due_at <= context.clock.now() + context.settings.reconciler.poll_interval:
        context.waker.wake()


def reschedule_missing(context: Context, transaction: Transaction) -> None:
    """Reschedule leases with missing resources after capacity was freed."""
    transaction.work.schedule(transaction.resources.list_missing(), context.clock.now())


def schedule_host_check(context: Context, transaction: Transaction) -> None:
    """Schedule a check of all hosts soon. Raises ConcurrentUpdate if it is being scheduled concurrently."""
    transaction.work.schedule([HOST_CHECK], context.clock.now() + _GATHERING_TIME)
