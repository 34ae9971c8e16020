"""Reserved amounts of projects, counted under a lock."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.offers import is_open_for
from blazar.db.shares import read_share
from blazar.db.tables import allocations, leases, offer_allocations, offers, projects, reservations
from blazar.domain.interval import Interval
from blazar.domain.lease import LeaseStatus
from blazar.domain.quotas import Held, Reserved


class SqlQuotas:
    """Implements :class:`blazar.ports.quotas.QuotaStore`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def lock(self, project_id: str) -> None:
        """Lock the project's row until the transaction ends; two first insertions conflict on its key."""
        held = self._connection.execute(
            sa.update(projects)
            .where(projects.c.id == project_id)
            .values(generation=projects.c.generation + 1)
        )
        if not held.rowcount:
            self._connection.execute(sa.insert(projects), [{"id": project_id, "generation": 1}])

    def reserved(self, project_id: str, now: datetime) -> Reserved:
        """Return a project's reserved amounts from *now* on; equal allocations are counted together.

        Open offers count as leases; those for changes of leases count only what they hold.
        """
        lives = sa.and_(leases.c.project_id == project_id, leases.c.end_at > now)
        counted = sa.and_(
            lives, sa.not_(leases.c.is_deleting), leases.c.status != LeaseStatus.TERMINATED.value
        )
        is_open, is_new_lease = is_open_for(project_id, now), offers.c.lease_id.is_(None)
        count = (
            sa.select(sa.func.count()).select_from(leases).where(counted).scalar_subquery()
            + sa.select(sa.func.count()).select_from(offers).where(is_open, is_new_lease).scalar_subquery()
        )
        alike = (
            reservations.c.resource_type,
            allocations.c.start_at,
            allocations.c.end_at,
            allocations.c.slots,
            allocations.c.demand,
        )
        held = (
            sa.select(*alike, sa.func.count().label("number"))
            .select_from(leases.join(reservations).join(allocations))
            .where(lives, allocations.c.released_at.is_(None), allocations.c.end_at > now)
            .group_by(*alike)
        )
        offered = offer_allocations.c
        alike = (offered.resource_type, offered.start_at, offered.end_at, offered.slots, offered.demand)
        held_by_offers = (
            sa.select(*alike, sa.func.count().label("number"))
            .select_from(offers.join(offer_allocations))
            .where(is_open, offered.end_at > now)
            .group_by(*alike)
        )
        return Reserved(
            leases=self._connection.scalars(sa.select(count)).one(),
            held=tuple(
                Held(
                    resource_type=row.resource_type,
                    window=Interval(row.start_at, row.end_at),
                    count=row.number,
                    share=read_share(row.slots, row.demand),
                )
                for row in self._connection.execute(sa.union_all(held, held_by_offers))
            ),
        )
