"""Leases that are not used: when their owners are warned, and when they end."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum

from blazar.domain.lease import EventStatus, EventType, Lease, LeaseStatus, ReservationId


@dataclass(frozen=True, slots=True, kw_only=True)
class NoShowRule:
    """The operator's rule for leases that are not used."""

    grace: Mapping[str, timedelta] = field(default_factory=dict)
    """By resource type: the time without any use after which a lease ends. Other types do not end leases."""
    warning: timedelta = timedelta(minutes=30)
    """The least time between the warning and the end."""
    exempt_projects: frozenset[str] = frozenset()


class Verdict(Enum):
    """The action that the rule asks for now."""

    NONE = "none"
    WARN = "warn"
    END = "end"


def time_left(
    rule: NoShowRule,
    lease: Lease,
    unused: Mapping[ReservationId, timedelta],
    arrived: Collection[ReservationId],
) -> timedelta | None:
    """Return the time without use after which a lease ends; not positive if it is over. None for never.

    A lease ends only if no reservation of it was ever used, and all of those whose types have a grace period
    have been observed without use for that period. One with failed resources that were not replaced is left
    alone: its lessee may be unable to use it.

    Args:
        rule: The rule.
        lease: The lease.
        unused: For each observed reservation, the time for which it has been observed since it became usable.
        arrived: The reservations that were used at any time.
    """
    graces = [
        (rule.grace[each.resource_type], each.id)
        for each in lease.reservations
        if each.resource_type in rule.grace
    ]
    was_used = any(each.id in arrived for each in lease.reservations)
    if not graces or was_used or not _is_eligible(rule, lease) or any(key not in unused for _, key in graces):
        return None
    return max(grace - unused[key] for grace, key in graces)


def judge(
    rule: NoShowRule, lease: Lease, left: timedelta, warned_at: datetime | None, now: datetime
) -> Verdict:
    """Return the action for a lease that was never used.

    Args:
        rule: The rule.
        lease: The lease.
        left: The result of :func:`time_left`.
        warned_at: The time of the first warning about this time without use; None if there was none.
        now: The present.
    """
    if warned_at is None:
        is_due = left <= rule.warning and lease.end > now + rule.warning
        return Verdict.WARN if is_due else Verdict.NONE
    is_over = left <= timedelta(0) and now >= warned_at + rule.warning
    return Verdict.END if is_over else Verdict.NONE


def _is_eligible(rule: NoShowRule, lease: Lease) -> bool:
    return (
        lease.status is LeaseStatus.ACTIVE
        and lease.damage is None
        and not any(each.missing_resources or each.is_damaged for each in lease.reservations)
        and lease.project_id not in rule.exempt_projects
        and lease.get_event_status(EventType.END) is EventStatus.UNDONE
    )
