"""The contract of resource plugins.

A plugin knows one resource type: the keys that a request may have, the resources that fit, the items that
should exist in the cloud for a reservation, and how to make or remove one item. It does not decide *when*:
the reconciler passes a phase, compares wanted items with observed ones, and calls the plugin for one item at
a time. A plugin uses no table, no global and no other plugin (ADR-0006).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar, Generic, Protocol, TypeVar

from blazar.domain.availability import Availability, Shuffle
from blazar.domain.capacity import Share
from blazar.domain.discovered import DiscoveredResource
from blazar.domain.interval import Interval
from blazar.domain.lease import Holdings, LeaseId, ReservationId, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.domain.quotas import QuotaUnit
from blazar.domain.requirements import Fact, Requirement
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.ports.cloud import Cloud
from blazar.ports.compute import LesseeCompute

JsonObject = Mapping[str, object]


class Item(Protocol):
    """One thing in the cloud that exists for a reservation; hashable. Equal items are the same thing.

    Items are made in ascending order of ``rank`` and removed in descending order. ``scope`` is the id of the
    resource that an item belongs to, or empty. If a step fails, the later steps of its scope and of the empty
    scope are skipped; those of other resources are not.
    """

    @property
    def rank(self) -> int:
        """Return the position in the order of making."""

    @property
    def scope(self) -> str:
        """Return the id of the resource; empty if the item belongs to the whole reservation."""


@dataclass(frozen=True, slots=True)
class Done:
    """The step took effect, or had taken effect before."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The step cannot be completed yet; retry it after *retry_after*."""

    retry_after: timedelta
    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The step cannot succeed under the present conditions."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """The item's resource cannot be handed over, and may be replaced by another one.

    If ``is_final``, it never can be; otherwise the obstacle may disappear.
    """

    reason: str
    is_final: bool = False


Outcome = Done | Waiting | Refused | Unusable

ItemT = TypeVar("ItemT", bound=Item)
ItemT_co = TypeVar("ItemT_co", bound=Item, covariant=True)
SpecT = TypeVar("SpecT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish(Generic[SpecT]):
    """The arguments of a choice: the spec, the window, and the present holdings."""

    spec: SpecT
    window: Interval
    now: datetime
    cleaning_time: timedelta = timedelta(0)
    ignoring: frozenset[ReservationId] = frozenset()
    """Reservations whose bookings are ignored: the requesting one, and others of its lease."""
    held: Holdings = field(default_factory=dict)
    is_active: bool = False
    """Whether the lessee uses the held resources, so that they must be kept."""
    in_use: Mapping[ResourceId, int] = field(default_factory=dict)
    """The result of :meth:`ResourcePlugin.count_in_use` for the held resources."""
    beside: Mapping[ResourceId, tuple[Share | None, ...]] = field(default_factory=dict)
    """Shares that other reservations of the same lease hold or were assigned by this request."""
    hidden: frozenset[str] = frozenset()
    """Resource properties that the caller may not see; to be treated as names that no host has."""
    excluded: frozenset[ResourceId] = frozenset()
    """Resources that must not be chosen, even if they are free."""
    shuffle: Shuffle | None = None
    """If set, choose in random order instead of the stated order; passed to ``Availability.in_order``."""

    @property
    def awaited(self) -> Holdings:
        """Return the holdings to keep even if an earlier reservation has not released them yet."""
        return self.held if self.is_active else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedResource:
    """A resource of a reservation, with its facts."""

    id: ResourceId
    share: Share | None = None
    """The part that is held; None for all of it."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    is_awaited: bool = False
    """Whether an earlier reservation has not released it yet; what exists on it belongs to that one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment(Generic[SpecT]):
    """A reservation in the form in which a plugin gets it for work on the cloud."""

    lease_id: LeaseId
    reservation_id: ReservationId
    project_id: str
    window: Interval
    now: datetime
    has_begun: bool
    """Whether its start was recorded, regardless of the clock. Before that, nothing that the lessee can use
    may exist for it."""
    spec: SpecT
    resources: tuple[AllocatedResource, ...]


class Seen(Protocol[ItemT_co]):
    """The items observed in the cloud for a reservation, and data that the next steps need."""

    @property
    def items(self) -> frozenset[ItemT_co]:
        """Return the items that exist."""

    @property
    def notes(self) -> JsonObject:
        """Return keys of the stored spec whose values are read from the cloud, such as an aggregate's id."""


SeenT = TypeVar("SeenT", bound=Seen[Item])


