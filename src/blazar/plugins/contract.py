"""The contract of resource plugins.

A plugin knows one resource type: what a request may say, which resources fit, which items should
exist outside for a reservation, and how to make or remove one such item. It decides nothing about
*when*: the engine hands it a phase, takes the difference of wanted and seen items, and calls it one
item at a time. A plugin touches no table, no global and no other plugin (ADR-0006).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar, Generic, Protocol, TypeVar

from blazar.domain.availability import Availability, Shuffle
from blazar.domain.capacity import Share
from blazar.domain.interval import Interval
from blazar.domain.lease import Holdings, LeaseId, ReservationId, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.domain.requirements import Fact
from blazar.domain.stock import StockedResource
from blazar.ports.cloud import Cloud
from blazar.ports.compute import LesseeCompute

JsonObject = Mapping[str, object]


class Item(Protocol):
    """One thing that exists outside for a reservation. Equal items are the same thing; hashable.

    Items are made in ascending and removed in descending order of ``rank``. ``scope`` names the
    resource that an item belongs to, or is empty: when a step fails, later steps of its scope and
    of the empty scope are left out, those of other resources are not.
    """

    @property
    def rank(self) -> int:
        """Return the place in the order of making."""

    @property
    def scope(self) -> str:
        """Return the id of the resource concerned; empty for the whole reservation."""


@dataclass(frozen=True, slots=True)
class Done:
    """The step had its effect, or it was there already."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The step cannot be finished yet; look again after *retry_after*."""

    retry_after: timedelta
    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The step will never succeed as things are."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """The item's resource cannot be handed over: another one may take its place.

    If ``is_final``, it never can be; otherwise whatever is in its way may go.
    """

    reason: str
    is_final: bool = False


Outcome = Done | Waiting | Refused | Unusable

ItemT = TypeVar("ItemT", bound=Item)
ItemT_co = TypeVar("ItemT_co", bound=Item, covariant=True)
SpecT = TypeVar("SpecT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish(Generic[SpecT]):
    """What resources are asked for, when, and what is held already."""

    spec: SpecT
    window: Interval
    now: datetime
    cleaning_time: timedelta = timedelta(0)
    ignoring: frozenset[ReservationId] = frozenset()
    """Reservations whose bookings do not stand in the way: the one that asks, and others of its lease."""
    held: Holdings = field(default_factory=dict)
    is_active: bool = False
    """Whether the lessee uses what is held, so that it must be kept."""
    in_use: Mapping[ResourceId, int] = field(default_factory=dict)
    """How many slots of what is held have servers now."""
    beside: Mapping[ResourceId, tuple[Share | None, ...]] = field(default_factory=dict)
    """What other reservations of the same lease hold, or have been given by this request."""
    excluded: frozenset[ResourceId] = frozenset()
    """Resources that must not be chosen, whatever is free."""
    shuffle: Shuffle | None = None
    """Choose as chance has it, not in the stated order; ``Availability.in_order`` takes it."""

    @property
    def awaited(self) -> Holdings:
        """Return what is kept although others may not have given it back yet: it has failed, say."""
        return self.held if self.is_active else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedResource:
    """A resource of a reservation, with what is known of it."""

    id: ResourceId
    share: Share | None = None
    """How much of it; None for all."""
    facts: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment(Generic[SpecT]):
    """A reservation as a plugin sees it when it works on the cloud."""

    lease_id: LeaseId
    reservation_id: ReservationId
    project_id: str
    window: Interval
    now: datetime
    spec: SpecT
    resources: tuple[AllocatedResource, ...]


class Seen(Protocol[ItemT_co]):
    """What was observed outside for a reservation, and whatever the plugin needs for its next steps."""

    @property
    def items(self) -> frozenset[ItemT_co]:
        """Return the items that exist."""

    @property
    def notes(self) -> JsonObject:
        """Return keys of the stored spec that became known outside, such as an aggregate's id."""


SeenT = TypeVar("SeenT", bound=Seen[Item])


