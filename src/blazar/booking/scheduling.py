"""Scheduling of reconcile passes after a change, and waking of the managers that run them."""

from __future__ import annotations

from datetime import datetime

from blazar.booking.context import Context
from blazar.domain.lease import Lease
from blazar.domain.lifecycle import next_pass, preparation_due
from blazar.ports.store import Transaction


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
