"""The instant from which usage is recorded completely after an import.

The existing service keeps neither leases that were deleted nor the hosts of leases that have ended. So their
usage cannot be imported, and reports must say from when on they are complete.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from blazar.domain.lease import Lease, LeaseStatus
from blazar.importer.present import Present


def plan_usage_start(added: Iterable[Lease], present: Present, *, is_empty: bool) -> datetime | None:
    """Return the instant before which leases that have ended may be missing in reports of usage.

    It is the time of the first import: a run that repeats or completes it changes nothing. But if a later run
    adds leases that were created or have ended there since then, the existing service was still in use, and
    others may have been deleted there. Then it is the time of that run.

    Args:
        added: The leases that this run adds.
        present: The contents of this service's database.
        is_empty: Whether this run adds nothing.

    Returns:
        The instant; None if nothing was ever imported.
    """
    if present.first_import is None:
        return None if is_empty else present.now
    since = max(present.first_import, present.usage_start or present.first_import)
    return present.now if any(_is_later(each, since) for each in added) else since


def _is_later(lease: Lease, since: datetime) -> bool:
    """Return whether a lease was created, or has ended in the existing service, after an instant."""
    has_ended = lease.status is LeaseStatus.TERMINATED and lease.end > since
    return has_ended or (lease.created_at or lease.start) > since
