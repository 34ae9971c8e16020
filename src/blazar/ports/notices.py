"""Ports: notices, the subscriptions to them, their deliveries, and the channels.

Errors of the database are those of :mod:`blazar.ports.store`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from blazar.domain.lease import Lease
from blazar.domain.notices import Notice, NoticeType
from blazar.domain.subscriptions import ChannelKind, Scope, Subscription


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A notice on its way to one subscriber."""

    id: int = 0
    message_id: str
    """The same at every attempt, so that receivers can detect repetitions."""
    subscription: Subscription
    type: str
    lease_id: str
    data: Mapping[str, object]
    at: datetime
    """Time of the event."""
    date: datetime | None = None
    """The date of a reminder; None for other notices."""
    queued_at: datetime
    """Time of the first attempt to deliver."""
    attempts: int = 0
    """Including the present one."""
    problem: str | None = None
    failed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The reminder, or the condition that still holds, of which a subscriber got a notice."""

    subscription_id: str
    type: NoticeType
    about: str
    """A lease, an offer, or a resource type."""
    date: datetime
    """The date of a reminder, or the time from which on a condition has held."""
    lead: timedelta | None = None
    """The shortest lead time of the reminders that were sent."""


class NoticeStore(Protocol):
    """Notices in the order of their transactions, until their deliveries are stored."""

    def append(self, notices: Sequence[Notice]) -> None:
        """Add notices."""

    def take(self, limit: int) -> Sequence[Notice]:
        """Return the oldest notices, and lock them until the transaction ends.

        Only one manager gets notices at a time, because those of one lease would otherwise get their
        deliveries in another order. Others get none meanwhile, and do not wait.
        """

    def remove(self, notice_ids: Collection[int]) -> None:
        """Delete notices."""


class SubscriptionStore(Protocol):
    """Subscriptions, and the notices that subscribers already got."""

    def find(self, subscription_id: str) -> Subscription | None:
        """Return a subscription, or None."""

    def list(self, scope: Scope | None = None, project_id: str | None = None) -> Sequence[Subscription]:
        """Return subscriptions, oldest first.

        Args:
            scope: Return only those of this scope.
            project_id: Return only those of this project.
        """

    def count(self, project_id: str | None) -> int:
        """Return the number of subscriptions of a project."""

    def insert(self, subscription: Subscription) -> None:
        """Add a subscription."""

    def replace(self, before: Subscription, after: Subscription) -> None:
        """Write a changed subscription, with its health.

        Args:
            before: The subscription as it was read from this store.
            after: The changed subscription.

        Raises:
            ConcurrentUpdate: The subscription was changed or deleted since it was read.
        """

    def delete(self, subscription_id: str) -> bool:
        """Delete a subscription with its deliveries; return whether it existed."""

    def covering(self, notices: Collection[Notice]) -> Sequence[Subscription]:
        """Return the enabled subscriptions that may cover one of these notices, oldest first."""

    def of_types(self, types: Collection[NoticeType]) -> Sequence[Subscription]:
        """Return the enabled subscriptions that have one of these types, oldest first."""

    def note_success(self, subscription_id: str, at: datetime) -> None:
        """Record that a delivery succeeded."""

    def note_failure(
        self, subscription_id: str, at: datetime, problem: str, retry_at: datetime | None
    ) -> None:
        """Record that an attempt failed, and that nothing is to be sent before *retry_at*."""

    def note_outage(self, subscription_id: str, problem: str, retry_at: datetime | None) -> None:
        """Record that the site could not make an attempt, so that it is not known whether the receiver works.

        The time for which the receiver has failed is counted from its next failure.
        """

    def disable(self, subscription_id: str, problem: str) -> None:
        """Stop deliveries until the subscriber enables them again; *problem* is the reason."""

    def list_told(self, types: Collection[NoticeType]) -> Sequence[Told]:
        """Return the notices of these types that subscribers already got."""

    def tell(self, told: Told) -> None:
        """Record a notice to a subscriber, in place of an earlier entry of the same type and subject.

        Raises:
            ConcurrentUpdate: Another transaction records the same at the same time.
        """

    def forget(self, told: Told) -> None:
        """Delete the record of a notice to a subscriber."""

    def purge(self, before: datetime) -> int:
        """Delete records that are no longer needed; return the number of deleted subscriptions.

        These are the records of confirmations and of reminders of dates before an instant, and subscriptions
        for leases that are gone and of which nothing is left to be delivered.
        """

    def count_confirmations(self, after: datetime, *, address: str | None, project_id: str | None) -> int:
        """Return the number of confirmations that were mailed since an instant; None for any."""

    def note_confirmation(self, address: str, project_id: str | None, at: datetime) -> None:
        """Record that a confirmation is mailed to an address."""

    def list_starting(self, after: datetime, until: datetime) -> Sequence[Lease]:
        """Return the leases that start in this time and are not being deleted, without their parts."""

    def list_ending(self, after: datetime, until: datetime) -> Sequence[Lease]:
        """Return the leases that end in this time and are not being deleted, without their parts."""


class DeliveryStore(Protocol):
    """Deliveries that are tried, and those that were given up."""

    def append(self, deliveries: Sequence[Delivery]) -> None:
        """Add deliveries, which are due at once."""

    def count_waiting(self, subscription_ids: Collection[str]) -> Mapping[str, int]:
        """Return the number of undelivered notices of each of these subscriptions; zeros are omitted."""

    def take(self, now: datetime, until: datetime, limit: int, per_project: int) -> Sequence[Delivery]:
        """Return due deliveries; no other manager gets them before *until*.

        At most one of each subscription is returned, and of each lease only the oldest one that was not given
        up, so that they keep their order.

        Args:
            now: The present.
            until: When others may try again.
            limit: The most deliveries.
            per_project: The most deliveries of one project, so that slow receivers do not delay others.
        """

    def remove(self, delivery_id: int) -> None:
        """Delete a delivery."""

    def postpone(self, delivery_id: int, until: datetime, problem: str) -> None:
        """Schedule another attempt at *until*; *problem* says why this one failed."""

    def fail(self, delivery_id: int, at: datetime, problem: str) -> None:
        """Give a delivery up; it is kept for some time."""

    def fail_all(self, subscription_id: str, at: datetime, problem: str) -> None:
        """Give up all deliveries of a subscription."""

    def resend(self, subscription_id: str, at: datetime) -> int:
        """Make the deliveries of a subscription that were given up due again; return their number."""

    def list(self, subscription_id: str, limit: int) -> Sequence[Delivery]:
        """Return the deliveries of a subscription that are tried or were given up, oldest first."""

    def purge(self, before: datetime) -> int:
        """Delete those that were given up before an instant; return their number."""


class Channel(Protocol):
    """Delivers notices of one kind."""

    def deliver(self, delivery: Delivery, now: datetime) -> None:
        """Deliver a notice, or raise within seconds.

        Raises:
            DeliveryFailed: The receiver did not accept it, or the site could not pass it on.
        """


class DeliveryFailed(Exception):
    """A notice was not delivered; the text says why, and may be shown to the subscriber."""

    def __init__(
        self,
        problem: str,
        *,
        is_silent: bool = False,
        retry_after: timedelta | None = None,
        is_final: bool = False,
        is_gone: bool = False,
        is_of_site: bool = False,
    ) -> None:
        """Create the error.

        Args:
            problem: The reason.
            is_silent: Whether the receiver did not respond, so that other notices would fail, too.
            retry_after: The time after which the receiver wants the next attempt.
            is_final: Whether another attempt would fail, too.
            is_gone: Whether the receiver wants no more notices.
            is_of_site: Whether a service of the site failed, such as its mail server, and not the receiver.
        """
        super().__init__(problem)
        self.problem = problem
        self.is_silent = is_silent
        self.retry_after = retry_after
        self.is_final = is_final
        self.is_gone = is_gone
        self.is_of_site = is_of_site


Channels = Mapping[ChannelKind, Channel]
