"""The contract of resource plugins.

A plugin knows one resource type: the keys that a request may have, the resources that fit, the items that
should exist in the cloud for a reservation, and how to make or remove one item. It does not decide *when*:
the reconciler passes a phase, compares wanted items with observed ones, and calls the plugin for one item at
a time. A plugin uses no table, no global and no other plugin (ADR-0006).

Every plugin implements :class:`ResourcePlugin`. The parts that only some resource types need are in
:mod:`blazar.plugins.capabilities`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Generic, Protocol, TypeVar

from blazar.domain.availability import Availability, Shuffle
from blazar.domain.capacity import Share
from blazar.domain.interval import Interval
from blazar.domain.lease import Holdings, LeaseId, ReservationId, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.domain.quotas import QuotaUnit
from blazar.domain.requirements import Fact
from blazar.ports.cloud import Cloud

JsonObject = Mapping[str, object]


class Item(Protocol):
    """One thing in the cloud that exists for a reservation; hashable. Equal items are the same thing.

    Items are made in ascending order of ``rank`` and removed in descending order. ``scope`` is the id of the
    resource that an item belongs to, or empty. If a step fails, the later steps of its scope and of the empty
    scope are skipped; those of other resources are not.
    """

    @property
    def rank(self) -> int:
        """Return the position in the order in which items are made."""

    @property
    def scope(self) -> str:
        """Return the id of the resource; empty if the item belongs to the whole reservation."""


class ResultKind(StrEnum):
    """The fate of an object of the lessee."""

    SAVED = "saved"
    RELEASED = "released"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Result:
    """The fate of an object of the lessee, such as a server, at the end of a reservation.

    ``name`` is the kind and the name of the object, such as ``server web-1``. It is told to the lessee, so
    the object must belong to the lessee's project. The service keeps each result once.
    """

    kind: ResultKind
    name: str


@dataclass(frozen=True, slots=True)
class Done:
    """The step took effect, or had taken effect before.

    ``results`` are those that are certain now; they count only at the end of a reservation.
    """

    results: tuple[Result, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Waiting:
    """The step cannot be completed yet; retry it after *retry_after*.

    ``results`` are those that are certain once the reservation has been removed.
    """

    retry_after: timedelta
    reason: str
    results: tuple[Result, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """The step cannot succeed under the present conditions; ``results`` as for :class:`Done`."""

    reason: str
    results: tuple[Result, ...] = field(default=(), compare=False)


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
    """The result of :meth:`ReleasesWhileActive.count_in_use` for the held resources."""
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
    """A reservation as a plugin receives it for work on the cloud."""

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
    """The kind of resources that its reservations hold: ``host``, ``floatingip``, or a new kind."""
    quota_unit: ClassVar[QuotaUnit]
    """The unit in which a project's reserved amounts are counted and limited; types may share one."""

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

    def render(self, spec: SpecT) -> JsonObject:
        """Return the keys that clients see in addition to the common keys of a reservation."""

    def choose(self, wish: Wish[SpecT], availability: Availability) -> Holdings:
        """Return the resources that the reservation holds from now on; kept resources come first.

        Raises:
            Conflict: Not enough resources are available; the message says which.
            BadRequest: The spec has a name that no resource has.
        """

    def wanted(self, assignment: Assignment[SpecT], phase: Phase) -> frozenset[ItemT]:
        """Return the items that should exist in this phase."""

    # Reads the cloud and changes nothing.

    def observe(self, cloud: Cloud, assignment: Assignment[SpecT], phase: Phase) -> SeenT:
        """Return the items that exist; in ``Phase.OVER``, all items that must be removed.

        Items that are never wanted have the ranks that the plugin declares with :class:`CleansUp`.
        """

    # Called to change the cloud by one item; safe to repeat; these methods never block to wait.

    def make(self, cloud: Cloud, assignment: Assignment[SpecT], item: ItemT, seen: SeenT) -> Outcome:
        """Make one item."""

    def remove(self, cloud: Cloud, assignment: Assignment[SpecT], item: ItemT, seen: SeenT) -> Outcome:
        """Remove one item."""
