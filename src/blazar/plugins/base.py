"""What most resource plugins answer to questions that do not concern them; a plugin may inherit it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Generic

from blazar.domain.errors import CannotChange
from blazar.domain.lease import Holdings, ReservationId, ResourceId
from blazar.domain.stock import StockedResource
from blazar.plugins.contract import Assignment, Done, JsonObject, Outcome, SpecT
from blazar.ports.cloud import Cloud
from blazar.ports.compute import LesseeCompute


class Plugin(ABC, Generic[SpecT]):
    """The part of :class:`~blazar.plugins.contract.ResourcePlugin` for which there is a usual answer."""

    independent_ranks: ClassVar[frozenset[int]] = frozenset()

    @abstractmethod
    def encode(self, spec: SpecT) -> JsonObject:
        """Return the spec as JSON."""

    def render(self, spec: SpecT) -> JsonObject:
        """Return what is stored: clients see all of it."""
        return self.encode(spec)

    def properties_used(self, spec: SpecT) -> frozenset[str]:
        """Return nothing: only hosts have resource properties."""
        return frozenset()

    def look_up(self, spec: SpecT, lessee: LesseeCompute) -> SpecT:
        """Return the spec: it says all by itself."""
        return spec

    def provide(
        self, spec: SpecT, reservation_id: ReservationId, lessee: LesseeCompute, *, afresh: bool
    ) -> SpecT:
        """Return the spec: nothing of the lessee's own is needed."""
        return spec

    def withdraw(self, cloud: Cloud, spec: SpecT, kept: SpecT | None) -> None:
        """Do nothing: nothing was made."""

    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[SpecT], before: SpecT
    ) -> Mapping[ResourceId, int]:
        """Return nothing: there are no slots that could be in use."""
        return {}

    def give_up(self, cloud: Cloud, assignment: Assignment[SpecT], kept: Holdings) -> None:
        """Refuse, unless nothing is given up.

        Raises:
            CannotChange: The reservation holds something that it is to hold no more, or less of.
        """
        for each in assignment.resources:
            left = kept.get(each.id)
            is_less = each.share is not None and (left is None or left.slots < each.share.slots)
            if each.id not in kept or is_less:
                raise CannotChange(f"what the lessee has of {each.id} cannot be taken away before the end")

    def lost(
        self, cloud: Cloud, assignment: Assignment[SpecT], failed: Collection[ResourceId]
    ) -> frozenset[ResourceId]:
        """Return all that have failed: they serve nobody."""
        return frozenset(failed)

    def before_end(self, cloud: Cloud, assignment: Assignment[SpecT], due: datetime) -> Outcome:
        """Do nothing: there is no action that could be asked for."""
        return Done()

    def stock(self, cloud: Cloud) -> Sequence[StockedResource] | None:
        """Return None: operators register the resources."""
        return None

    def find_leftovers(self, cloud: Cloud) -> Mapping[str, ReservationId]:
        """Return nothing: the sweep looks by itself."""
        return {}

    def remove_leftover(self, cloud: Cloud, name: str) -> None:
        """Do nothing: nothing was found."""
