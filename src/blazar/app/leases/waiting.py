"""Bounded waits of requests for the reconciler; no transaction or lock is held while waiting."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from blazar.booking.context import Context
from blazar.domain.lease import Lease

_SHORTEST_PAUSE: Final = timedelta(milliseconds=50)
_PART_OF_WAIT: Final = 10
"""A pause is at most one in this many parts of the time waited so far: a long wait costs few queries."""


def wait_for_lease(
    context: Context, lease: Lease, deadline: datetime, is_enough: Callable[[Lease | None], bool]
) -> bool:
    """Return whether a lease reached a state before *deadline*; poll the database until then.

    Each waiting request occupies a thread of this manager and one of the API. So if too many wait already, in
    all or of the project, return False at once.

    Args:
        context: The context. While its process is ending, requests do not wait.
        lease: The lease, as it was read before.
        deadline: When to stop waiting.
        is_enough: Receives the lease, or None once it is gone; returns whether to stop waiting.
    """
    with context.waits.counted(lease.project_id) as may_wait:
        return may_wait and _wait(context, lease.id, deadline, is_enough)


def _wait(
    context: Context, lease_id: str, deadline: datetime, is_enough: Callable[[Lease | None], bool]
) -> bool:
    began = context.clock.now()
    while (now := context.clock.now()) < deadline:
        with context.store.read() as transaction:
            lease = transaction.leases.find(lease_id)
        if is_enough(lease):
            return True
        pause = max(_SHORTEST_PAUSE, (now - began) / _PART_OF_WAIT)
        if context.clock.wait(context.ending, min(pause, deadline - now)):
            return False
    return False
