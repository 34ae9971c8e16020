"""Requested changes of a lease's reservations: which to change, to add and to remove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from blazar.app.leases.limits import check_amounts, check_number_of_reservations
from blazar.app.leases.requests import JsonObject, NewReservation, parse_objects, parse_reservation
from blazar.app.request_work import RequestWork
from blazar.booking.context import Context
from blazar.booking.specs import rendered_spec
from blazar.domain.errors import BadRequest, CannotChange, InvalidParameter, MissingParameter
from blazar.domain.lease import Lease, Reservation, ReservationId, ResourceId
from blazar.domain.lifecycle import has_started
from blazar.ports.manager import OLDEST_API


class OnConflict(StrEnum):
    """The treatment of held resources that others have booked in the new period of a lease."""

    FAIL = "fail"
    """The default: a running reservation keeps its resources, or the change is refused."""
    DROP = "drop"
    """Release them and keep the others."""
    REPLACE = "replace"
    """Release them, and choose others for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The requested changes of a lease's reservations."""

    revised: Mapping[ReservationId, JsonObject]
    """The keys to change, for each reservation that is named and stays."""
    released: Mapping[ReservationId, frozenset[ResourceId]]
    """The resources to release, for each reservation that has some; these reservations are not revised."""
    on_conflict: Mapping[ReservationId, OnConflict]
    """The treatment of conflicts, for each reservation that has one; these are not revised either."""
    replaced: Mapping[ReservationId, frozenset[ResourceId]] = field(default_factory=dict)
    """The resources to replace, for each reservation that has some; these are not revised either."""
    removed: frozenset[ReservationId] = frozenset()
    added: tuple[NewReservation, ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything is to be changed."""
        return bool(self.revised or self.released or self.replaced or self.removed or self.added)


def parse_changes(context: Context, work: RequestWork, lease: Lease, value: object, now: datetime) -> Changes:
    """Return the requested changes. API 1.0 only knows changes of reservations that stay.

    Raises:
        MissingParameter, InvalidParameter: An element has no ``id``, or one that is not in the lease.
        BadRequest: A new reservation is invalid, or no reservation would remain.
        CannotChange: The ``resource_type`` differs from that of the reservation, or it is too late to add or
            remove one.
    """
    items, new = _split(work, parse_objects(value))
    named = _check_named(lease, items)
    removed = frozenset() if _is_oldest(work) else frozenset(key for key in named if _is_removed(named[key]))
    released = {} if _is_oldest(work) else _parse_resources(named, "release")
    replaced = {} if _is_oldest(work) else _parse_resources(named, "replace")
    on_conflict = {} if _is_oldest(work) else _parse_on_conflict(named)
    apart = {*removed, *released, *replaced, *on_conflict}
    revised = {key: item for key, item in named.items() if key not in apart}
    if removed and len(removed) == len(lease.reservations) and not new:
        raise BadRequest("reservations: the last reservation cannot be removed; delete the lease instead")
    if removed or new:
        _check_ahead(lease, removed, now)
    specs = {
        each.id: rendered_spec(context.plugins.get(each.resource_type), each) for each in lease.reservations
    }
    stay = [{**spec, **revised.get(key, {})} for key, spec in specs.items() if key not in removed]
    limits = context.settings.leases.limits
    if new:
        check_number_of_reservations(limits, [*stay, *new])
    check_amounts(limits, [*stay, *new], specs.values())
    added = tuple(
        parse_reservation(context, work.caller, work.new_reservation_id(place), item)
        for place, item in enumerate(new)
    )
    return Changes(
        revised=revised,
        released=released,
        on_conflict=on_conflict,
        replaced=replaced,
        removed=removed,
        added=added,
    )


def _is_oldest(work: RequestWork) -> bool:
    return work.caller.api_version <= OLDEST_API


def _split(
    work: RequestWork, items: Sequence[JsonObject]
) -> tuple[Sequence[JsonObject], Sequence[JsonObject]]:
    """Return the elements for existing reservations, and those for new ones. Raises MissingParameter."""
    new = [item for item in items if item.get("id") is None]
    if new and (_is_oldest(work) or any(item.get("resource_type") is None for item in new)):
        raise MissingParameter("id")
    return [item for item in items if item.get("id") is not None], new


def _check_named(lease: Lease, items: Sequence[JsonObject]) -> Mapping[ReservationId, JsonObject]:
    known = {each.id: each for each in lease.reservations}
    unknown = [str(item["id"])[:36] for item in items if item["id"] not in known]
    if unknown:
        raise InvalidParameter("reservations", f"not in this lease: {', '.join(unknown)}")
    named: dict[ReservationId, JsonObject] = {}
    for item in items:
        reservation = known[ReservationId(str(item["id"]))]
        _check_type(reservation, item)
        if reservation.id in named:
            raise InvalidParameter("reservations", f"names {reservation.id} twice")
        named[reservation.id] = item
    return named


def _check_type(reservation: Reservation, item: JsonObject) -> None:
    wanted = item.get("resource_type", reservation.resource_type)
    if wanted != reservation.resource_type:
        raise CannotChange(
            f"resource_type: reservation {reservation.id} has {reservation.resource_type}; it cannot change"
        )


def _is_removed(item: JsonObject) -> bool:
    """Return whether an element removes its reservation. Raises InvalidParameter."""
    if "remove" not in item:
        return False
    if item["remove"] is not True:
        raise InvalidParameter("remove", "must be true, or absent")
    if item.keys() - {"id", "resource_type", "remove"}:
        raise InvalidParameter("remove", "a reservation cannot be changed and removed in one request")
    return True


def _parse_resources(
    named: Mapping[ReservationId, JsonObject], verb: str
) -> Mapping[ReservationId, frozenset[ResourceId]]:
    """Return what each reservation is to ``release`` or ``replace``. Raises InvalidParameter."""
    found = {}
    for key, item in named.items():
        if verb not in item:
            continue
        ids = item[verb]
        if not isinstance(ids, list) or not ids or not all(isinstance(each, str) for each in ids):
            raise InvalidParameter(verb, "must be a list of ids of resources, with at least one")
        if item.keys() - {"id", "resource_type", verb}:
            raise InvalidParameter(
                verb, f"a reservation cannot be changed or removed and {verb} resources in one request"
            )
        found[key] = frozenset(ResourceId(each) for each in ids)
    return found


def _parse_on_conflict(named: Mapping[ReservationId, JsonObject]) -> Mapping[ReservationId, OnConflict]:
    """Return what each reservation does about conflicts, if it says so. Raises InvalidParameter."""
    found = {}
    for key, item in named.items():
        if "on_conflict" not in item:
            continue
        value = item["on_conflict"]
        if not isinstance(value, str) or value not in {each.value for each in OnConflict}:
            raise InvalidParameter("on_conflict", f"must be one of {', '.join(OnConflict)}")
        if item.keys() - {"id", "resource_type", "on_conflict"}:
            raise InvalidParameter("on_conflict", "no other key of the reservation can be given with it")
        found[key] = OnConflict(value)
    return found


def _check_ahead(lease: Lease, removed: frozenset[ReservationId], now: datetime) -> None:
    """Check that reservations can still be added and removed.

    Raises:
        CannotChange: The lease has started, or a reservation to be removed has items in the cloud.
    """
    if has_started(lease) or lease.start <= now:
        raise CannotChange(
            f"reservations: lease {lease.id} has started; reservations can only be added or removed before"
            " the start"
        )
    for each in lease.reservations:
        if each.id in removed and each.is_deployed:
            raise CannotChange(
                f"remove: reservation {each.id} is already prepared in the cloud and stays until the"
                " lease ends"
            )
