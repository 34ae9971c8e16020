"""Uses of resources by projects."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.offers import is_open_for
from blazar.db.tables import allocations, leases, offer_allocations, offers, past_uses, reservations
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.rules.uses import Use


class SqlUses:
    """Implements :class:`blazar.ports.uses.UseStore`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of_project(self, project_id: str, now: datetime, since: datetime) -> Sequence[Use]:
        """Return the uses of a project that end after *since*, including this transaction's writes."""
        booked, offered, past = allocations.c, offer_allocations.c, past_uses.c
        by_leases = (
            sa.select(
                leases.c.id.label("lease_id"),
                leases.c.user_id,
                reservations.c.resource_type,
                *(booked.resource_id, booked.start_at, booked.end_at, booked.slots),
            )
            .select_from(leases.join(reservations).join(allocations))
            .where(leases.c.project_id == project_id, booked.released_at.is_(None), booked.end_at > since)
        )
        by_offers = (
            sa.select(
                sa.func.coalesce(offers.c.lease_id, offers.c.id),
                offers.c.user_id,
                offered.resource_type,
                *(offered.resource_id, offered.start_at, offered.end_at, offered.slots),
            )
            .select_from(offers.join(offer_allocations))
            .where(is_open_for(project_id, now), offered.end_at > since)
        )
        recorded = sa.select(
            *(past.lease_id, past.user_id, past.resource_type, past.resource_id),
            *(past.start_at, past.end_at, past.slots),
        ).where(past.project_id == project_id, past.end_at > since)
        return [
            Use(
                lease_id=row.lease_id,
                user_id=row.user_id,
                resource_type=row.resource_type,
                resource_id=ResourceId(row.resource_id),
                window=Interval(row.start_at, row.end_at),
                units=row.slots or 1,
            )
            for row in self._connection.execute(sa.union_all(by_leases, by_offers, recorded))
        ]

    def record(
        self, reservation_id: ReservationId, resource_ids: Collection[ResourceId] | None, now: datetime
    ) -> None:
        """Record what a reservation has used up to *now* of resources that it is about to release."""
        if resource_ids is not None and not resource_ids:
            return
        booked = allocations.c
        which = [
            booked.reservation_id == reservation_id,
            booked.released_at.is_(None),
            booked.start_at < now,
            leases.c.project_id.is_not(None),
        ]
        if resource_ids is not None:
            which.append(booked.resource_id.in_(list(resource_ids)))
        query = (
            sa.select(
                *(leases.c.project_id, leases.c.user_id, leases.c.id, reservations.c.resource_type),
                *(booked.resource_id, booked.start_at, booked.end_at, booked.slots),
            )
            .select_from(leases.join(reservations).join(allocations))
            .where(*which)
        )
        rows = [
            {
                "project_id": row.project_id,
                "user_id": row.user_id,
                "lease_id": row.id,
                "resource_type": row.resource_type,
                "resource_id": row.resource_id,
                "start_at": row.start_at,
                "end_at": min(row.end_at, now),
                "slots": row.slots,
            }
            for row in self._connection.execute(query)
        ]
        if rows:
            self._connection.execute(sa.insert(past_uses), rows)

    def delete_before(self, before: datetime) -> int:
        """Delete the records of uses that ended before an instant; return their number."""
        return self._connection.execute(sa.delete(past_uses).where(past_uses.c.end_at < before)).rowcount
