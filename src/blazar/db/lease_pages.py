"""Pages of leases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.pages import Condition, Listing, select_rows
from blazar.db.tables import leases, reservations
from blazar.domain.lease import LeaseId
from blazar.domain.paging import Page
from blazar.ports.allocations import DateRanges
from blazar.ports.store import LeaseFilter

_COLUMNS: Final[Mapping[str, sa.Column[Any]]] = {
    "created_at": leases.c.created_at,
    "start_date": leases.c.start_at,
    "end_date": leases.c.end_at,
    "name": leases.c.name,
    "id": leases.c.id,
}


def select_lease_page(connection: Connection, which: LeaseFilter, page: Page) -> Mapping[LeaseId, int]:
    """Return the revisions of a page, in its order. Raises InvalidParameter if the marker is unknown."""
    scope = [] if which.project_id is None else [leases.c.project_id == which.project_id]
    filters = dates_within(which.dates)
    if which.statuses:
        filters.append(leases.c.status.in_(sorted(which.statuses)))
    if which.user_id is not None:
        filters.append(leases.c.user_id == which.user_id)
    if which.name is not None:
        filters.append(leases.c.name == which.name)
    if which.resource_type is not None:
        has_type = reservations.c.lease_id == leases.c.id, reservations.c.resource_type == which.resource_type
        filters.append(sa.exists().where(*has_type))
    prefix = "ix_leases" if which.project_id is None else "ix_leases_project_id"
    listing = Listing(
        columns=_COLUMNS,
        scope=scope,
        filters=filters,
        indexes={key: f"{prefix}_{column.name}_id" for key, column in _COLUMNS.items() if key != "id"},
    )
    rows = select_rows(connection, listing, page, leases.c.revision)
    return {LeaseId(row.id): row.revision for row in rows}


def dates_within(ranges: DateRanges) -> list[Condition]:
    """Return the conditions on the dates of leases."""
    conditions = []
    for column, after, before in (
        (leases.c.start_at, ranges.starts_after, ranges.starts_before),
        (leases.c.end_at, ranges.ends_after, ranges.ends_before),
    ):
        if after is not None:
            conditions.append(column >= after)
        if before is not None:
            conditions.append(column < before)
    return conditions
