"""Capabilities for requests: their conditions, amounts, other services, and changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import ClassVar, Generic

from blazar.domain.lease import Holdings, ReservationId, ResourceId
from blazar.domain.need import Need
from blazar.domain.requirements import Fact, Requirement
from blazar.plugins.contract import AllocatedResource, Assignment, JsonObject, SpecT
from blazar.plugins.end_texts import EndText
from blazar.ports.cloud import Cloud
from blazar.ports.compute import LesseeCompute


class RequiresProperties(ABC, Generic[SpecT]):
    """A spec names properties that its resources must have.

    The core checks that the caller may see these properties and that there are not too many conditions, and
    keeps a property of a host while a reservation relies on it. Without the capability, specs name no
    properties.
    """

    @abstractmethod
    def requirement(self, spec: SpecT) -> Requirement:
        """Return the spec's requirement, which names every property that the spec uses. Pure."""

    @abstractmethod
    def change_requirement(self, requirement: Requirement) -> JsonObject:
        """Return the keys of a request with which a reservation has this requirement. Pure.

        Called for alternatives to a request that was refused.
        """


class StatesNeed(ABC, Generic[SpecT]):
    """The need of a spec can be stated in numbers, so that a search examines all starts at once.

    Without it, a search for free times tries the ends of all bookings of the collection, one by one.
    """

    @abstractmethod
    def need(self, spec: SpecT) -> Need:
        """Return the need of a new reservation. Pure.

        ``choose`` must refuse a new reservation if fewer units than ``least`` are free. It may refuse for
        other reasons, too.
        """

    @abstractmethod
    def change_need(self, units: int) -> JsonObject:
        """Return the keys of a request with which a reservation needs only *units*. Pure.

        Called for alternatives to a request that was refused, with fewer units than it needed.
        """


class SuggestsOtherTypes(ABC, Generic[SpecT]):
    """Reservations of other types may serve a lessee whose request was refused.

    Without it, alternatives to a refusal are of the same type.
    """

    @abstractmethod
    def other_types(
        self, spec: SpecT, facts: Sequence[Mapping[str, Fact]]
    ) -> Iterator[tuple[str, JsonObject]]:
        """Yield reservations as in a request, the most similar first, each after a summary of it. Pure.

        The first one that would be granted is offered; types that are not enabled are skipped.

        Args:
            spec: The spec of the refused reservation.
            facts: The facts of resources that satisfy its requirement.
        """


class HasCatalogueEntry:
    """The catalogue describes the type to lessees. Without it, it has only its name and amounts.

    Lessees may also see free amounts and the calendar grouped by ``public_facts`` and by the properties that
    operators have set. Every lessee sees the values, so a fact that names a single resource, or discloses
    anything about other lessees, must not be public.
    """

    request_keys: ClassVar[tuple[str, ...]]
    """The keys of a reservation of this type in a request, without ``resource_type``."""
    public_facts: ClassVar[frozenset[str]]
    """Names of facts of the resources, as in :class:`~blazar.domain.availability.Resource`."""
    unit_keys: ClassVar[tuple[str, ...]] = ()
    """The keys of a reservation that say how large a unit is; none if its units are whole resources.

    If there are some, the plugin also implements :class:`StatesNeed`, and accepts null for its other keys.
    """
    eligibility: ClassVar[Requirement] = Requirement()
    """What a resource of the collection must satisfy to be one of this type, whatever a request requires.

    Only such resources are listed and counted; the plugin also chooses no others.
    """


class DescribesUse(ABC, Generic[SpecT]):
    """Lessees learn how to use an active reservation. Without it, they learn only what it holds."""

    @abstractmethod
    def describe_use(self, spec: SpecT, reservation_id: ReservationId) -> JsonObject:
        """Return what a lessee names in requests to other services to use the resources. Pure."""


class DescribesEnd(ABC, Generic[SpecT]):
    """Lessees read what happens to their work at the end. Without it, they read that all is released."""

    end_texts: Sequence[EndText]
    """All sentences that can apply to reservations on this site, for the catalogue."""

    @abstractmethod
    def describe_end(self, spec: SpecT) -> Sequence[EndText]:
        """Return the sentences that apply to a reservation. Pure.

        They may differ from ``end_texts``, for example if the operator has changed an option since.
        """


