"""Requests for leases that were refused for lack of free resources."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.specs import SpecColumn
from blazar.db.tables import refused_requests
from blazar.domain.lease import Lease, LeaseId, LeaseStatus

MOST_A_DAY: Final = 1_000
"""Requests of a project that are recorded in 24 hours: a client that asks in a loop must not fill a disk."""

LONGEST: Final = 16_384
"""The most characters of the reservations that are recorded: a shortened requirement would be another one."""


def record_refused(connection: Connection, specs: SpecColumn, lease: Lease, now: datetime) -> bool:
    """Record a refused request, unless it is long, the same one is recorded, or too many of the project are.

    Returns:
        Whether a row was added.

    Raises:
        DBDuplicateEntry: A concurrent transaction has recorded the same request.
    """
    table = refused_requests.c
    reservations = specs.encode_requested(lease.reservations)
    if len(reservations) > LONGEST:
        return False
    digest = _digest(lease, reservations)
    of_project = sa.select(sa.func.count()).where(
        table.project_id == lease.project_id, table.requested_at > now - timedelta(days=1)
    )
    is_known = sa.select(sa.func.count()).where(table.digest == digest)
    number, known = connection.execute(
        sa.select(of_project.scalar_subquery(), is_known.scalar_subquery())
    ).one()
    if known or number >= MOST_A_DAY:
        return False
    row = {
        "digest": digest,
        "lease_id": lease.id,
        "name": lease.name,
        "project_id": lease.project_id,
        "requested_at": now,
        "start_at": lease.start,
        "end_at": lease.end,
        "reservations": reservations,
    }
    connection.execute(sa.insert(refused_requests), [row])
    return True


def list_refused(connection: Connection, specs: SpecColumn, since: datetime) -> Sequence[Lease]:
    """Return the requests that were refused since an instant, in their order, as leases without events."""
    table = refused_requests.c
    query = sa.select(refused_requests).where(table.requested_at >= since)
    return [
        Lease(
            id=LeaseId(row.lease_id),
            name=row.name,
            user_id=None,
            project_id=row.project_id,
            start=row.start_at,
            end=row.end_at,
            status=LeaseStatus.ERROR,
            reservations=specs.decode_requested(row.reservations, LeaseId(row.lease_id), row.requested_at),
            created_at=row.requested_at,
            updated_at=row.requested_at,
        )
        for row in connection.execute(query.order_by(table.requested_at, table.digest))
    ]


def _digest(lease: Lease, reservations: str) -> str:
    """Return a digest of what was requested, without the ids, which are new each time."""
    parts = [{key: each[key] for key in each if key != "id"} for each in json.loads(reservations)]
    wanted = [lease.project_id, lease.start.isoformat(), lease.end.isoformat(), parts]
    return sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()
