"""Leases with a date ahead, grouped by the scopes of subscriptions."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from blazar.domain.lease import Lease
from blazar.domain.subscriptions import Scope, Subscription

Dated = tuple[datetime, Lease]
"""A lease with the date of its start or its end."""
_Group = tuple[Scope, str | None, str | None]


class UpcomingLeases:
    """Leases with a date ahead, of which a subscription gets only those that it may be about.

    One subscription with a long lead time must not make all others go through the leases of the whole site.
    """

    def __init__(self, leases: Iterable[Dated]) -> None:
        self._groups: dict[_Group, list[Dated]] = defaultdict(list)
        for date, lease in sorted(leases, key=lambda each: (each[0], each[1].id)):
            for group in (
                (Scope.LEASE, lease.id, None),
                (Scope.OWN, lease.project_id, lease.user_id),
                (Scope.PROJECT, lease.project_id, None),
                (Scope.SITE, None, None),
            ):
                self._groups[group].append((date, lease))

    def within(self, subscription: Subscription, until: datetime) -> Sequence[Dated]:
        """Return the leases in the scope of a subscription whose date is at most *until*, by their dates."""
        found = self._groups.get(_group_of(subscription), [])
        return found[: bisect_right(found, until, key=lambda each: each[0])]


def _group_of(subscription: Subscription) -> _Group:
    match subscription.scope:
        case Scope.LEASE:
            return Scope.LEASE, subscription.lease_id, None
        case Scope.OWN:
            return Scope.OWN, subscription.project_id, subscription.user_id
        case Scope.PROJECT:
            return Scope.PROJECT, subscription.project_id, None
    return Scope.SITE, None, None
