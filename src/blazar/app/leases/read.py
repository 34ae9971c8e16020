"""Reading leases."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from blazar.booking.context import Context
from blazar.booking.history import EVENTS, MOST_ENTRIES, history_view
from blazar.booking.progress import progress_views
from blazar.booking.views import JsonObject, held_view, lease_view
from blazar.domain.errors import InvalidParameter, LeaseNotFound, OwnerMismatch
from blazar.domain.formats import API
from blazar.domain.lease import (
    Allocation,
    Lease,
    LeaseId,
    Owner,
    Reservation,
    ReservationStatus,
    StoredSpec,
)
from blazar.domain.paging import Page, SortKey
from blazar.domain.portions import in_portions
from blazar.domain.written_objects import WrittenObjects
from blazar.plugins.capabilities import DescribesUse
from blazar.ports.allocations import HeldResource
from blazar.ports.manager import PROGRESS_SINCE, Caller
from blazar.ports.store import LeaseFilter, Transaction

_AT_ONCE: Final = 1_000
"""The number of leases in memory at once, in addition to their texts, while a list of all is built."""


def list_leases(context: Context, project_id: str | None) -> Sequence[JsonObject]:
    """Return the leases of a project, or of all projects for None."""
    return WrittenObjects(f"[{', '.join(_list_texts(context, project_id))}]")


def get_lease(context: Context, caller: Caller, lease_id: str) -> JsonObject:
    """Return a lease, from API 1.1 on with its progress. Raises LeaseNotFound."""
    lease = read_lease(context, lease_id)
    if caller.api_version < PROGRESS_SINCE:
        return lease_view(lease, context.plugins)
    with context.store.read() as transaction:
        held = transaction.allocations.count_held([lease.id])
        return progress_views(context, transaction, [lease], held)[0]


def list_lease_allocations(context: Context, lease_id: str) -> Sequence[JsonObject]:
    """Return the resources that the reservations of a lease hold now, with names. Raises LeaseNotFound."""
    lease = read_lease(context, lease_id)
    types = {each.id: each.resource_type for each in lease.reservations}
    with context.store.read() as transaction:
        held = transaction.allocations.list_held(lease.id)
    return [held_view(each, types[each.reservation_id]) for each in held if each.reservation_id in types]


def list_lease_resources(context: Context, lease_id: str) -> Sequence[JsonObject]:
    """Return each reservation of a lease with what it holds and how to use it. Raises LeaseNotFound."""
    lease = read_lease(context, lease_id)
    with context.store.read() as transaction:
        held = transaction.allocations.list_held(lease.id)
    return [
        {
            "reservation_id": each.id,
            "resource_type": each.resource_type,
            "status": each.status.value,
            "resources": [_resource_view(one) for one in held if one.reservation_id == each.id],
            "use": _use(context, each),
        }
        for each in lease.reservations
    ]


def _resource_view(held: HeldResource) -> JsonObject:
    return {
        "id": held.resource_id,
        "name": held.name,
        "amount": held.slots or 1,
        "start_date": API.date(held.window.start),
        "end_date": API.date(held.window.end),
    }


def _use(context: Context, reservation: Reservation) -> JsonObject | None:
    plugin = context.plugins.get(reservation.resource_type)
    if not isinstance(plugin, DescribesUse) or reservation.status is not ReservationStatus.ACTIVE:
        return None
    if isinstance(reservation.spec, StoredSpec):
        return None  # it cannot be read
    return plugin.describe_use(reservation.spec, reservation.id)


def list_lease_history(context: Context, lease_id: str) -> Sequence[JsonObject]:
    """Return what happened to a lease, oldest first, in plain words. Raises LeaseNotFound.

    Of a lease that was changed very often, only the latest part is returned.
    """
    lease = read_lease(context, lease_id)
    with context.store.read() as transaction:
        entries = transaction.journal.list_latest(lease.id, EVENTS, MOST_ENTRIES)
    return history_view(entries, context.plugins)


def read_lease(context: Context, lease_id: str, expected: Owner | None = None) -> Lease:
    """Return a lease as a value.

    Raises:
        LeaseNotFound: No such lease exists.
        OwnerMismatch: The lease does not belong to the *expected* owner; never raised if that is None.
    """
    with context.store.read(of_one_instant=False) as transaction:
        return _find(transaction, lease_id, expected)


def read_held_lease(
    context: Context, lease_id: str, expected: Owner | None = None
) -> tuple[Lease, tuple[Allocation, ...]]:
    """Return a lease with its allocations, from one transaction. Raises as :func:`read_lease`."""
    with context.store.read() as transaction:
        lease = _find(transaction, lease_id, expected)
        return lease, transaction.allocations.of_reservations([each.id for each in lease.reservations])


def _find(transaction: Transaction, lease_id: str, expected: Owner | None) -> Lease:
    lease = transaction.leases.find(lease_id)
    if lease is None:
        raise LeaseNotFound(lease_id[:64])
    if expected is not None and lease.owner != expected:
        raise OwnerMismatch(lease.id, project_id=lease.project_id, user_id=lease.user_id)
    return lease


def _list_texts(context: Context, project_id: str | None) -> Sequence[str]:
    """Return the views of a project's leases, or of all for None, each as ASCII JSON, oldest first.

    For a lease that was listed before at its present revision, only the revision is read.
    """
    with context.store.read() as transaction:
        revisions = transaction.leases.list_revisions(project_id)
        texts = _texts(context, transaction, revisions)
    return [texts[each] for each in revisions]


def cache_newest(context: Context) -> None:
    """Read the newest leases, as many as the cache can hold without being full, so that lists find them."""
    page = Page(limit=_AT_ONCE, sort=(SortKey("created_at", is_descending=True),))
    while not context.lease_cache.is_nearly_full:
        with context.store.read() as transaction:
            try:
                revisions = transaction.leases.list_page(LeaseFilter(), page)
            except InvalidParameter:
                return  # the last lease of the page before is gone; lists read the others
            _texts(context, transaction, revisions)
        if len(revisions) < page.limit:
            return
        page = replace(page, marker=list(revisions)[-1])


def _texts(
    context: Context, transaction: Transaction, revisions: Mapping[LeaseId, int]
) -> Mapping[LeaseId, str]:
    texts = context.lease_cache.recall(revisions)
    unknown = [each for each in revisions if each not in texts]
    for portion in in_portions(unknown, _AT_ONCE):
        for lease in transaction.leases.get_many(portion):
            text = texts[lease.id] = json.dumps(lease_view(lease, context.plugins))
            context.lease_cache.keep(lease.id, lease.revision, text)
    return texts
