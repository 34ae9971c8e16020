"""Lists of hosts and of their allocations, whole or in pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from blazar.booking.context import Context
from blazar.booking.filters import parse_dates, parse_flag, text_of
from blazar.booking.views import JsonObject, allocation_view
from blazar.domain.lease import ResourceId
from blazar.domain.paging import parse_page
from blazar.plugins.hosts.properties import hidden_properties
from blazar.plugins.hosts.store import HOST_STORE, HostFilter
from blazar.plugins.hosts.views import read_host_view
from blazar.ports.allocations import BookedWindow
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

_SORT_KEYS: Final = ("created_at", "hypervisor_hostname", "id")


def list_hosts(context: Context, caller: Caller, page: JsonObject | None = None) -> Sequence[JsonObject]:
    """Return the registered hosts, or a page of them.

    Raises:
        InvalidParameter: A part of *page* is invalid, or its marker is unknown.
    """
    with context.store.read() as transaction:
        hidden = hidden_properties(transaction, caller)
        if page is None:
            return [read_host_view(host, caller, hidden) for host in transaction.of(HOST_STORE).list()]
        ids = _list_ids(transaction, page)
        found = {each.id: each for each in transaction.of(HOST_STORE).get_many(ids)}
    return [read_host_view(found[each], caller, hidden) for each in ids]


def list_allocations(
    context: Context,
    lease_id: str | None,
    reservation_id: str | None,
    page: JsonObject | None = None,
) -> Sequence[JsonObject]:
    """Return the allocations of each host, or of each host of a page.

    Raises:
        InvalidParameter: A part of *page* is invalid, or its marker is unknown.
    """
    now = context.clock.now()
    with context.store.read() as transaction:
        if page is None:
            host_ids: Sequence[ResourceId] = [host.id for host in transaction.of(HOST_STORE).list()]
        else:
            host_ids = _list_ids(transaction, page)
        booked = transaction.allocations.list_booked(
            now=now,
            lease_id=lease_id,
            reservation_id=reservation_id,
            resource_ids=None if page is None else host_ids,
            dates=None if page is None else parse_dates(page, now),
        )
    by_host: dict[str, list[BookedWindow]] = {}
    for each in booked:
        by_host.setdefault(each.resource_id, []).append(each)
    return [allocation_view(host_id, by_host.get(host_id, [])) for host_id in host_ids]


def _list_ids(transaction: Transaction, query: JsonObject) -> Sequence[ResourceId]:
    page = parse_page(query, _SORT_KEYS)
    which = HostFilter(
        hypervisor_hostname=text_of(query, "hypervisor_hostname"),
        availability_zone=text_of(query, "availability_zone"),
        is_reservable=parse_flag(query, "reservable"),
    )
    return transaction.of(HOST_STORE).list_page(which, page)
