"""Leases, their reservations and events, and the allocations that reservations hold."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NewType

from blazar.domain.capacity import Share
from blazar.domain.grouping import Grouping
from blazar.domain.interval import Interval

LeaseId = NewType("LeaseId", str)
ReservationId = NewType("ReservationId", str)
ResourceId = NewType("ResourceId", str)
"""The id of a resource; unique across all kinds of resources."""
Holdings = Mapping[ResourceId, Share | None]
"""The resources that a reservation holds: a share of each, or None for the whole resource."""


def is_canonical_id(text: str) -> bool:
    """Return whether a string is a UUID in the form of this service's ids: lower case, with hyphens."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


BEFORE_END_PROBLEM: Final = "before-end action: "
"""Prefix of the problem of a reservation whose before-end action failed or waits."""
DAMAGED: Final = "its stored"
"""The start of the problem text of a reservation whose row cannot be read."""


class LeaseStatus(StrEnum):
    """The status of a lease, as clients see it."""

    CREATING = "CREATING"
    PENDING = "PENDING"
    STARTING = "STARTING"
    ACTIVE = "ACTIVE"
    UPDATING = "UPDATING"
    TERMINATING = "TERMINATING"
    TERMINATED = "TERMINATED"
    DELETING = "DELETING"
    ERROR = "ERROR"

    @property
    def is_stable(self) -> bool:
        """Return whether no operation on the lease is in progress."""
        return self in _STABLE


_STABLE = frozenset({LeaseStatus.PENDING, LeaseStatus.ACTIVE, LeaseStatus.TERMINATED, LeaseStatus.ERROR})


class ReservationStatus(StrEnum):
    """The status of a reservation, as clients see it."""

    PENDING = "pending"
    ACTIVE = "active"
    DELETED = "deleted"
    ERROR = "error"


class EventType(StrEnum):
    """The points in a lease's life that clients see as events."""

    START = "start_lease"
    BEFORE_END = "before_end_lease"
    END = "end_lease"


class EventStatus(StrEnum):
    """The progress of an event."""

    UNDONE = "UNDONE"
    IN_PROGRESS = "IN_PROGRESS"
    DONE = "DONE"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A point in a lease's life that is due at *time*."""

    id: str
    event_type: EventType
    time: datetime
    status: EventStatus = EventStatus.UNDONE
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StoredSpec:
    """A spec in its stored form: the plugin of its resource type is not enabled, or cannot read it."""

    content: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A part of a lease: resources of one type.

    ``spec`` is a value that only the plugin of ``resource_type`` interprets, or a :class:`StoredSpec`.
    """

    id: ReservationId
    lease_id: LeaseId
    resource_type: str
    spec: object
    status: ReservationStatus = ReservationStatus.PENDING
    is_deployed: bool = False
    """True if it may have resources in the cloud; set before the first one is created."""
    problem: str | None = None
    """The reason for its error, or what its next step waits for."""
    missing_resources: bool = False
    """True if it holds failed resources without a replacement."""
    lost_resources: frozenset[ResourceId] = frozenset()
    """Resources that failed while the lessee used them and that were replaced."""
    grouping: Grouping | None = None
    """How its resources are distributed over the values of their properties; None for any way."""
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def resources_changed(self) -> bool:
        """Return whether resources of the reservation failed and were replaced."""
        return bool(self.lost_resources)

    @property
    def is_damaged(self) -> bool:
        """Return whether its stored row cannot be read."""
        return self.problem is not None and self.problem.startswith(DAMAGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """A resource, or a share of it, held by one reservation.

    An allocation outlives its window until its resource is observed free, at ``released_at``.
    """

    resource_id: ResourceId
    reservation_id: ReservationId
    window: Interval
    share: Share | None = None
    """None: the whole resource."""
    released_at: datetime | None = None

    @property
    def pair(self) -> tuple[ResourceId, ReservationId]:
        """Return the resource and the reservation that holds it."""
        return self.resource_id, self.reservation_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The project and the user that a lease belongs to; they never change."""

    project_id: str | None
    user_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A lessee's request and its progress.

    ``end`` equals ``start`` only for a lease that was ended in the minute in which it began.
    ``revision`` grows with every write; a writer names the revision that it read.
    """

    id: LeaseId
    name: str
    user_id: str | None
    project_id: str | None
    start: datetime
    end: datetime
    status: LeaseStatus
    is_deleting: bool = False
    revision: int = 0
    reservations: tuple[Reservation, ...] = ()
    events: tuple[Event, ...] = ()
    created_at: datetime | None = None
    updated_at: datetime | None = None
    damage: str | None = None
    """Which part of the lease's row or of its events cannot be read; not stored."""

    @property
    def owner(self) -> Owner:
        """Return the project and the user that the lease belongs to."""
        return Owner(project_id=self.project_id, user_id=self.user_id)

    @property
    def is_degraded(self) -> bool:
        """Return whether a reservation lost resources, replaced or not, or a row is damaged."""
        return self.damage is not None or any(
            each.missing_resources or each.resources_changed or each.is_damaged for each in self.reservations
        )

    def find_event(self, event_type: EventType) -> Event | None:
        """Return the event of this type; only ``before_end_lease`` may be absent."""
        return next((event for event in self.events if event.event_type is event_type), None)

    def get_event_status(self, event_type: EventType) -> EventStatus:
        """Return the status of the event of this type; an absent event is done."""
        event = self.find_event(event_type)
        return event.status if event else EventStatus.DONE
