"""When a lease that a request has written is to be looked at, and who has to be told."""

from __future__ import annotations

from datetime import datetime

from blazar.booking.context import Context
from blazar.domain.lease import Lease


def first_look(context: Context, lease: Lease) -> datetime:
    """Return when something is to be done for a lease of which nothing is outside yet."""
    return max(context.clock.now(), lease.start - context.settings.leases.prepare_lead)


def next_look(context: Context, lease: Lease) -> datetime:
    """Return when a lease that has been changed is to be looked at: now, unless all is well and ahead."""
    if lease.is_degraded or any(each.is_deployed for each in lease.reservations):
        return context.clock.now()
    return first_look(context, lease)


def wake_for(context: Context, due_at: datetime) -> None:
    """Wake up the managers for what falls due soon: they look for anything later by themselves in time."""
    if due_at <= context.clock.now() + context.settings.reconciler.poll_interval:
        context.waker.wake()
