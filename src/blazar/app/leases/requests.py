"""Parsing of the parts of requests about leases: JSON is converted to types where it enters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from blazar.app.leases.groupings import parse_grouping
from blazar.app.leases.limits import (
    check_amounts,
    check_conditions,
    check_expressions,
    check_grammar,
    check_number_of_reservations,
)
from blazar.booking.context import Context, Plugin
from blazar.booking.specs import requirement_of
from blazar.domain.errors import InvalidParameter, MissingParameter
from blazar.domain.grouping import Grouping
from blazar.domain.lease import ReservationId
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
    grouping: Grouping | None = None


def parse_new_reservations(context: Context, caller: Caller, value: object) -> tuple[NewReservation, ...]:
    """Return the reservations that a request describes. Raises BadRequest."""
    return parse_items(context, caller, parse_new_items(context, value))


def parse_new_items(context: Context, value: object) -> Sequence[JsonObject]:
    """Return the objects that describe new reservations, each with a type. Raises BadRequest."""
    items = parse_objects(value)
    check_number_of_reservations(context.settings.leases.limits, items)
    for item in items:
        if item.get("resource_type") is None:
            raise MissingParameter("resource_type")
    return items


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


def parse_items(context: Context, caller: Caller, items: Sequence[JsonObject]) -> tuple[NewReservation, ...]:
    """Return the reservations that objects with types describe. Raises BadRequest."""
    limits = context.settings.leases.limits
    reservations: list[NewReservation] = []

    def requirements() -> Iterator[Requirement]:
        for item in items:
            new = parse_reservation(context, caller, ReservationId(context.new_id()), item)
            reservations.append(new)
            check_expressions(limits, [new.plugin.encode(new.spec)])
            requirement = requirement_of(new.plugin, new.spec)
            check_grammar(caller, [requirement])
            yield requirement

    check_amounts(limits, items)
    check_conditions(limits, requirements())
    return tuple(reservations)


def parse_reservation(
    context: Context, caller: Caller, reservation_id: ReservationId, item: JsonObject
) -> NewReservation:
    """Return the new reservation that an object describes; it has a ``resource_type``. Raises BadRequest."""
    resource_type = item["resource_type"]
    if not isinstance(resource_type, str):
        raise InvalidParameter("resource_type", "must be text")
    plugin = context.plugin_for(resource_type)
    spec = plugin.parse(item)
    return NewReservation(
        id=reservation_id,
        resource_type=resource_type,
        plugin=plugin,
        spec=spec,
        grouping=parse_grouping(caller, plugin, spec, item),
    )


def parse_objects(value: object) -> Sequence[JsonObject]:
    """Return the reservations of a request. Raises InvalidParameter."""
    if value is None or value == {}:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, Mapping) for each in value):
        raise InvalidParameter("reservations", "must be a list of objects")
    return value
