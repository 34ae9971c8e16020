"""Bounded waits of requests for the reconciler; no transaction or lock is held while waiting."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from blazar.booking.context import Context
from blazar.domain.lease import Lease

_POLL = timedelta(milliseconds=50)


def wait_for_lease(
    context: Context, lease_id: str, deadline: datetime, is_enough: Callable[[Lease | None], bool]
) -> bool:
    """Return whether a lease reached a state before *deadline*; poll the database until then.

    Args:
        context: The context. While its process is ending, requests do not wait.
        lease_id: The lease.
        deadline: When to stop waiting.
        is_enough: Receives the lease, or None once it is gone; returns whether to stop waiting.
    """
    while context.clock.now() < deadline:
        with context.store.read() as transaction:
            lease = transaction.leases.find(lease_id)
        if is_enough(lease):
            return True
        if context.clock.wait(context.ending, _POLL):
            return False
    return False
