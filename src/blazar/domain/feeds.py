"""Feeds: calendars of leases or of busy times, which calendar programs read with a token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from blazar.domain.errors import Conflict, NotFound
from blazar.domain.lease import LeaseId


class FeedKind(StrEnum):
    """The contents of a feed."""

    LEASE = "lease"
    """One lease."""
    USER = "user"
    """The leases that the feed's user has in its project."""
    PROJECT = "project"
    """The leases of the project."""
    AVAILABILITY = "availability"
    """The times at which resources are not free."""


class FeedNotFound(NotFound):
    """No feed of the project has this id; it may have expired."""

    code = "feed-not-found"

    def __init__(self, feed_id: str) -> None:
        super().__init__(f"feed_id: there is no feed {feed_id}", id=feed_id)


class CalendarNotFound(NotFound):
    """No feed has this token; the message is the same whatever the reason."""

    code = "calendar-not-found"

    def __init__(self) -> None:
        super().__init__(
            "No calendar has this address: it is wrong, or its feed was deleted or has expired. Then create a"
            " new feed"
        )


class TooManyFeeds(Conflict):
    """The project has as many feeds as it may; delete one."""

    code = "too-many-feeds"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"The project has {limit} feeds, which is the limit ([feeds] max_per_project); delete one",
            limit=limit,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A calendar that anyone who has its token can read, and nothing else.

    It shows what every reader of its project may see when it is read, whatever roles its user has.
    """

    id: str
    token_digest: str
    """SHA-256 of the token, in hexadecimal; the token itself is not stored."""
    kind: FeedKind
    name: str
    """The title of the calendar; empty for a title that names its contents."""
    user_id: str | None
    project_id: str
    lease_id: LeaseId | None = None
    """Only for :attr:`FeedKind.LEASE`."""
    question: Mapping[str, str] = field(default_factory=dict)
    """Only for :attr:`FeedKind.AVAILABILITY`: which resources, with the keys of a request."""
    alarm: timedelta | None = None
    """Time before the end of a lease at which programs remind users, in addition to the time of the lease's
    before-end event; zero for no reminders."""
    created_at: datetime
    last_used_at: datetime | None = None
    """When the calendar was last read, to the day."""

    def expires_at(self, longest_age: timedelta) -> datetime | None:
        """Return when the feed ends; None if it does not. *longest_age* is zero for no limit."""
        return self.created_at + longest_age if longest_age else None

    def has_expired(self, longest_age: timedelta, now: datetime) -> bool:
        """Return whether the feed has ended."""
        end = self.expires_at(longest_age)
        return end is not None and end <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedLease:
    """A lease that was deleted before its end, so that calendars show it as cancelled."""

    lease_id: LeaseId
    name: str
    user_id: str | None
    project_id: str | None
    start: datetime
    end: datetime
    revision: int
    """Greater than all revisions that the lease had."""
    created_at: datetime | None
    deleted_at: datetime
