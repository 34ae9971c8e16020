"""Notices: messages to people, or their programs, about what happened to a lease or soon will."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final


class NoticeType(StrEnum):
    """The types of notices, as subscriptions name them."""

    CREATED = "lease.created"
    CHANGED = "lease.changed"
    EXTENDED = "lease.extended"
    """The end was moved to a later date."""
    STARTS_SOON = "lease.starts_soon"
    STARTED = "lease.started"
    FAILED = "lease.failed"
    """A resource of the lease could not be provided."""
    DEGRADED = "lease.degraded"
    HEALED = "lease.healed"
    MAINTENANCE = "lease.maintenance"
    UNUSED = "lease.unused"
    """The lease will be ended early, because it is not used."""
    ENDS_SOON = "lease.ends_soon"
    BEFORE_END_FAILED = "lease.before_end_failed"
    ENDED = "lease.ended"
    DELETED = "lease.deleted"
    OFFER_EXPIRED = "offer.expired"
    RESOURCES_LOW = "resources.low"
    """Fewer resources are free than an operator asked for."""
    LEASE_WAITS = "lease.waits"
    """A lease waits for longer than an operator allows."""


REMINDERS: Final = frozenset({NoticeType.STARTS_SOON, NoticeType.ENDS_SOON})
"""The types that are sent at lead times before a date."""
OF_SITE: Final = frozenset({NoticeType.RESOURCES_LOW, NoticeType.LEASE_WAITS})
"""The types that only operators can subscribe to."""
TEST: Final = "subscription.test"
"""The type of a message that a subscriber asked for as a test."""
CONFIRM: Final = "subscription.confirm"
"""The type of the mail with the code that confirms an address."""

_FIRST_PAUSE: Final = timedelta(seconds=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """An event, before it is known who subscribed to it."""

    id: int = 0
    type: NoticeType
    lease_id: str
    """The lease or the offer that it is about."""
    project_id: str | None
    user_id: str | None
    data: Mapping[str, object]
    """JSON."""
    at: datetime


def pause_after(attempts: int, longest: timedelta, share: float) -> timedelta:
    """Return how long to wait after a number of failed attempts.

    Args:
        attempts: The number, from 1. The pause doubles each time.
        longest: The longest pause.
        share: A random number from 0 to 1, so that many deliveries are not repeated at the same moment.
    """
    pause = min(longest, _FIRST_PAUSE * (1 << min(attempts - 1, 16)))
    return pause * (0.5 + share / 2)


def due_lead(
    date: datetime, leads: Collection[timedelta], begin: datetime, now: datetime
) -> timedelta | None:
    """Return the shortest lead time whose reminder is due; None if none is.

    If several are due, because no manager ran, the last reminder makes the others superfluous.

    Args:
        date: The date of the reminder.
        leads: The times before the date.
        begin: The earliest moment for a reminder; a lead time that falls before it is ignored.
        now: The present.
    """
    if date <= now:
        return None
    return min((each for each in leads if begin <= date - each <= now), default=None)
