"""What is wanted from the database: explicit transactions over a few collections.

Any method may raise ``ConcurrentUpdate`` (somebody else was faster; begin the transaction anew) or
``Unavailable`` (no connection).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from blazar.domain.health import Diagnosis, ResourceState
from blazar.domain.hosts import Host, ResourceProperty
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Lease, LeaseId, ReservationId, ResourceId
from blazar.domain.providers import HostProvider
from blazar.ports.availability import AvailabilityReader
from blazar.ports.discovered import DiscoveredResources
from blazar.ports.floatingips import FloatingIPStore
from blazar.ports.outbox import Outbox
from blazar.ports.quotas import QuotaStore
from blazar.ports.work import WorkStore


class LeaseStore(Protocol):
    """Leases with their reservations and events."""

    def find(self, lease_id: str) -> Lease | None:
        """Return a lease, or None."""

    def list(self, project_id: str | None = None) -> tuple[Lease, ...]:
        """Return the leases of a project, or all, oldest first; the number of statements is fixed."""

    def list_revisions(self, project_id: str | None = None) -> Mapping[LeaseId, int]:
        """Return the revisions of the leases of a project, or of all, oldest lease first.

        A lease that has the same revision at two times is the same in everything: whatever is written of it,
        of its reservations or of its events moves the revision on, in the same transaction.
        """

    def get_many(self, lease_ids: Collection[str]) -> tuple[Lease, ...]:
        """Return these leases, oldest first; those that are gone are left out.

        Three statements. A thousand ids at once are not too many for any database.
        """

    def insert(self, lease: Lease) -> None:
        """Add a lease."""

    def insert_many(self, leases: Sequence[Lease]) -> None:
        """Add many leases with their children, in three statements."""

    def replace(self, before: Lease, after: Lease, at: datetime) -> Lease:
        """Write what differs and return the lease with its new revision.

        Raises:
            ConcurrentUpdate: The lease's revision is not *before*'s any more.
        """

    def delete(self, lease: Lease) -> None:
        """Delete a lease, its reservations and events. Raises ConcurrentUpdate as ``replace``."""

    def check(self, lease: Lease) -> None:
        """Lock the lease until the transaction ends; raise ConcurrentUpdate if it is not as read."""

    def deployed_reservations(self, reservation_ids: Collection[str]) -> frozenset[str]:
        """Return those of the ids that are reservations of which something may exist outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BookedWindow:
    """An allocation as ``/os-hosts/allocations`` shows it: with its lease's dates."""

    resource_id: ResourceId
    reservation_id: ReservationId
    lease_id: LeaseId
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldResource:
    """A resource that a reservation holds, its human-readable name, and the window."""

    reservation_id: ReservationId
    resource_id: ResourceId
    name: str
    slots: int | None
    """The number of slots held on the resource; None for the whole resource."""
    window: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierHolder:
    """A reservation that still holds a resource after its window, and the end of that window."""

    reservation_id: ReservationId
    end: datetime


