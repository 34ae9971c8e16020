"""Pages of leases, sorted and filtered as the caller asks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from blazar.booking.context import Context
from blazar.booking.filters import parse_dates, text_of
from blazar.booking.progress import progress_views
from blazar.booking.views import JsonObject
from blazar.domain.errors import InvalidParameter
from blazar.domain.lease import Lease, LeaseId, LeaseStatus
from blazar.domain.paging import parse_page
from blazar.domain.portions import in_portions
from blazar.ports.manager import WrittenObjects
from blazar.ports.store import LeaseFilter, Transaction

_SORT_KEYS: Final = ("created_at", "start_date", "end_date", "name", "id")
_AT_ONCE: Final = 1_000
"""Leases read by one statement."""


def list_lease_page(context: Context, project_id: str | None, query: JsonObject) -> Sequence[JsonObject]:
    """Return a page of the leases of a project, or of all projects for None.

    Raises:
        InvalidParameter: A part of the query is invalid, or its marker is unknown.
    """
    page = parse_page(query, _SORT_KEYS)
    which = LeaseFilter(
        project_id=project_id,
        statuses=_parse_statuses(query),
        user_id=text_of(query, "user_id"),
        name=text_of(query, "name"),
        resource_type=text_of(query, "resource_type"),
        dates=parse_dates(query, context.clock.now()),
    )
    with context.store.read() as transaction:
        ids = transaction.leases.list_page(which, page)
        found = _read(transaction, ids)
        views = progress_views(context, transaction, [found[each] for each in ids])
    return WrittenObjects(json.dumps(views))


def _read(transaction: Transaction, ids: Sequence[LeaseId]) -> Mapping[LeaseId, Lease]:
    portions = in_portions(ids, _AT_ONCE)
    return {lease.id: lease for portion in portions for lease in transaction.leases.get_many(portion)}


def _parse_statuses(query: JsonObject) -> Sequence[LeaseStatus]:
    text = text_of(query, "status")
    if text is None:
        return ()
    try:
        return [LeaseStatus(each) for each in text.split(",")]
    except ValueError:
        raise InvalidParameter(
            "status", f"must be one of {', '.join(LeaseStatus)}, or several, separated by commas"
        ) from None
