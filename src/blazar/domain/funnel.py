"""Why a need cannot be met: how many resources, and then units, are left after each condition.

The conditions are applied in a fixed order, each to what the earlier ones have left. The request is refused
by the first one that leaves less than is needed.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from blazar.domain.availability import Availability
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId
from blazar.domain.need import Need
from blazar.domain.requirements import Requirement
from blazar.domain.short_expressions import render_short


class Stage(enum.Enum):
    """A condition of a funnel, in the order of application."""

    REGISTERED = "registered"
    """The resource is registered for reservations."""
    HEALTHY = "healthy"
    """It has not failed, and its operator has not taken it out of service."""
    REQUIREMENT = "requirement"
    """It satisfies one term of the requirement."""
    FREE = "free"
    """It is free throughout the period. From here on, units are counted: whole resources, or slots."""
    CLEANED = "cleaned"
    """It is also free for the cleaning time before and after other reservations."""
    SAME = "same"
    """Enough resources have the same value of a property."""
    SPREAD = "spread"
    """The units can be spread over the values of a property."""
    PLACED = "placed"
    """The units can be placed as requested, for example all on one resource."""
    KEPT = "kept"
    """The resources that an active reservation must keep remain free for it."""
    TOGETHER = "together"
    """Enough remains beside the other reservations of the same request."""
    RULE = "rule"
    """Usage rules permit enough of the units that are free."""
    QUOTA = "quota"
    """The project's limits allow it."""


_OF_UNITS = frozenset({Stage.FREE, Stage.CLEANED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One condition, and what is left after it."""

    stage: Stage
    left: int | None
    """The number of resources, or of units from ``Stage.FREE`` on; None if the stage has no number."""
    condition: str | None = None
    """The condition of a request: a term of the requirement, or the property of a grouping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """The conditions of one reservation."""

    needed: int
    """The number of units without which the reservation is refused."""
    steps: tuple[Step, ...]
    binding: int | None = None
    """The index of the step that refuses the reservation; None if it can be granted."""

    def refused_at(self, stage: Stage, left: int | None = None, condition: str | None = None) -> Funnel:
        """Return the funnel with one more step, which refuses; one that refuses already stays as it is."""
        if self.binding is not None:
            return self
        steps = (*self.steps, Step(stage=stage, left=left, condition=condition))
        return replace(self, steps=steps, binding=len(steps) - 1)

    @property
    def units_left(self) -> int:
        """Return the number of units that are free for the reservation, as it is requested."""
        return next(each.left or 0 for each in reversed(self.steps) if each.stage in _OF_UNITS)


def count_steps(
    availability: Availability,
    need: Need,
    window: Interval,
    *,
    now: datetime,
    cleaning_time: timedelta,
    ignoring: Collection[ReservationId] = (),
) -> Funnel:
    """Return the funnel of a need in a window.

    Other reservations of the same request and limits of the project are not considered, nor is the placement
    of slots: see :meth:`Funnel.refused_at`.

    Args:
        availability: All resources of the collection.
        need: The need of a new reservation.
        window: The requested window.
        now: The present.
        cleaning_time: Idle time required before and after another booking.
        ignoring: Reservations whose bookings do not count: those of the lease that is to be changed.
    """
    steps = (
        *_resource_steps(availability, need.requirement),
        *_unit_steps(availability, need, window, now, cleaning_time, ignoring),
    )
    binding = (
        number
        for number, each in enumerate(steps)
        if each.left is not None and each.left < _least(need, each.stage)
    )
    return Funnel(needed=need.least, steps=steps, binding=next(binding, None))


def _least(need: Need, stage: Stage) -> int:
    """Return how many resources or units a stage has to leave."""
    one_may_do = need.demand is not None and not need.is_apart
    return min(1, need.least) if one_may_do and stage not in _OF_UNITS else need.least


def _resource_steps(availability: Availability, requirement: Requirement) -> Iterator[Step]:
    registered = availability.matching(Requirement())
    yield Step(stage=Stage.REGISTERED, left=int(np.count_nonzero(registered)))
    left = availability.reservable() & registered
    yield Step(stage=Stage.HEALTHY, left=int(np.count_nonzero(left)))
    for term in requirement.conditions:
        left &= availability.matching(Requirement((term,)))
        yield Step(stage=Stage.REQUIREMENT, left=int(np.count_nonzero(left)), condition=render_short(term))


def _unit_steps(
    availability: Availability,
    need: Need,
    window: Interval,
    now: datetime,
    cleaning_time: timedelta,
    ignoring: Collection[ReservationId],
) -> Iterator[Step]:
    left = count_units(availability, need, window, now, timedelta(0), ignoring)
    yield Step(stage=Stage.FREE, left=left)
    if cleaning_time:
        left = count_units(availability, need, window, now, cleaning_time, ignoring)
        yield Step(stage=Stage.CLEANED, left=left)


def count_units(
    availability: Availability,
    need: Need,
    window: Interval,
    now: datetime,
    cleaning_time: timedelta,
    ignoring: Collection[ReservationId] = (),
) -> int:
    """Return how many units of a need are free throughout a window."""
    wanted = availability.matching(need.requirement) & availability.reservable()
    if need.demand is None:
        free = availability.free(
            window, now=now, cleaning_time=cleaning_time, ignoring=ignoring, among=wanted
        )
        return int(np.count_nonzero(free))
    headroom = availability.headroom(
        need.demand, window, now=now, cleaning_time=cleaning_time, ignoring=ignoring, among=wanted
    )
    slots = headroom.slots(np.flatnonzero(wanted))
    if need.is_together:
        return int(slots.max(initial=0))
    if need.is_apart:
        return int(np.count_nonzero(slots))
    return int(np.minimum(slots, need.most).sum())