class AllocationStore(Protocol):
    """Who holds which resource when.

    Every change moves on the generations of its resources: ``release`` and ``purge_released`` do so
    themselves, before or after the others ``claim`` or ``touch`` is to be called.
    """

    def of_reservations(self, reservation_ids: Collection[ReservationId]) -> tuple[Allocation, ...]:
        """Return the unreleased allocations of these reservations."""

    def claim(self, expected: Mapping[ResourceId, int], adding: Sequence[Allocation] = ()) -> None:
        """Move these resources to their next generation.

        Args:
            expected: The generations that they are to be at.
            adding: What ``insert`` is to be given, of new reservations, if nothing else of the resources in
                it changes.

        Raises:
            ConcurrentUpdate: One is not at the generation expected, or is gone.
        """

    def touch(self, resource_ids: Collection[ResourceId]) -> None:
        """Move these resources to their next generation, whichever they are at."""

    def insert(self, allocations: Sequence[Allocation]) -> None:
        """Add allocations. Raises ConcurrentUpdate if the database sees one promised twice."""

    def move(
        self, reservation_ids: Collection[ReservationId], window: Interval, *, began_at: datetime
    ) -> None:
        """Give the unreleased allocations of these reservations another window.

        Those that came into a lease after it began, at *began_at*, keep their own start.
        """

    def remove(
        self, reservation_id: ReservationId, resource_ids: Collection[ResourceId] | None = None
    ) -> None:
        """Forget unreleased allocations of a reservation (None: all) that never took effect."""

    def release(
        self, reservation_id: ReservationId, resource_ids: Collection[ResourceId], at: datetime | None
    ) -> None:
        """Note that resources were seen free at *at*; None forgets the allocations at once."""

    def purge_released(self, before: datetime) -> bool:
        """Forget allocations that were released before this instant; return whether there were any."""

    def held_before(
        self, reservation_ids: Collection[ReservationId], start: datetime
    ) -> Mapping[ResourceId, ReservationId]:
        """Return resources of these reservations that others, who came before *start*, still hold.

        Of two that hold shares, one waits for the other only if that should be over by *start*.
        """

    def waiting_leases(self, resource_ids: Collection[ResourceId], now: datetime) -> tuple[LeaseId, ...]:
        """Return the leases that should have begun and may wait for one of these resources."""

    def list_booked(
        self,
        *,
        now: datetime,
        resource_id: ResourceId | None = None,
        lease_id: str | None = None,
        reservation_id: str | None = None,
    ) -> tuple[BookedWindow, ...]:
        """Return current and future allocations, or, with a filter, all of that lease or reservation.

        A share is there once for each of its slots.
        """

    def list_held(self, lease_id: LeaseId) -> tuple[HeldResource, ...]:
        """Return the resources that a lease's reservations hold, ordered by resource name."""

    def list_overlaps(self, limit: int) -> tuple[tuple[ResourceId, LeaseId, LeaseId], ...]:
        """Return resources that two leases hold at the same time, one of them for itself; never any."""

    def count_on(self, resource_id: ResourceId) -> int:
        """Return how many allocations a resource has, released ones that are being cleaned included."""


class ResourceStore(Protocol):
    """What holds for resources of every kind: their state, and who depends on it."""

    def get_states(self, resource_ids: Collection[ResourceId]) -> Mapping[ResourceId, ResourceState]:
        """Return what is known of these resources; those that are gone are missing."""

    def list_unsound(self, collection: str) -> Mapping[ResourceId, Diagnosis]:
        """Return the resources of a collection that are not sound."""

    def set_diagnosis(self, resource_id: ResourceId, diagnosis: Diagnosis, at: datetime) -> Diagnosis | None:
        """Note what is known of a resource's health; return what was before, None if it is gone."""

    def list_holders(self, resource_id: ResourceId) -> tuple[LeaseId, ...]:
        """Return the leases that hold a resource, and those that lost it."""

    def list_missing(self) -> tuple[LeaseId, ...]:
        """Return the leases that hold failed resources which nothing could take the place of yet."""


