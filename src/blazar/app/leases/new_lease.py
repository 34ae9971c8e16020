"""A new lease: as a request describes it, and as the value that is made from the request or from an offer."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from blazar.app.idempotency import KeyedRequest
from blazar.app.leases.requests import JsonObject, NewReservation, parse_items, parse_name, parse_new_items
from blazar.app.request_work import RequestWork
from blazar.booking.assignments import exists_ahead
from blazar.booking.context import Context, new_uuid
from blazar.booking.specs import booked_window_of
from blazar.domain.dates import check_new_dates, counted_as_now, parse_date
from blazar.domain.errors import MissingParameter
from blazar.domain.interval import Interval
from blazar.domain.lease import (
    Allocation,
    Event,
    EventType,
    Holdings,
    Lease,
    LeaseId,
    LeaseStatus,
    Reservation,
)
from blazar.ports.manager import Caller

_NAMESPACE: Final = uuid.UUID("5a6fb1f8-7f4e-4f0c-9a0b-3c0f2f6d1c57")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLease:
    """A requested lease, with the ids that it will have. ``before_end`` is the value as sent."""

    id: LeaseId
    name: str
    start: datetime
    end: datetime
    before_end: object
    reservations: tuple[NewReservation, ...]
    keyed: KeyedRequest | None = None
    """The request with its idempotency key, if it has one."""


def parse_new_lease(context: Context, caller: Caller, body: JsonObject) -> NewLease:
    """Return the lease that a request describes.

    Raises:
        BadRequest: Checked in this order: missing keys, dates, then each reservation.
    """
    missing = [key for key in ("name", "start_date", "end_date") if body.get(key) is None]
    if missing:
        raise MissingParameter(*missing)
    items = parse_new_items(context, body.get("reservations"))
    now = context.clock.now()
    start = counted_as_now(parse_date("start_date", body["start_date"], now), now)
    end = parse_date("end_date", body["end_date"], now)
    check_new_dates(start, end, now)
    reservations = parse_items(context, caller, items)
    return NewLease(
        id=id_of_request(context, caller),
        name=parse_name(body["name"]),
        start=start,
        end=end,
        before_end=body.get("before_end_date"),
        reservations=reservations,
    )


def id_of_request(context: Context, caller: Caller) -> LeaseId:
    """Return the id of the lease or offer that a request makes; each execution of it has the same one."""
    # With a source of its own, a run is reproducible, and the ids of requests are random.
    if context.new_id is not new_uuid or not caller.request_id:
        return LeaseId(context.new_id())
    return LeaseId(str(uuid.uuid5(_NAMESPACE, caller.request_id)))


def new_lease(work: RequestWork, request: NewLease, before_end: datetime | None) -> Lease:
    """Return the lease that a caller requests; nothing has been created for it yet."""
    context, caller = work.context, work.caller
    now = context.clock.now()
    times = {EventType.START: request.start, EventType.END: request.end}
    if before_end is not None:
        times[EventType.BEFORE_END] = before_end
    return Lease(
        id=request.id,
        name=request.name,
        user_id=caller.user_id,
        project_id=caller.project_id,
        start=request.start,
        end=request.end,
        status=LeaseStatus.PENDING,
        reservations=tuple(
            Reservation(
                id=each.id,
                lease_id=request.id,
                resource_type=each.resource_type,
                spec=each.spec,
                grouping=each.grouping,
                created_at=now,
                updated_at=now,
            )
            for each in request.reservations
        ),
        events=tuple(
            Event(id=context.new_id(), event_type=event_type, time=time, created_at=now)
            for event_type, time in sorted(times.items(), key=lambda each: each[1])
        ),
        created_at=now,
        updated_at=now,
    )


def provided(work: RequestWork, request: NewLease, lease: Lease) -> Lease:
    """Return a new lease with what its reservations need in the lessee's project.

    Reservations for which the request creates items are marked as deployed.
    """
    specs = {each.id: work.provide(each.plugin, each.id, None, each.spec) for each in request.reservations}
    complete = replace(
        lease, reservations=tuple(replace(each, spec=specs[each.id]) for each in lease.reservations)
    )
    return replace(
        complete,
        reservations=tuple(
            replace(each, is_deployed=exists_ahead(work.context, complete, each))
            for each in complete.reservations
        ),
    )


def allocations_of(
    context: Context, reservations: Sequence[Reservation], window: Interval, chosen: Sequence[Holdings]
) -> list[Allocation]:
    """Return the allocations of reservations, which have these holdings, in the same order.

    *window* is that of the lease; some resources stay booked for longer.
    """
    return [
        Allocation(resource_id=resource_id, reservation_id=reservation.id, window=booked, share=share)
        for reservation, holdings in zip(reservations, chosen, strict=True)
        for booked in [booked_window_of(context.plugins, reservation, window)]
        for resource_id, share in holdings.items()
    ]
