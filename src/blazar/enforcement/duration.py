"""Filter for the maximum duration of a lease."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from oslo_config.cfg import ConfigOpts

from blazar.domain.errors import ExtensionTooLong, LeaseTooLong
from blazar.domain.lease import Lease
from blazar.enforcement.base import Filter
from blazar.enforcement.options import GROUP
from blazar.ports.enforcement import LeaseUsage

if TYPE_CHECKING:
    from blazar.ports.enforcement import EnforcementFilter


class MaxLeaseDuration(Filter):
    """Limits the duration of whole leases: a running lease may be extended to its start plus the maximum."""

    def __init__(self, longest: timedelta | None, exempt_project_ids: frozenset[str]) -> None:
        """Create the filter.

        Args:
            longest: Maximum time from start to end; None for no limit.
            exempt_project_ids: Projects whose leases are not limited.
        """
        self._longest = longest
        self._exempt = exempt_project_ids

    def check_create(self, usage: LeaseUsage, key: str) -> None:
        """Raise LeaseTooLong if the lease is longer than allowed."""
        problem = self._find_problem(usage.lease)
        if problem is not None:
            raise LeaseTooLong(problem)

    def check_update(self, current: LeaseUsage, usage: LeaseUsage, key: str) -> None:
        """Raise ExtensionTooLong if the lease would be longer than allowed, unless the change shortens it."""
        before, after = current.lease, usage.lease
        problem = self._find_problem(after)
        if problem is not None and after.end - after.start >= before.end - before.start:
            raise ExtensionTooLong(problem)

    def longest_lease(self, project_id: str | None) -> timedelta | None:
        """Return the maximum for a project; None if its leases are not limited."""
        return None if project_id in self._exempt else self._longest

    def _find_problem(self, lease: Lease) -> str | None:
        duration = lease.end - lease.start
        longest = self.longest_lease(lease.project_id)
        if longest is None or duration <= longest:
            return None
        return (
            f"end_date: the lease would last {duration.total_seconds():.0f} seconds, but at most"
            f" {longest.total_seconds():.0f} are allowed"
        )


def make_filter(conf: ConfigOpts) -> MaxLeaseDuration:
    """Return the filter; the entry point ``MaxLeaseDurationFilter``."""
    options = conf[GROUP]
    seconds: int = options.max_lease_duration
    return MaxLeaseDuration(
        None if seconds < 0 else timedelta(seconds=seconds),
        frozenset(options.max_lease_duration_exempt_project_ids),
    )


if TYPE_CHECKING:
    _: EnforcementFilter = MaxLeaseDuration(None, frozenset())