class HostStore(Protocol):
    """Registered hosts and the properties that their capabilities have."""

    def find(self, host_id: str) -> Host | None:
        """Return a host, or None."""

    def find_by_hostname(self, hypervisor_hostname: str) -> Host | None:
        """Return the host of this hypervisor host name, or None."""

    def has_service(self, service_name: str) -> bool:
        """Return whether a host of this compute service is registered."""

    def list(self) -> tuple[Host, ...]:
        """Return all hosts, oldest first, with capabilities; providers are left out."""

    def get_many(self, host_ids: Collection[ResourceId]) -> tuple[Host, ...]:
        """Return these hosts with capabilities; providers, and hosts that are gone, are left out."""

    def list_providers(self) -> Mapping[ResourceId, tuple[HostProvider, ...]]:
        """Return the providers of all hosts, roots first; hosts without any are missing."""

    def insert(self, host: Host) -> None:
        """Add a host. Raises HostAlreadyRegistered."""

    def insert_many(self, hosts: Sequence[Host]) -> None:
        """Add many hosts whose properties are known, in a few statements."""

    def insert_properties(self, properties: Sequence[ResourceProperty]) -> None:
        """Add properties, which no host has yet."""

    def all_properties(self) -> tuple[ResourceProperty, ...]:
        """Return all properties, also those that no host has."""

    def update(self, host: Host, at: datetime) -> None:
        """Replace what Nova and Placement say of a host: its details and its providers."""

    def set_capabilities(self, host_id: ResourceId, changes: Mapping[str, str | None], at: datetime) -> None:
        """Set capabilities, creating public properties on first use; None removes one."""

    def delete(self, host_id: ResourceId) -> None:
        """Delete a host."""

    def list_properties(self) -> tuple[tuple[ResourceProperty, tuple[str, ...]], ...]:
        """Return each property that some host has, with its distinct values, by name."""

    def find_property(self, name: str) -> ResourceProperty | None:
        """Return a property, or None."""

    def set_property_private(self, name: str, is_private: bool, at: datetime) -> None:
        """Hide or show a property."""

    def reservations_on(self, host_id: ResourceId) -> tuple[tuple[ReservationId, str, object], ...]:
        """Return (id, resource type, spec) of every reservation that holds the host."""


DELETE: Final = "delete"
"""The event name of the journal entry for a request to delete a lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """A transition and its reason. ``actor`` is a user's id or a manager's name."""

    at: datetime
    lease_id: LeaseId | None
    event: str
    reason: str = ""
    reservation_id: ReservationId | None = None
    actor: str = ""
    request_id: str | None = None


class Journal(Protocol):
    """Every transition, kept after its lease is gone."""

    def append(self, entries: Sequence[JournalEntry]) -> None:
        """Add entries."""

    def knows_leases(self) -> bool:
        """Return whether anything ever happened to a lease."""

    def known_reservations(self, reservation_ids: Collection[str]) -> frozenset[str]:
        """Return those of the ids that name reservations with journal entries."""

    def has_delete(self, lease_id: str) -> bool:
        """Return whether a request to delete the lease was recorded."""

    def list_event(self, event: str) -> tuple[JournalEntry, ...]:
        """Return the entries of one event, of all leases, oldest first."""

    def list(self, lease_id: str) -> tuple[JournalEntry, ...]:
        """Return a lease's entries, oldest first."""


class Findings(Protocol):
    """What is not as it should be, but may be a moment later, so that it has to be seen twice."""

    def note(self, finder: str, keys: Collection[str], at: datetime) -> Mapping[str, datetime]:
        """Replace a finder's findings by these; return when each was first seen.

        Args:
            finder: Who found them; one word.
            keys: What was found.
            at: When.
        """


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
        """Return the resources of every kind."""

    @property
    def hosts(self) -> HostStore:
        """Return the hosts."""

    @property
    def floatingips(self) -> FloatingIPStore:
        """Return the floating IPs."""

    @property
    def discovered(self) -> DiscoveredResources:
        """Return the discovered resources of plugins."""

    @property
    def availability(self) -> AvailabilityReader:
        """Return the reader for searches."""

    @property
    def work(self) -> WorkStore:
        """Return the claims."""

    @property
    def journal(self) -> Journal:
        """Return the journal."""

    @property
    def outbox(self) -> Outbox:
        """Return the outbox."""

    @property
    def findings(self) -> Findings:
        """Return what has to be seen twice."""

    @property
    def quotas(self) -> QuotaStore:
        """Return what projects have reserved."""

    def commit(self) -> None:
        """Make everything permanent."""


class Store(Protocol):
    """The database."""

    def begin(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that may write."""

    def read(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that only reads; it sees everything as of one instant."""
