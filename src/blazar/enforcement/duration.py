"""No lease may be longer than the operator wants (behaviour 7.1)."""

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
    """Compares whole leases: one that runs may be extended up to its start plus the maximum."""

    def __init__(self, longest: timedelta | None, exempt_project_ids: frozenset[str]) -> None:
        """Make the filter.

        Args:
            longest: From the start to the end; None for any.
            exempt_project_ids: For whose leases this does not count.
        """
        self._longest = longest
        self._exempt = exempt_project_ids

    def check_create(self, usage: LeaseUsage, key: str) -> None:
        """Raise LeaseTooLong for a lease that is longer."""
        problem = self._find_problem(usage.lease)
        if problem is not None:
            raise LeaseTooLong(problem)

    def check_update(self, current: LeaseUsage, usage: LeaseUsage, key: str) -> None:
        """Raise ExtensionTooLong for a lease that would be longer, unless it only becomes shorter."""
        before, after = current.lease, usage.lease
        problem = self._find_problem(after)
        if problem is not None and after.end - after.start >= before.end - before.start:
            raise ExtensionTooLong(problem)

    def _find_problem(self, lease: Lease) -> str | None:
        duration = lease.end - lease.start
        if self._longest is None or duration <= self._longest or lease.project_id in self._exempt:
            return None
        return (
            f"end_date: the lease would last {duration.total_seconds():.0f} seconds, and at most"
            f" {self._longest.total_seconds():.0f} are allowed"
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
