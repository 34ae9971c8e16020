"""Records of past periods, written in the transactions that end them; :mod:`blazar.db.usage` reads them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.tables import (
    allocations,
    failed_periods,
    held_periods,
    leases,
    past_facts,
    reservation_states,
    reservations,
)
from blazar.domain.availability import Resource
from blazar.domain.lease import Lease, Reservation, ReservationId, ReservationStatus, ResourceId
from blazar.domain.requirements import Fact

_LONGEST_FACT: Final = 255
"""The most characters of a recorded fact; longer ones describe a processor, not a place."""
_INSERT_STATES: Final = sa.insert(reservation_states)
# Built once: building a statement takes longer than executing it.
_HELD: Final = (
    sa.select(
        *(leases.c.project_id, leases.c.user_id, reservations.c.lease_id, reservations.c.resource_type),
        *(allocations.c[name] for name in ("reservation_id", "resource_id", "start_at", "end_at")),
        *(allocations.c.slots, allocations.c.demand),
    )
    .select_from(leases.join(reservations).join(allocations))
    .where(
        allocations.c.reservation_id == sa.bindparam("of_reservation"),
        allocations.c.released_at.is_(None),
        allocations.c.start_at < sa.bindparam("before", type_=allocations.c.start_at.type),
    )
    .order_by(allocations.c.id)
)
_HELD_OF_RESOURCES: Final = _HELD.where(
    allocations.c.resource_id.in_(sa.bindparam("of_resources", expanding=True))
)


def record_held(
    connection: Connection,
    reservation_id: ReservationId,
    resource_ids: Collection[ResourceId] | None,
    now: datetime,
) -> None:
    """Record what allocations have held up to now, before they are released or removed.

    Args:
        connection: The connection of the transaction.
        reservation_id: The reservation.
        resource_ids: Its resources; None for all.
        now: The present. Allocations that begin later are not recorded.
    """
    values: dict[str, object] = {"of_reservation": reservation_id, "before": now}
    query = _HELD
    if resource_ids is not None:
        query, values = _HELD_OF_RESOURCES, {**values, "of_resources": list(resource_ids)}
    rows = [
        {**row, "end_at": min(row["end_at"], now)} for row in connection.execute(query, values).mappings()
    ]
    if rows:
        connection.execute(sa.insert(held_periods), rows)


def changed_states(before: Lease, after: Lease, at: datetime) -> Iterator[Mapping[str, object]]:
    """Yield the rows of reservations whose states changed at an instant."""
    known = {each.id: _state(each) for each in before.reservations}
    for each in after.reservations:
        if known.get(each.id, _INITIAL) != _state(each):
            yield _state_row(each, at)


def initial_states(lease: Lease) -> Iterator[Mapping[str, object]]:
    """Yield the rows of a new lease's reservations that are not pending, such as imported ones."""
    for each in lease.reservations:
        if _state(each) != _INITIAL:
            yield _state_row(each, lease.start)


def record_states(connection: Connection, rows: Iterator[Mapping[str, object]]) -> None:
    """Record the states of reservations."""
    connection.later(_INSERT_STATES, list(rows))


def record_failure(
    connection: Connection, resource_id: ResourceId, at: datetime, *, has_failed: bool
) -> None:
    """Record that a resource has failed, or has recovered."""
    if has_failed:
        connection.execute(sa.insert(failed_periods), [{"resource_id": resource_id, "start_at": at}])
        return
    is_open = failed_periods.c.resource_id == resource_id, failed_periods.c.end_at.is_(None)
    connection.execute(sa.update(failed_periods).where(*is_open).values(end_at=at))


def record_facts(connection: Connection, name: str, resource: Resource, until: datetime) -> None:
    """Record the facts of a resource before they change or are deleted at an instant."""
    row = {
        "resource_id": resource.id,
        "until_at": until,
        "name": name,
        "facts": json.dumps(dict(recorded_facts(resource))),
        "amounts": json.dumps(dict(recorded_amounts(resource))),
    }
    connection.execute(sa.insert(past_facts), [row])


def recorded_facts(resource: Resource) -> Mapping[str, Fact]:
    """Return the facts by which usage can be grouped."""
    return {
        name: value
        for name, value in resource.facts.items()
        if not isinstance(value, str) or len(value) <= _LONGEST_FACT
    }


def recorded_amounts(resource: Resource) -> Mapping[str, int]:
    """Return the capacity of a resource by class, before overcommit; of all its providers together."""
    found: dict[str, int] = {}
    for provider in resource.providers:
        for name, inventory in provider.inventories.items():
            found[name] = found.get(name, 0) + inventory.total - inventory.reserved
    return found


_State = tuple[ReservationStatus, bool]
_INITIAL: Final[_State] = (ReservationStatus.PENDING, False)


def _state(reservation: Reservation) -> _State:
    return reservation.status, reservation.missing_resources


def _state_row(reservation: Reservation, since: datetime) -> dict[str, Any]:
    return {
        "reservation_id": reservation.id,
        "since_at": since,
        "status": reservation.status.value,
        "missing_resources": reservation.missing_resources,
    }