class ResourcePlugin(Protocol[SpecT, ItemT, SeenT]):
    """One type of reservable resource."""

    resource_type: ClassVar[str]
    collection: ClassVar[str]
    """The kind of resources that its reservations hold: ``host``, ``floatingip``, or a kind of its own."""
    quota_unit: ClassVar[QuotaUnit]
    """The unit in which a project's reserved amounts are counted and limited; types may share one."""
    independent_ranks: ClassVar[frozenset[int]]
    """Ranks of items that may be made and removed concurrently if their scopes differ. Such a step changes
    neither the observation nor anything in the cloud that steps of other scopes need."""

    # Pure.

    def parse(self, body: JsonObject) -> SpecT:
        """Return the spec for the keys of a new reservation. Other keys are ignored.

        Raises:
            BadRequest: A value is missing or invalid.
        """

    def revise(self, spec: SpecT, changes: JsonObject, *, is_active: bool) -> SpecT:
        """Return the spec with the changes of an update; *is_active* as in :class:`Wish`.

        Raises:
            BadRequest: A value is invalid.
            CannotChange: A key is fixed, or is fixed while the reservation is active.
        """

    def encode(self, spec: SpecT) -> JsonObject:
        """Return the spec as JSON for the store."""

    def decode(self, stored: JsonObject) -> SpecT:
        """Return the spec that :meth:`encode` wrote."""

    def least_spec(self) -> SpecT | None:
        """Return a spec in place of a damaged one, sufficient to find and remove the reservation's items.

        None if the items cannot be found without the spec: such a reservation waits until it is repaired.
        """

    def render(self, spec: SpecT) -> JsonObject:
        """Return the keys that clients see in addition to the common keys of a reservation."""

    def properties_used(self, spec: SpecT) -> frozenset[str]:
        """Return the names of the resource properties that the spec uses."""

    def requirement(self, spec: SpecT) -> Requirement:
        """Return the spec's requirement for hosts; the empty requirement if it reserves no part of a host."""

    def choose(self, wish: Wish[SpecT], availability: Availability) -> Holdings:
        """Return the resources that the reservation holds from now on; kept resources come first.

        Raises:
            Conflict: Not enough resources are available; the message says which.
            BadRequest: The spec has a name that no resource has.
        """

    def wanted(self, assignment: Assignment[SpecT], phase: Phase) -> frozenset[ItemT]:
        """Return the items that should exist in this phase."""

    # Called while a request is served, with the rights of the lessee who sent it.

    def look_up(self, spec: SpecT, lessee: LesseeCompute) -> SpecT:
        """Return the spec with data that only the lessee can read; called for every new or changed spec.

        Raises:
            NotFound: The lessee cannot see what the spec names.
            BadRequest, Conflict: It cannot be reserved.
        """

    def provide(
        self, spec: SpecT, reservation_id: ReservationId, lessee: LesseeCompute, *, afresh: bool
    ) -> SpecT:
        """Make the objects that only the lessee may make, and return the spec with their ids.

        Called after the resources were chosen.

        Args:
            spec: The requested spec. Objects that it names already are not made again.
            reservation_id: The reservation; it is part of their names.
            lessee: Nova with the lessee's rights.
            afresh: True if the objects that the spec names may be gone, so that they must be made again.
        """

    def withdraw(self, cloud: Cloud, spec: SpecT, kept: SpecT | None) -> None:
        """Undo :meth:`provide` for *spec*, except for objects that *kept* also names; safe to repeat.

        Called when the request fails later, or after it replaced a spec.
        """

    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[SpecT], before: SpecT
    ) -> Mapping[ResourceId, int]:
        """Return how much of each resource the lessee uses now, if that matters for the change.

        Called for an active reservation whose spec was *before*.

        Returns:
            For a resource with shares, the number of slots that have servers; for a whole resource, any
            number above zero. Resources that are not in use may be omitted.
        """

    def release(self, cloud: Cloud, assignment: Assignment[SpecT], kept: Holdings) -> None:
        """Take resources away from a reservation that has begun, so that others can use them.

        Called before the change is stored: when the lessee reduces a reservation, and when a failed resource
        is to be replaced. If the change is not stored, the reconciler restores the resources.

        Args:
            cloud: The cloud.
            assignment: The reservation with its present resources.
            kept: The resources that it holds from now on.

        Raises:
            CannotChange: The lessee has started to use a resource that would be taken away.
        """

    # Called to read the cloud; these methods change nothing.

    def discover(self, cloud: Cloud) -> Sequence[DiscoveredResource] | None:
        """Return the resources that exist now, from which the service updates its records.

        Called when a manager starts, and periodically. None means that operators register the resources.

        Raises:
            CloudError: The resources cannot be read; the records stay unchanged.
        """

    def leftover_kinds(self, sweep: Sweep) -> Sequence[LeftoverKind]:
        """Return the kinds of leftovers that reservations of this type may have, in the order of removal.

        Reads nothing. A kind that several plugins return is searched once.
        """

    def lost(
        self, cloud: Cloud, assignment: Assignment[SpecT], failed: Collection[ResourceId]
    ) -> frozenset[ResourceId]:
        """Return those failed resources that do not serve the lessee; the reservation has begun."""

    def observe(self, cloud: Cloud, assignment: Assignment[SpecT], phase: Phase) -> SeenT:
        """Return the items that exist; in ``Phase.OVER``, all items that must be removed."""

    # Called to change the cloud by one item; safe to repeat; these methods never block to wait.

    def make(self, cloud: Cloud, assignment: Assignment[SpecT], item: ItemT, seen: SeenT) -> Outcome:
        """Make one item."""

    def remove(self, cloud: Cloud, assignment: Assignment[SpecT], item: ItemT, seen: SeenT) -> Outcome:
        """Remove one item."""

    def before_end(self, cloud: Cloud, assignment: Assignment[SpecT], due: datetime) -> Outcome:
        """Take the before-end action that the spec requests; *due* distinguishes occasions."""
