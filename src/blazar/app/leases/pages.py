"""Pages of leases, sorted and filtered as the caller asks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from blazar.booking.context import Context
from blazar.booking.filters import parse_dates, text_of
from blazar.booking.progress import is_waiting, progress_views
from blazar.booking.views import JsonObject
from blazar.domain.errors import InvalidParameter
from blazar.domain.lease import LeaseId, LeaseStatus
from blazar.domain.paging import parse_page
from blazar.domain.portions import in_portions
from blazar.domain.written_objects import WrittenObjects
from blazar.ports.store import LeaseFilter, Transaction

_SORT_KEYS: Final = ("created_at", "start_date", "end_date", "name", "id")
_AT_ONCE: Final = 1_000
"""Leases read by one statement."""
_PROGRESS: Final = "progress"
"""The form of leases in the cache."""


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
        return WrittenObjects.of(_texts(context, transaction, transaction.leases.list_page(which, page)))


def _texts(context: Context, transaction: Transaction, revisions: Mapping[LeaseId, int]) -> Sequence[str]:
    """Return leases with their progress, each as ASCII JSON; those listed before are only read if changed."""
    held = transaction.allocations.count_held(list(revisions))
    states = {(each, _PROGRESS): (revision, held.get(each)) for each, revision in revisions.items()}
    texts = context.lease_cache.recall(states)
    unknown = [each for each in revisions if (each, _PROGRESS) not in texts]
    for portion in in_portions(unknown, _AT_ONCE):
        leases = transaction.leases.get_many(portion)
        for lease, view in zip(leases, progress_views(context, transaction, leases, held), strict=True):
            key = (lease.id, _PROGRESS)
            texts[key] = json.dumps(view)
            if not is_waiting(lease):
                context.lease_cache.keep(key, states[key], texts[key])
    return [texts[each, _PROGRESS] for each in revisions]


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
