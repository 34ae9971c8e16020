"""Capabilities for reconcile passes: the order of steps, clean-up, the before-end action, failures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Generic

from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Assignment, Outcome, SeenT, SpecT
from blazar.ports.cloud import Cloud


class HasIndependentSteps:
    """Some items may be made and removed concurrently. Without it, steps are taken one after another."""

    independent_ranks: ClassVar[frozenset[int]]
    """Ranks of items whose steps are independent if their scopes differ. Such a step changes nothing in the
    cloud that steps of other scopes need, nor in the observation, except for answers that it records."""


class ObservesAnswers(ABC, Generic[SpecT, SeenT]):
    """The cloud's answers to steps show their results. Without it, a pass observes again after its steps."""

    @abstractmethod
    def observe_answers(
        self, cloud: Cloud, assignment: Assignment[SpecT], phase: Phase, seen: SeenT
    ) -> SeenT | None:
        """Return what ``observe`` would return now; makes no call.

        Args:
            cloud: As for ``observe``.
            assignment: As for ``observe``.
            phase: As for ``observe``.
            seen: The observation before the steps, in which they recorded the answers. Answers to independent
                steps arrive in any order: each replaces an object as a whole, because objects that are
                composed of several answers may never have existed.

        Returns:
            The observation, or None if the answers do not show that the items are as wanted. The pass then
            observes again.
        """


class CleansUp:
    """Some items are never wanted; ``observe`` returns them so that they are removed.

    Each is a step that undoes no step of making, such as the deletion of the lessee's servers. If ``wanted``
    returns such an item, the reconcile pass fails as a fault of the plugin. Without the capability, every
    observed item can be wanted.
    """

    clean_up_ranks: ClassVar[frozenset[int]]
    """Ranks of these items; their place in the order of removal."""


class ActsBeforeEnd(ABC, Generic[SpecT]):
    """Leases have a before-end action. Without it, only the before-end notification is sent."""

    @abstractmethod
    def before_end(self, cloud: Cloud, assignment: Assignment[SpecT], due: datetime) -> Outcome:
        """Take the action that the spec requests; safe to repeat. *due* distinguishes occasions.

        Called shortly before the end of an active reservation, and again until it is done.
        """


class ServesDespiteFailure(ABC, Generic[SpecT]):
    """A failed resource may still serve its lessee. Without it, all failed resources are to be replaced."""

    @abstractmethod
    def lost(
        self, cloud: Cloud, assignment: Assignment[SpecT], failed: Collection[ResourceId]
    ) -> frozenset[ResourceId]:
        """Return those failed resources that do not serve the lessee; changes nothing.

        Called before failed resources of a reservation that has begun are replaced.
        """


class ObservesUse(ABC, Generic[SpecT]):
    """The lessees' use of resources can be observed. Without it, usage reports do not include their use."""

    @abstractmethod
    def observe_use(
        self, cloud: Cloud, assignments: Sequence[Assignment[SpecT]]
    ) -> Mapping[ReservationId, Mapping[ResourceId, int]]:
        """Return how many units of each resource are in use; changes nothing.

        Called at an interval for all active reservations of the type together, so that the number of requests
        to the cloud need not grow with the number of reservations.

        Returns:
            For a resource with shares, the number of slots that are in use; for a whole resource, any number
            above zero. Reservations and resources that are not in use may be omitted.
        """


class ToleratesDamagedSpec(ABC, Generic[SpecT]):
    """The items of a reservation can be found without its spec.

    Without it, a reservation whose stored spec is damaged waits until the spec is repaired.
    """

    @abstractmethod
    def least_spec(self) -> SpecT:
        """Return a spec in place of a damaged one, sufficient to find and remove the reservation's items."""
