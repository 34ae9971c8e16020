"""Keeping what reservations hold, or choosing other resources for what has failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from blazar.booking.context import Context
from blazar.booking.search import Found, Search, find_resources, holdings_of
from blazar.booking.specs import booked_together, booked_window, intact_spec
from blazar.domain.availability import Availability
from blazar.domain.capacity import Demand, Share
from blazar.domain.headroom import Headroom
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Holdings, Lease, Reservation, ReservationId, ResourceId
from blazar.plugins.contract import Wish
from blazar.ports.store import Transaction

_Held = Mapping[ReservationId, Holdings]


def keep_or_replace(
    context: Context,
    reservations: Sequence[Reservation],
    allocations: Sequence[Allocation],
    window: Interval,
    restricted: Callable[[Search], Search],
    attempt: int,
) -> Found:
    """Return what reservations hold, with replacements for what can no longer be used.

    A resource is kept if it is healthy and has room beside the bookings of others, even if an earlier holder
    has not released it yet. If all are kept, nothing else is searched.

    Args:
        context: The context.
        reservations: Reservations that are not active; their own bookings are ignored.
        allocations: What they hold.
        window: Their window.
        restricted: Adds usage rules to the search for replacements.
        attempt: As for :func:`~blazar.booking.search.find_resources`.

    Raises:
        Conflict: A resource cannot be used, and no other is free, as confirmed by the database.
    """
    held = holdings_of(allocations)
    usable, generations = _confirmed_usable(context, reservations, held, window)
    if not _lacks(held, usable):
        return _all_of(reservations, held, generations)
    searches = [
        restricted(_search(context, each, reservations, held, usable, window)) for each in reservations
    ]
    found = find_resources(context, searches, attempt)
    chosen = tuple(
        _at_most(chosen, len(held.get(each.id, {})))
        for each, chosen in zip(reservations, found.chosen, strict=True)
    )
    kept = {key for each in chosen for key in each}
    return Found(chosen=chosen, generations={key: found.generations[key] for key in kept})


def find_kept(
    context: Context,
    reservations: Sequence[Reservation],
    held: Mapping[ReservationId, Holdings],
    window: Interval,
) -> Found | None:
    """Return what reservations are to hold if all of it can be used; otherwise None.

    Args:
        context: The context.
        reservations: Reservations whose own bookings are ignored.
        held: What they are to hold.
        window: The window in which they are to hold it.
    """
    usable, generations = _confirmed_usable(context, reservations, held, window)
    return None if _lacks(held, usable) else _all_of(reservations, held, generations)


def _all_of(reservations: Sequence[Reservation], held: _Held, generations: Mapping[ResourceId, int]) -> Found:
    return Found(chosen=tuple(held.get(each.id, {}) for each in reservations), generations=generations)


def _confirmed_usable(
    context: Context, reservations: Sequence[Reservation], held: _Held, window: Interval
) -> tuple[_Held, dict[ResourceId, int]]:
    """Return the same as :func:`_usable`, confirmed by the database if something cannot be used."""
    usable, generations = _usable(context, reservations, held, window)
    if _lacks(held, usable):
        for collection in {context.plugin_for(each.resource_type).collection for each in reservations}:
            context.indexes[collection].confirm()
        usable, generations = _usable(context, reservations, held, window)
    return usable, generations


def _lacks(held: _Held, usable: _Held) -> bool:
    return any(each.keys() - usable.get(key, {}).keys() for key, each in held.items())


def _usable(
    context: Context, reservations: Sequence[Reservation], held: _Held, window: Interval
) -> tuple[_Held, dict[ResourceId, int]]:
    """Return which holdings can be used together, and the generations of their resources."""
    usable: dict[ReservationId, Holdings] = {}
    generations: dict[ResourceId, int] = {}
    given: dict[ResourceId, tuple[Share | None, ...]] = {}
    for reservation in reservations:
        collection = context.plugin_for(reservation.resource_type).collection
        with context.indexes[collection].searching() as view:
            wish = _wish(context, reservation, reservations, window)
            wish = replace(
                wish, window=booked_window(context.plugin_for(reservation.resource_type), wish.spec, window)
            )
            own = held.get(reservation.id, {})
            found = _with_room(view, replace(wish, held=own, beside=given), own)
            # An earlier reservation may have seen an older generation; the claim must be made on that one.
            generations = {key: view.generation_of(key) for key in found} | generations
        usable[reservation.id] = found
        for key, share in found.items():
            given[key] = (*given.get(key, ()), share)
    return usable, generations


def _with_room(view: Availability, wish: Wish[object], held: Holdings) -> Holdings:
    """Return those of the holdings that are healthy and have room beside the bookings of others."""
    free = view.free(
        wish.window,
        now=wish.now,
        cleaning_time=wish.cleaning_time,
        ignoring=wish.ignoring,
        awaited=held.keys(),
        among=view.mask_of(held),
    )
    reservable = view.reservable()
    found: dict[ResourceId, Share | None] = {}
    headrooms: dict[Demand, Headroom] = {}
    for key, share in held.items():
        position = view.position_of(key)
        if position is None or not reservable[position]:
            continue
        if share is None:
            has_room = bool(free[position]) and key not in wish.beside
        else:
            if share.demand not in headrooms:
                headrooms[share.demand] = _headroom(view, wish, share.demand, held)
            has_room = bool(headrooms[share.demand].slots([position])[0] >= share.slots)
        if has_room:
            found[key] = share
    return found


def _headroom(view: Availability, wish: Wish[object], demand: Demand, held: Holdings) -> Headroom:
    return view.headroom(
        demand,
        wish.window,
        now=wish.now,
        cleaning_time=wish.cleaning_time,
        ignoring=wish.ignoring,
        awaited=held.keys(),
        beside=wish.beside,
        among=view.mask_of(held),
    )


def _search(
    context: Context,
    reservation: Reservation,
    reservations: Sequence[Reservation],
    held: _Held,
    usable: _Held,
    window: Interval,
) -> Search:
    kept = usable.get(reservation.id, {})
    excluded = frozenset(held.get(reservation.id, {}).keys() - kept.keys())
    wish = _wish(context, reservation, reservations, window)
    return Search(
        plugin=context.plugin_for(reservation.resource_type),
        wish=replace(wish, held=kept, excluded=excluded),
        grouping=reservation.grouping,
    )


def _wish(
    context: Context, reservation: Reservation, reservations: Sequence[Reservation], window: Interval
) -> Wish[object]:
    return Wish(
        spec=intact_spec(context.plugin_for(reservation.resource_type), reservation),
        window=window,
        now=context.clock.now(),
        cleaning_time=context.settings.leases.cleaning_time,
        ignoring=frozenset(each.id for each in reservations),
    )


def _at_most(holdings: Holdings, number: int) -> Holdings:
    """Return at most *number* whole resources, the first ones; shares are returned unchanged."""
    if any(share is not None for share in holdings.values()):
        return holdings
    return dict(islice(holdings.items(), number))


def end_bookings(context: Context, transaction: Transaction, lease: Lease, end: datetime) -> None:
    """Set the end of the bookings of a lease that has begun; indexes read them again."""
    ids = [each.id for each in lease.reservations]
    held = transaction.allocations.of_reservations(ids)
    transaction.allocations.touch({each.resource_id for each in held})
    window = Interval.at_least_an_instant(lease.start, end)
    for some, booked in booked_together(context.plugins, lease.reservations, window):
        transaction.allocations.move(some, booked, began_at=lease.start)