class ExplainsProblems:
    """Lessees read why a reservation fails or waits. Without it, they read only the core's explanations."""

    problem_texts: ClassVar[Mapping[str, str]]
    """Texts for lessees by regular expression. The first one that is found in a recorded problem counts.

    A problem is for operators: it can name servers, reservations and projects of others. A text can repeat a
    group of its expression, such as ``\\1``, if that cannot contain such a name.
    """


class ReadsAsLessee(ABC, Generic[SpecT]):
    """A spec needs data that only the lessee can read. Without it, a parsed spec is complete."""

    @abstractmethod
    def look_up(self, spec: SpecT, lessee: LesseeCompute) -> SpecT:
        """Return the spec with this data; called for every new or changed spec, while its request is served.

        Raises:
            NotFound: The lessee cannot see an object that the spec names.
            BadRequest, Conflict: Such an object cannot be reserved.
        """


class ListsChoices(ABC):
    """The catalogue lists the objects that a lessee can name in a request. Without it, it lists none."""

    @abstractmethod
    def list_choices(self, lessee: LesseeCompute) -> Mapping[str, Sequence[JsonObject]]:
        """Return objects by the key of a request that names one; each has ``id`` and ``name``, and more.

        Raises:
            CloudError: The cloud does not return them now.
        """


class CreatesAsLessee(ABC, Generic[SpecT]):
    """A reservation needs objects that only the lessee may create. Without it, requests create nothing."""

    @abstractmethod
    def provide(
        self, spec: SpecT, reservation_id: ReservationId, lessee: LesseeCompute, *, afresh: bool
    ) -> SpecT:
        """Create these objects and return the spec with their ids.

        Called while a request is served, after the resources were chosen.

        Args:
            spec: The requested spec. Objects that it already names are not created again.
            reservation_id: The reservation; it is part of their names.
            lessee: Nova, called with the lessee's token.
            afresh: True if the objects that the spec names may be gone and must be created again.
        """

    @abstractmethod
    def withdraw(self, cloud: Cloud, spec: SpecT, kept: SpecT | None) -> None:
        """Undo :meth:`provide` for *spec*, except for objects that *kept* also names; safe to repeat.

        Called when the request fails later, or after it replaced a spec.
        """


class ReleasesWhileActive(ABC, Generic[SpecT]):
    """Unused resources can be taken away from a reservation that has begun.

    Without it, an active reservation keeps all resources until it ends: requests that reduce it are refused,
    and its failed resources are not replaced.
    """

    @abstractmethod
    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[SpecT], before: SpecT
    ) -> Mapping[ResourceId, int]:
        """Return how much of each resource the lessee uses now, if that matters for the change.

        Called for an active reservation whose spec was *before*.

        Returns:
            For a resource with shares, the number of slots that have servers; for a whole resource, any
            number above zero. Resources that are not in use may be omitted.
        """

    @abstractmethod
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


class ReleasesChosenResources(ABC, Generic[SpecT]):
    """A lessee can release certain resources of a reservation. Without it, such requests are refused.

    If the reservation has begun, :class:`ReleasesWhileActive` is needed, too.
    """

    @abstractmethod
    def reduce(self, spec: SpecT, released: Sequence[AllocatedResource], left: int) -> SpecT:
        """Return the spec of a reservation that keeps only its other resources. Pure.

        Args:
            spec: The present spec.
            released: The resources that are released.
            left: The number of units that remain, at least 1; ``choose`` must not add more.
        """


class HoldsAfterEnd(ABC, Generic[SpecT]):
    """Resources stay booked for some time after the end of a lease.

    Without it, they are booked up to the end, and a resource that is released late may have been promised to
    the next lease, which then waits or gets another one.
    """

    @abstractmethod
    def hold_after_end(self, spec: SpecT) -> timedelta:
        """Return how long the resources stay booked after the end; zero for not at all. Pure.

        A resource that is observed free earlier is released. A change of the spec may change the time.
        """
