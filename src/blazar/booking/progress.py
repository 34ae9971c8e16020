"""The progress of a lease, as API 1.1 shows it: what it holds, why it waits, its end, and the next try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from blazar.booking.at_end import at_end_view
from blazar.booking.context import Context
from blazar.booking.reasons import reason_for_lessee
from blazar.booking.views import JsonObject, lease_view
from blazar.domain.formats import API
from blazar.domain.lease import Lease, LeaseId, Reservation, ReservationId, ReservationStatus
from blazar.ports.store import Transaction

_MISSING = "a resource failed and has no replacement yet"


Held = Mapping[LeaseId, Mapping[ReservationId, int]]
"""The number of resources and slots that reservations hold, by lease."""


def progress_views(
    context: Context, transaction: Transaction, leases: Sequence[Lease], held: Held
) -> list[JsonObject]:
    """Return leases with their progress; what those that wait for the service need is one statement."""
    dues = transaction.work.due_of([each.id for each in leases if is_waiting(each)])
    now = context.clock.now()
    return [
        _view(context, each, held.get(each.id, {}), _next_try(each, dues.get(each.id), now))
        for each in leases
    ]


def is_waiting(lease: Lease) -> bool:
    """Return whether a reservation fails or waits, so that the progress changes without the lease."""
    return any(_is_open(each) for each in lease.reservations)


def _view(
    context: Context, lease: Lease, held: Mapping[ReservationId, int], retry_at: datetime | None
) -> JsonObject:
    view = lease_view(lease, context.plugins)
    reasons = {each.id: _reason(context, each) for each in lease.reservations}
    shown: list[JsonObject] = view["reservations"]  # type: ignore[assignment]
    view["reservations"] = [
        {
            **each,
            "status_reason": reasons[one.id],
            "retry_at": API.date(retry_at) if reasons[one.id] else None,
            "held": held.get(one.id, 0),
            "at_end": at_end_view(one, lease, context.plugins, API.date),
            "same": None if one.grouping is None else one.grouping.same,
            "spread": None if one.grouping is None else one.grouping.spread,
        }
        for one, each in zip(lease.reservations, shown, strict=True)
    ]
    return {
        **view,
        "status_reason": next((each for each in reasons.values() if each), None),
        "retry_at": API.date(retry_at),
        "held": sum(held.get(each.id, 0) for each in lease.reservations),
    }


def _reason(context: Context, reservation: Reservation) -> str | None:
    if reservation.problem:
        return reason_for_lessee(reservation.problem, context.plugins)
    return _MISSING if reservation.missing_resources else None


def _is_open(reservation: Reservation) -> bool:
    """Return whether a reservation fails or waits."""
    return bool(reservation.problem or reservation.missing_resources)


def _next_try(lease: Lease, due_at: datetime | None, now: datetime) -> datetime | None:
    """Return when the service continues automatically.

    A reservation in error is left alone until its lease ends or is changed.
    """
    open_ones = [each for each in lease.reservations if _is_open(each)]
    is_over = lease.is_deleting or lease.end <= now
    if not is_over and all(each.status is ReservationStatus.ERROR for each in open_ones):
        return None
    return due_at
