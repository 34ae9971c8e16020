"""Port: the database, as explicit transactions over a few collections.

Any method may raise ``ConcurrentUpdate`` (another transaction was faster; begin the transaction again) or
``Unavailable`` (no connection).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from blazar.domain.health import Diagnosis, ResourceState
from blazar.domain.lease import Lease, LeaseId, LeaseStatus, ResourceId
from blazar.domain.paging import Page
from blazar.ports.allocations import AllocationStore, DateRanges
from blazar.ports.answers import AnswerStore
from blazar.ports.availability import AvailabilityReader
from blazar.ports.feeds import FeedStore
from blazar.ports.journal import Findings, Journal
from blazar.ports.maintenance import MaintenanceStore
from blazar.ports.notices import DeliveryStore, NoticeStore, SubscriptionStore
from blazar.ports.offers import OfferStore
from blazar.ports.outbox import Outbox
from blazar.ports.plugin_resources import PluginResources
from blazar.ports.quotas import QuotaStore
from blazar.ports.usage import UsageStore
from blazar.ports.uses import UseStore
from blazar.ports.work import WorkStore


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseFilter:
    """Conditions on the leases of a list; None or empty for no condition."""

    project_id: str | None = None
    """The only project whose leases exist for the caller."""
    statuses: Collection[LeaseStatus] = ()
    user_id: str | None = None
    name: str | None = None
    resource_type: str | None = None
    """A type of which the lease has a reservation."""
    dates: DateRanges = field(default_factory=DateRanges)


class LeaseStore(Protocol):
    """Leases with their reservations and events."""

    def find(self, lease_id: str) -> Lease | None:
        """Return a lease, or None."""

    def list(self, project_id: str | None = None) -> tuple[Lease, ...]:
        """Return the leases of a project, or all, oldest first; the number of statements is fixed."""

    def list_revisions(self, project_id: str | None = None) -> Mapping[LeaseId, int]:
        """Return the revisions of the leases of a project, or of all, oldest lease first.

        If a lease has the same revision at two times, none of it changed in between: every write to a
        lease, its reservations or its events increments the revision in the same transaction.
        """

    def list_page(self, which: LeaseFilter, page: Page) -> Mapping[LeaseId, int]:
        """Return the revisions of a page, in its order. Raises InvalidParameter if the marker is unknown."""

    def get_many(self, lease_ids: Collection[str]) -> tuple[Lease, ...]:
        """Return these leases, oldest first; those that are gone are omitted.

        Uses three statements. Every supported database accepts a thousand ids at once.
        """

    def insert(self, lease: Lease) -> None:
        """Add a lease."""

    def insert_many(self, leases: Sequence[Lease]) -> None:
        """Add many leases with their reservations and events, in three statements."""

    def replace(self, before: Lease, after: Lease, at: datetime) -> Lease:
        """Write the differences and return the lease with its new revision; new reservations are added.

        Raises:
            ConcurrentUpdate: The lease no longer has the revision of *before*.
        """

    def delete_reservations(self, before: Lease, after: Lease) -> None:
        """Delete the reservations that *after* no longer has.

        Call it after ``replace``, and after their allocations were removed.
        """

    def delete(self, lease: Lease) -> None:
        """Delete a lease, its reservations and events, as ``replace`` returned it in this transaction."""

    def check(self, lease: Lease) -> None:
        """Lock the lease until the transaction ends. Raises ConcurrentUpdate if it changed since read."""

    def deployed_reservations(self, reservation_ids: Collection[str]) -> frozenset[str]:
        """Return those of the ids that name reservations which may have resources in the cloud."""


class ResourceStore(Protocol):
    """Data common to resources of every type: their state, and the leases that depend on them."""

    def get_states(self, resource_ids: Collection[ResourceId]) -> Mapping[ResourceId, ResourceState]:
        """Return the states of these resources; those that are gone are omitted."""

    def list_unsound(self, collection: str) -> Mapping[ResourceId, Diagnosis]:
        """Return the resources of a collection that are not healthy."""

    def set_diagnosis(self, resource_id: ResourceId, diagnosis: Diagnosis, at: datetime) -> Diagnosis | None:
        """Store a resource's diagnosis; return the previous one, or None if the resource is gone."""

    def list_holders(self, resource_id: ResourceId) -> tuple[LeaseId, ...]:
        """Return the leases that hold a resource, and those that lost it."""

    def list_missing(self) -> tuple[LeaseId, ...]:
        """Return the leases that hold failed resources without a replacement."""

    def count_free(self, now: datetime) -> Mapping[str, int]:
        """Return the number of healthy resources of each collection that nothing holds now.

        Those under maintenance do not count.
        """

    def renew_generations(self, at: datetime) -> None:
        """Give every resource a generation that it never had, after a backup was restored.

        Generations go back with a backup, so that other bookings would get the same ones again, and answers
        that clients keep would be treated as current.
        """


StoreT = TypeVar("StoreT")


@dataclass(frozen=True, slots=True)
class StoreKey(Generic[StoreT]):
    """Names the store of a collection that has tables of its own, and gives it its type."""

    collection: str


class Transaction(Protocol):
    """One transaction; leaving it without ``commit`` rolls back."""

    @property
    def leases(self) -> LeaseStore:
        """Return the leases."""

    @property
    def allocations(self) -> AllocationStore:
        """Return the allocations."""

    @property
    def resources(self) -> ResourceStore:
        """Return the resources of every type."""

    def of(self, key: StoreKey[StoreT]) -> StoreT:
        """Return the store of a collection that has tables of its own."""

    @property
    def plugin_resources(self) -> PluginResources:
        """Return the discovered and registered resources of plugins."""

    @property
    def availability(self) -> AvailabilityReader:
        """Return the reader for searches."""

    @property
    def work(self) -> WorkStore:
        """Return the planned work and its claims."""

    @property
    def journal(self) -> Journal:
        """Return the journal."""

    @property
    def outbox(self) -> Outbox:
        """Return the outbox."""

    @property
    def findings(self) -> Findings:
        """Return the findings of checks."""

    @property
    def quotas(self) -> QuotaStore:
        """Return the reserved amounts of projects."""

    @property
    def uses(self) -> UseStore:
        """Return the uses of projects."""

    @property
    def usage(self) -> UsageStore:
        """Return the records of usage."""

    @property
    def answers(self) -> AnswerStore:
        """Return the stored answers."""

    @property
    def offers(self) -> OfferStore:
        """Return the offers."""

    @property
    def maintenances(self) -> MaintenanceStore:
        """Return the maintenances."""

    @property
    def feeds(self) -> FeedStore:
        """Return the feeds."""

    @property
    def notices(self) -> NoticeStore:
        """Return the notices for which no deliveries exist yet."""

    @property
    def subscriptions(self) -> SubscriptionStore:
        """Return the subscriptions."""

    @property
    def deliveries(self) -> DeliveryStore:
        """Return the deliveries of notices."""

    def commit(self) -> None:
        """Commit all changes."""


class Store(Protocol):
    """The database."""

    def begin(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that may write."""

    def read(self, *, of_one_instant: bool = True) -> AbstractContextManager[Transaction]:
        """Begin a read-only transaction; unless *of_one_instant*, later statements may see later commits."""
