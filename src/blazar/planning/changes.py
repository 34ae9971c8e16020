"""Changes of a copy of the data: added hosts, closed hosts, moved reservations, new bookings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from blazar.booking.clearing import Clearing
from blazar.booking.context import Context
from blazar.domain.availability import Availability, Resource
from blazar.domain.bookings import Booking
from blazar.domain.errors import InvalidParameter, InvalidRequirement
from blazar.domain.expressions import parse
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Holdings, ReservationId, ResourceId
from blazar.domain.requirements import Fact, unknown_keys
from blazar.planning.copy import HOSTS

CLOSED: Final = ReservationId("closed")
"""The owner of the bookings of closed hosts."""
_NAME: Final = "hypervisor_hostname"


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """New hosts like a registered one."""

    number: int
    like: str
    """The name or the id of the host."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Extra capabilities that differ from those of the host."""


def add_hosts(copy: Context, addition: Addition) -> tuple[str, ...]:
    """Add hosts to a copy, and return their names.

    Raises:
        InvalidParameter: No host with this name is registered.
    """
    with copy.indexes[HOSTS].searching() as view:
        pattern = _find(view, addition.like)
        name = str(pattern.facts[_NAME])
        for number in range(1, addition.number + 1):
            own: dict[str, Fact] = {
                "id": f"{name}-new-{number}",
                _NAME: f"{name}-new-{number}",
                "service_name": f"{name}-new-{number}",
                "reservable": True,
            }
            facts: Mapping[str, Fact] = {**pattern.facts, **addition.properties, **own}
            new = replace(
                pattern,
                id=ResourceId(f"{name}-new-{number}"),
                generation=0,
                is_reservable=True,
                facts=facts,
                properties={**pattern.properties, **addition.properties},
            )
            view.put(new, ())
    return tuple(f"{name}-new-{number}" for number in range(1, addition.number + 1))


def closed_hosts(copy: Context, conditions: Sequence[str]) -> frozenset[ResourceId]:
    """Return the hosts that satisfy any of these conditions, such as ``rack=r3``.

    Raises:
        InvalidRequirement: A condition is malformed, or no host has a property that it names.
        InvalidParameter: No host satisfies a condition.
    """
    found: set[ResourceId] = set()
    with copy.indexes[HOSTS].searching() as view:
        for text in conditions:
            requirement = parse(text, field="--close")
            unknown = unknown_keys(requirement, view.known_facts())
            if unknown or not requirement.conditions:
                names = ", ".join(unknown) or "the empty text"
                raise InvalidRequirement("--close", f"no host has a property named {names}")
            positions = np.flatnonzero(view.matching(requirement)).tolist()
            if not positions:
                raise InvalidParameter("--close", f"no host satisfies {text}")
            found |= {view.resource_at(each).id for each in positions}
    return frozenset(found)


def apply_clearing(
    copy: Context, clearing: Clearing, closed: Collection[ResourceId], window: Interval
) -> None:
    """Move reservations in a copy according to a plan, and book the closed hosts."""
    with copy.indexes[HOSTS].searching() as view:
        for move in clearing.moves:
            for key in move.removed:
                _put(view, key, move.reservation.id, ())
            for key, allocation in move.added.items():
                _put(view, key, move.reservation.id, (_booking(allocation),))
        for key in sorted(closed):
            released = Booking(resource_id=key, reservation_id=CLOSED, window=window, released_at=window.end)
            _put(view, key, CLOSED, (released,))


def book(
    copy: Context, collection: str, reservation_id: ReservationId, window: Interval, held: Holdings
) -> None:
    """Book resources in a copy."""
    with copy.indexes[collection].searching() as view:
        for key, share in held.items():
            one = Booking(resource_id=key, reservation_id=reservation_id, window=window, share=share)
            _put(view, key, reservation_id, (one,))


def host_names(copy: Context) -> Mapping[ResourceId, str]:
    """Return the names of all hosts of a copy."""
    with copy.indexes[HOSTS].searching() as view:
        return {key: str(_known(view, key).facts[_NAME]) for key in view.generations()}


def _find(view: Availability, name: str) -> Resource:
    for key in view.generations():
        resource = _known(view, key)
        if name in (key, resource.facts.get(_NAME)):
            return resource
    raise InvalidParameter("--like", f"no host named {name[:64]} is registered")


def _known(view: Availability, key: ResourceId) -> Resource:
    resource = view.get(key)
    assert resource is not None
    return resource


def _put(view: Availability, key: ResourceId, owner: ReservationId, bookings: Sequence[Booking]) -> None:
    resource = view.get(key)
    if resource is not None:
        view.put_bookings_of(key, resource.generation, {owner: bookings})


def _booking(allocation: Allocation) -> Booking:
    return Booking(
        resource_id=allocation.resource_id,
        reservation_id=allocation.reservation_id,
        window=allocation.window,
        share=allocation.share,
    )