class ResourcePlugin(Protocol[SpecT, ItemT, SeenT]):
    """One kind of reservable thing."""

    resource_type: ClassVar[str]
    collection: ClassVar[str]
    """The kind of resources that its reservations hold: ``host``, ``floatingip``, or one of its own."""
    independent_ranks: ClassVar[frozenset[int]]
    """Ranks of items that are made and removed side by side where their scopes differ: such a step changes
    neither what was seen nor anything outside that those of other scopes need."""

    # Pure.

    def parse(self, body: JsonObject) -> SpecT:
        """Return the spec that a new reservation's keys ask for. Raises BadRequest; ignores other keys."""

    def revise(self, spec: SpecT, changes: JsonObject, *, is_active: bool) -> SpecT:
        """Return the spec with the changes of an update; *is_active* as in :class:`Wish`.

        Raises:
            BadRequest: A value makes no sense.
            CannotChange: A key is fixed, or is fixed while the reservation is active.
        """

    def encode(self, spec: SpecT) -> JsonObject:
        """Return the spec as JSON for the store."""

    def decode(self, stored: JsonObject) -> SpecT:
        """Return the spec that :meth:`encode` wrote."""

    def render(self, spec: SpecT) -> JsonObject:
        """Return the keys that clients see beside the common ones of a reservation."""

    def properties_used(self, spec: SpecT) -> frozenset[str]:
        """Return the names of resource properties that the spec relies on."""

    def choose(self, wish: Wish[SpecT], availability: Availability) -> Holdings:
        """Return what the reservation is to hold from now on; what it keeps comes first.

        Raises:
            Conflict: It cannot be had; the message says what is lacking.
            BadRequest: The spec names something that no resource knows.
        """

    def wanted(self, assignment: Assignment[SpecT], phase: Phase) -> frozenset[ItemT]:
        """Return the items that should exist in this phase."""

    # Inside of a request, with the rights of the lessee who makes it.

    def look_up(self, spec: SpecT, lessee: LesseeCompute) -> SpecT:
        """Return the spec with what only the lessee can see; called for every new or changed spec.

        Raises:
            NotFound: The lessee does not see what the spec names.
            BadRequest, Conflict: What it names cannot be reserved.
        """

    def provide(
        self, spec: SpecT, reservation_id: ReservationId, lessee: LesseeCompute, *, afresh: bool
    ) -> SpecT:
        """Make what only the lessee may make, and return the spec that names it.

        Called once the resources are found.

        Args:
            spec: What is asked for. What is there already, by it, is not made again.
            reservation_id: The reservation, after which things are named.
            lessee: Whose rights are used.
            afresh: What the spec names may be gone, so that it has to be made again.
        """

    def withdraw(self, cloud: Cloud, spec: SpecT, kept: SpecT | None) -> None:
        """Undo :meth:`provide` for *spec*, except for what *kept* names, too; safe to repeat.

        Called when the request fails after all, or has replaced a spec.
        """

    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[SpecT], before: SpecT
    ) -> Mapping[ResourceId, int]:
        """Return how many slots of each resource have servers, where that matters for a change.

        Called for a reservation that is active and whose spec was *before*.
        """

    def give_up(self, cloud: Cloud, assignment: Assignment[SpecT], kept: Holdings) -> None:
        """Take from a reservation that has begun what it is to hold no more, so that others may have it.

        Called before the change is stored: when the lessee asks for less, and when a resource that has
        failed is to be replaced. If it is not stored after all, the engine gives it back.

        Args:
            cloud: The cloud.
            assignment: The reservation with what it holds.
            kept: What it is to hold from now on.

        Raises:
            CannotChange: The lessee has begun to use something of it.
        """

    # Reads the cloud, changes nothing.

    def stock(self, cloud: Cloud) -> Sequence[StockedResource] | None:
        """Return which resources there are now, for the service to keep in its books.

        Asked when a manager starts, and from time to time. None means that operators register them.

        Raises:
            CloudError: It cannot be found out; the books stay as they are.
        """

    def find_leftovers(self, cloud: Cloud) -> Mapping[str, ReservationId]:
        """Return by their marks what may belong to no living reservation: a name of each, and its owner.

        Asked by the sweep, which picks those whose owners have nothing outside.
        """

    def lost(
        self, cloud: Cloud, assignment: Assignment[SpecT], failed: Collection[ResourceId]
    ) -> frozenset[ResourceId]:
        """Return which of the failed resources of a reservation that has begun do not serve its lessee."""

    def observe(self, cloud: Cloud, assignment: Assignment[SpecT], phase: Phase) -> SeenT:
        """Return which items exist. In ``Phase.OVER`` that is all that has to be taken back."""

    # Change the cloud by one item; safe to repeat; never wait inside.

    def make(self, cloud: Cloud, assignment: Assignment[SpecT], item: ItemT, seen: SeenT) -> Outcome:
        """Bring one item about."""

    def remove(self, cloud: Cloud, assignment: Assignment[SpecT], item: ItemT, seen: SeenT) -> Outcome:
        """Do away with one item."""

    def before_end(self, cloud: Cloud, assignment: Assignment[SpecT], due: datetime) -> Outcome:
        """Take the before-end action that the spec asks for; *due* tells one occasion from another."""

    def remove_leftover(self, cloud: Cloud, name: str) -> None:
        """Do away with something that :meth:`find_leftovers` named, and that was seen twice.

        Raises:
            CloudNotFound: It is gone already.
            CloudError: It cannot be done now, or ever.
        """
