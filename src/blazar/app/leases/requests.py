"""Parsing of requests about leases: JSON becomes types where it enters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from blazar.app.idempotency import KeyedRequest
from blazar.app.leases.limits import (
    check_amounts,
    check_conditions,
    check_grammar,
    check_number_of_reservations,
)
from blazar.booking.context import Context, Plugin
from blazar.booking.specs import rendered_spec, requirement_of
from blazar.domain.dates import check_new_dates, counted_as_now, parse_date
from blazar.domain.errors import CannotChange, InvalidParameter, MissingParameter
from blazar.domain.lease import Lease, LeaseId, Reservation, ReservationId
from blazar.domain.requirements import Requirement
from blazar.ports.manager import Caller

JsonObject = Mapping[str, object]

MAX_NAME_LENGTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReservation:
    """A requested reservation. It has its id from the start, because objects are named after it."""

    id: ReservationId
    resource_type: str
    plugin: Plugin
    spec: object


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
    items = _objects(body.get("reservations"))
    check_number_of_reservations(context.settings.leases.limits, items)
    for item in items:
        if item.get("resource_type") is None:
            raise MissingParameter("resource_type")
    now = context.clock.now()
    start = counted_as_now(parse_date("start_date", body["start_date"], now), now)
    end = parse_date("end_date", body["end_date"], now)
    check_new_dates(start, end, now)
    reservations = _new_reservations(context, caller, items)
    return NewLease(
        id=LeaseId(context.new_id()),
        name=parse_name(body["name"]),
        start=start,
        end=end,
        before_end=body.get("before_end_date"),
        reservations=reservations,
    )


def parse_name(value: object) -> str:
    """Return a lease's name; a number is stored as its text. Raises InvalidParameter."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise InvalidParameter("name", "must be text")
    if len(value) > MAX_NAME_LENGTH:
        raise InvalidParameter("name", f"must have at most {MAX_NAME_LENGTH} characters")
    if "\x00" in value:
        raise InvalidParameter("name", "must not contain NUL")
    return value


def parse_changes(context: Context, lease: Lease, value: object) -> Mapping[ReservationId, JsonObject]:
    """Return the requested changes of each reservation.

    Raises:
        MissingParameter, InvalidParameter: An element has no ``id``, or one that is not in the lease.
        CannotChange: The ``resource_type`` differs from that of the reservation.
    """
    known = {each.id: each for each in lease.reservations}
    changes: dict[ReservationId, JsonObject] = {}
    items = _objects(value)
    for item in items:
        if item.get("id") is None:
            raise MissingParameter("id")
    unknown = [str(item["id"])[:36] for item in items if item["id"] not in known]
    if unknown:
        raise InvalidParameter("reservations", f"not in this lease: {', '.join(unknown)}")
    for item in items:
        reservation = known[ReservationId(str(item["id"]))]
        _check_type(reservation, item)
        if reservation.id in changes:
            raise InvalidParameter("reservations", f"names {reservation.id} twice")
        changes[reservation.id] = item
    plugins = context.plugins
    specs = {each.id: rendered_spec(plugins.get(each.resource_type), each) for each in lease.reservations}
    check_amounts(
        context.settings.leases.limits,
        [{**specs[each], **changes.get(each, {})} for each in specs],
        specs.values(),
    )
    return changes


def _check_type(reservation: Reservation, item: JsonObject) -> None:
    wanted = item.get("resource_type", reservation.resource_type)
    if wanted != reservation.resource_type:
        raise CannotChange(
            f"resource_type: reservation {reservation.id} has {reservation.resource_type}; it cannot change"
        )


def _new_reservations(
    context: Context, caller: Caller, items: Sequence[JsonObject]
) -> tuple[NewReservation, ...]:
    limits = context.settings.leases.limits
    reservations: list[NewReservation] = []

    def requirements() -> Iterator[Requirement]:
        for item in items:
            new = _new_reservation(context, item)
            reservations.append(new)
            requirement = requirement_of(new.plugin, new.spec)
            check_grammar(caller, [requirement])
            yield requirement

    check_amounts(limits, items)
    check_conditions(limits, requirements())
    return tuple(reservations)


def _new_reservation(context: Context, item: JsonObject) -> NewReservation:
    resource_type = item["resource_type"]
    if not isinstance(resource_type, str):
        raise InvalidParameter("resource_type", "must be text")
    plugin = context.plugin_for(resource_type)
    return NewReservation(
        id=ReservationId(context.new_id()),
        resource_type=resource_type,
        plugin=plugin,
        spec=plugin.parse(item),
    )


def _objects(value: object) -> Sequence[JsonObject]:
    if value is None or value == {}:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, Mapping) for each in value):
        raise InvalidParameter("reservations", "must be a list of objects")
    return value
