"""The recorded facts from which usage is computed.

They are instants and windows, never sums, so that every question about a period has an exact answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from blazar.domain.capacity import Share
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ReservationStatus, ResourceId
from blazar.domain.requirements import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """A resource, or a share of it, that a reservation held or is to hold for a period."""

    project_id: str | None
    user_id: str | None
    reservation_id: ReservationId
    resource_type: str
    resource_id: ResourceId
    window: Interval
    share: Share | None = None
    """None: the whole resource."""

    @property
    def units(self) -> int:
        """Return the number of units: slots, or 1 for the whole resource."""
        return 1 if self.share is None else self.share.slots


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationState:
    """The state of a reservation from an instant on; before the first one it is pending."""

    since: datetime
    status: ReservationStatus
    is_missing: bool
    """Whether it holds failed resources without a replacement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedUnits:
    """Units of a resource that were seen in use by a reservation, in a period."""

    window: Interval
    units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceFacts:
    """The name, the facts and the capacity of a resource, valid up to an instant; None for the present."""

    until: datetime | None
    name: str
    values: Mapping[str, Fact] = field(default_factory=dict)
    amounts: Mapping[str, int] = field(default_factory=dict)
    """The capacity by resource class, before overcommit."""


NO_FACTS = ResourceFacts(until=None, name="")


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRecords:
    """All that is recorded about the holdings of a period."""

    holdings: Sequence[Holding]
    states: Mapping[ReservationId, Sequence[ReservationState]] = field(default_factory=dict)
    """In the order of time."""
    failures: Mapping[ResourceId, Sequence[Interval]] = field(default_factory=dict)
    """The periods in which a resource had failed."""
    used: Mapping[tuple[ReservationId, ResourceId], Sequence[UsedUnits]] = field(default_factory=dict)
    arrived: frozenset[ReservationId] = frozenset()
    """The reservations that were seen in use at any time, also outside the period."""
    observed: Mapping[str, Sequence[Interval]] = field(default_factory=dict)
    """The periods in which the use of a resource type was observed."""
    facts: Mapping[ResourceId, Sequence[ResourceFacts]] = field(default_factory=dict)
    """Past facts in the order of time, then the present ones; a deleted resource has only past ones."""
    complete_since: datetime | None = None
    """The instant before which leases were not recorded after their end; None if all are."""
