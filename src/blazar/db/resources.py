"""Data common to resources of every type: their state, and the leases that depend on them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.changes import note_changes
from blazar.db.collections import ALL_TABLES, OWN_TABLES
from blazar.db.connection import Connection
from blazar.db.health import diagnosis_columns, read_diagnosis
from blazar.db.numbers import first_number
from blazar.db.pools import free_of, pools_at
from blazar.db.tables import allocations, reservations, resources, stock
from blazar.db.usage_records import record_failure
from blazar.domain.health import Diagnosis, Health, ResourceState
from blazar.domain.lease import LeaseId, ReservationStatus, ResourceId
from blazar.domain.requirements import Fact

_IS_LIVING = reservations.c.status.in_([ReservationStatus.PENDING.value, ReservationStatus.ACTIVE.value])
"""Only reservations with these statuses have flags; the index starts with the status."""


def _states() -> sa.Select[Any]:
    columns = [column for each in OWN_TABLES.values() for column in each.facts]
    query = sa.select(resources, stock.c.facts, *columns)
    for table in ALL_TABLES:
        query = query.outerjoin(table, table.c.id == resources.c.id)
    return query.where(resources.c.id.in_(sa.bindparam("resource_ids", expanding=True)))


_STATES: Final = _states()


class SqlResources:
    """Implements :class:`blazar.ports.store.ResourceStore`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get_states(self, resource_ids: Collection[ResourceId]) -> Mapping[ResourceId, ResourceState]:
        """Return the states of these resources, in one statement."""
        if not resource_ids:
            return {}
        found = self._connection.execute(_STATES, {"resource_ids": list(resource_ids)})
        return {
            ResourceId(row.id): ResourceState(
                facts=_facts(row),
                diagnosis=read_diagnosis(row.health, row.problem),
            )
            for row in found
        }

    def list_unsound(self, collection: str) -> Mapping[ResourceId, Diagnosis]:
        """Return the resources of a collection that are not healthy."""
        query = sa.select(resources).where(
            resources.c.collection == collection, resources.c.health != Health.HEALTHY.value
        )
        return {
            ResourceId(row.id): read_diagnosis(row.health, row.problem)
            for row in self._connection.execute(query)
        }

    def set_diagnosis(self, resource_id: ResourceId, diagnosis: Diagnosis, at: datetime) -> Diagnosis | None:
        """Store a resource's diagnosis; return the previous one, or None if the resource is gone."""
        query = sa.select(resources).where(resources.c.id == resource_id).with_for_update()
        row = self._connection.execute(query).one_or_none()
        if row is None:
            return None
        self._connection.execute(
            sa.update(resources)
            .where(resources.c.id == resource_id)
            .values(generation=resources.c.generation + 1, **diagnosis_columns(diagnosis))
        )
        note_changes(self._connection, [resource_id], at, facts_changed=True)
        before = read_diagnosis(row.health, row.problem)
        if before.has_failed is not diagnosis.has_failed:
            record_failure(self._connection, resource_id, at, has_failed=diagnosis.has_failed)
        return before

    def list_holders(self, resource_id: ResourceId) -> tuple[LeaseId, ...]:
        """Return the leases that hold a resource, or lost it."""
        holders = sa.select(reservations.c.lease_id).join(
            allocations, allocations.c.reservation_id == reservations.c.id
        )
        holders = holders.where(
            allocations.c.resource_id == resource_id,
            allocations.c.released_at.is_(None),
            reservations.c.status != ReservationStatus.DELETED.value,
        )
        # The id as it is written in JSON.
        lost = reservations.c.lost_resources.contains(json.dumps(resource_id), autoescape=True)
        losers = sa.select(reservations.c.lease_id).where(_IS_LIVING, lost)
        return self._leases(sa.union(holders, losers))

    def list_missing(self) -> tuple[LeaseId, ...]:
        """Return the leases that hold failed resources without a replacement."""
        # Not IS TRUE, because MySQL uses no index for it.
        is_missing = reservations.c.missing_resources == sa.true()
        return self._leases(sa.select(reservations.c.lease_id).where(_IS_LIVING, is_missing).distinct())

    def count_free(self, now: datetime) -> Mapping[str, int]:
        """Return the number of healthy resources of each collection that nothing holds now."""
        return free_of(self._connection.execute(pools_at(now)))

    def renew_generations(self, at: datetime) -> None:
        """Give every resource a generation that it has never had."""
        ids = [ResourceId(each) for each in self._connection.scalars(sa.select(resources.c.id))]
        if not ids:
            return
        renewed = (
            sa.update(resources)
            .where(resources.c.id == sa.bindparam("resource_id"))
            .values(generation=sa.bindparam("number"))
        )
        self._connection.execute(renewed, [{"resource_id": each, "number": first_number()} for each in ids])
        note_changes(self._connection, ids, at, facts_changed=True)

    def _leases(self, query: sa.Executable) -> tuple[LeaseId, ...]:
        return tuple(LeaseId(each) for each in self._connection.scalars(query))


def _facts(row: sa.Row[Any]) -> Mapping[str, Fact]:
    own = OWN_TABLES.get(row.collection)
    if own is not None:
        return {each.name: row._mapping[each] for each in own.facts}
    found: Mapping[str, Fact] = json.loads(row.facts)
    return found
