"""Subscriptions: who gets which notices, through which channel."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from blazar.domain.errors import Conflict, NotFound
from blazar.domain.notices import Notice, NoticeType


class ChannelKind(StrEnum):
    """The kinds of channels by which notices are delivered."""

    MAIL = "mail"
    WEBHOOK = "webhook"


class Scope(StrEnum):
    """The leases that a subscription is about."""

    LEASE = "lease"
    OWN = "own"
    """The leases of the project that the user of the subscription created."""
    PROJECT = "project"
    SITE = "site"
    """All leases of all projects; only for operators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The success of deliveries to a subscriber."""

    succeeded_at: datetime | None = None
    """Time of the last successful delivery."""
    failing_since: datetime | None = None
    """Time of the first failure since then."""
    retry_at: datetime | None = None
    """Time before which nothing is sent, because the receiver did not respond or asked for it."""
    problem: str | None = None
    """Reason of the last failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """When an operator gets notices of scarce resources and of leases that wait; None for never."""

    resource_type: str | None = None
    below: int | None = None
    """Number of free resources of the type below which they are low."""
    waits: timedelta | None = None
    """Time for which a lease may wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A request for notices of some events."""

    id: str
    scope: Scope
    project_id: str | None
    user_id: str | None
    """The user who made it, or to whom mail without an ``address`` goes."""
    lease_id: str | None = None
    """The lease of the scope ``lease``."""
    kind: ChannelKind
    types: frozenset[NoticeType]
    target: str | None = None
    """The URL, or the address; None for mail to the user's own address."""
    secret: str | None = None
    """The key that signs requests, in the form ``whsec_…``; only of webhooks."""
    former_secret: str | None = None
    """The key before it was replaced; requests are signed with both until ``former_until``."""
    former_until: datetime | None = None
    leads: tuple[timedelta, ...] | None = None
    """Times before a start or an end; None for those of the site."""
    time_zone: str | None = None
    """The time zone of dates in mail; None for that of the site."""
    language: str | None = None
    """The language of mail; None for that of the site."""
    conditions: Conditions = Conditions()
    is_enabled: bool = True
    is_default: bool = False
    """Whether the service made it for the owner of a lease."""
    code: str | None = None
    """The code that was mailed to an unconfirmed address; None if it is confirmed."""
    code_attempts: int = 0
    """Failed attempts to enter the code."""
    health: Health = Health()
    created_at: datetime
    updated_at: datetime | None = None

    def __repr__(self) -> str:
        """Return the subscription without its secret and its target, which may contain one."""
        return f"Subscription(id={self.id!r}, kind={self.kind.value!r}, scope={self.scope.value!r})"

    def covers(self, notice: Notice) -> bool:
        """Return whether the subscriber gets a notice."""
        if not self.is_enabled or self.code is not None or notice.type not in self.types:
            return False
        match self.scope:
            case Scope.LEASE:
                return notice.lease_id == self.lease_id and notice.project_id == self.project_id
            case Scope.OWN:
                return (notice.project_id, notice.user_id) == (self.project_id, self.user_id)
            case Scope.PROJECT:
                return notice.project_id == self.project_id
        return True

    def as_configured(self, default_types: frozenset[NoticeType]) -> Subscription:
        """Return the subscription; one that only the service made has the configured types."""
        if self.is_default and self.updated_at is None:
            return replace(self, types=default_types)
        return self

    def keys_at(self, now: datetime) -> tuple[str, ...]:
        """Return the keys that sign a request now, the present one first."""
        former = self.former_secret if self.former_until is not None and now < self.former_until else None
        return tuple(each for each in (self.secret, former) if each is not None)


class SubscriptionNotFound(NotFound):
    """The caller's project has no subscription with this id."""

    code = "subscription-not-found"

    def __init__(self, subscription_id: str) -> None:
        super().__init__(f"subscription_id: there is no subscription {subscription_id}", id=subscription_id)


class TooManySubscriptions(Conflict):
    """The project has as many subscriptions as it may."""

    code = "too-many-subscriptions"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"The project has {limit} subscriptions, which is the limit; delete one first", limit=limit
        )


def sorted_types(types: Collection[NoticeType]) -> list[str]:
    """Return the names of types in the order of their declaration."""
    return [each.value for each in NoticeType if each in types]
