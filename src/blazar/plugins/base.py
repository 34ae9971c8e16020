"""Default implementations for methods that most resource plugins do not need; a plugin may inherit them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Generic

from blazar.domain.discovered import DiscoveredResource
from blazar.domain.errors import CannotChange
from blazar.domain.lease import Holdings, ReservationId, ResourceId
from blazar.domain.requirements import Requirement
from blazar.plugins.contract import Assignment, Done, JsonObject, Outcome, SpecT
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.ports.cloud import Cloud
from blazar.ports.compute import LesseeCompute


class Plugin(ABC, Generic[SpecT]):
    """The methods of :class:`~blazar.plugins.contract.ResourcePlugin` that have a common implementation."""

    independent_ranks: ClassVar[frozenset[int]] = frozenset()

    @abstractmethod
    def encode(self, spec: SpecT) -> JsonObject:
        """Return the spec as JSON."""

    def least_spec(self) -> SpecT | None:
        """Return None: the items of a reservation cannot be found without its spec."""
        return None

    def render(self, spec: SpecT) -> JsonObject:
        """Return the stored spec: clients see all of it."""
        return self.encode(spec)

    def properties_used(self, spec: SpecT) -> frozenset[str]:
        """Return no names: only hosts have resource properties."""
        return frozenset()

    def requirement(self, spec: SpecT) -> Requirement:
        """Return the empty requirement: no part of a host is reserved."""
        return Requirement()

    def look_up(self, spec: SpecT, lessee: LesseeCompute) -> SpecT:
        """Return the spec unchanged: it is complete."""
        return spec

    def provide(
        self, spec: SpecT, reservation_id: ReservationId, lessee: LesseeCompute, *, afresh: bool
    ) -> SpecT:
        """Return the spec unchanged: nothing is made with the lessee's rights."""
        return spec

    def withdraw(self, cloud: Cloud, spec: SpecT, kept: SpecT | None) -> None:
        """Do nothing: nothing was made."""

    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[SpecT], before: SpecT
    ) -> Mapping[ResourceId, int]:
        """Return an empty mapping: there are no slots that could be in use."""
        return {}

    def release(self, cloud: Cloud, assignment: Assignment[SpecT], kept: Holdings) -> None:
        """Do nothing if all resources are kept in full; refuse otherwise.

        Raises:
            CannotChange: A resource would be taken away, in whole or in part.
        """
        for each in assignment.resources:
            left = kept.get(each.id)
            is_less = each.share is not None and (left is None or left.slots < each.share.slots)
            if each.id not in kept or is_less:
                raise CannotChange(f"the share of {each.id} cannot be taken away before the lease ends")

    def lost(
        self, cloud: Cloud, assignment: Assignment[SpecT], failed: Collection[ResourceId]
    ) -> frozenset[ResourceId]:
        """Return all failed resources: none of them serves the lessee."""
        return frozenset(failed)

    def before_end(self, cloud: Cloud, assignment: Assignment[SpecT], due: datetime) -> Outcome:
        """Do nothing: the spec has no before-end action."""
        return Done()

    def discover(self, cloud: Cloud) -> Sequence[DiscoveredResource] | None:
        """Return None: operators register the resources."""
        return None

    def leftover_kinds(self, sweep: Sweep) -> Sequence[LeftoverKind]:
        """Return an empty sequence: no leftovers need a search by the plugin."""
        return ()
