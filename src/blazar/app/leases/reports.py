"""Reports of broken resources, as requests for their replacement have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from blazar.app.leases.requests import JsonObject
from blazar.booking.context import Context
from blazar.booking.reports import count_reports, record_reports
from blazar.booking.search import holdings_of
from blazar.domain.lease import Lease, ReservationId, ResourceId
from blazar.ports.manager import OLDEST_API, Caller

REASON = "reason"
"""The key of a change, beside its reservations, with what is wrong with the resources to replace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """The resources that a request reports, by reservation."""

    resources: Mapping[ReservationId, frozenset[ResourceId]] = field(default_factory=dict)
    reason: str = ""


def reports_in(caller: Caller, body: JsonObject) -> Reports:
    """Return what a change of a lease reports; :mod:`blazar.app.leases.changes` checks the request."""
    items = body.get("reservations")
    if caller.api_version <= OLDEST_API or not isinstance(items, list):
        return Reports()
    named = [each for each in items if isinstance(each, dict) and isinstance(each.get("replace"), list)]
    return Reports(
        resources={
            ReservationId(str(each.get("id"))): frozenset(ResourceId(str(one)) for one in each["replace"])
            for each in named
        },
        reason=str(body.get(REASON) or ""),
    )


def record_refused_reports(context: Context, lease: Lease, reports: Reports, caller: Caller) -> None:
    """Record the reports of a refused request, as far as its reservations hold the resources."""
    if not reports.resources:
        return
    with context.store.begin() as transaction:
        held = holdings_of(transaction.allocations.of_reservations([each.id for each in lease.reservations]))
        reported = {key: each & held.get(key, {}).keys() for key, each in reports.resources.items()}
        recorded = record_reports(context, transaction, lease, reported, reports.reason, caller)
        transaction.commit()
    count_reports(context, recorded)
