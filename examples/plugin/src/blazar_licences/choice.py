"""Choosing pools: pure, over the facts and bookings of all of them."""

from __future__ import annotations

from blazar.domain.availability import Availability
from blazar.domain.capacity import Demand, Share
from blazar.domain.errors import CannotChange, Conflict, InvalidParameter
from blazar.domain.lease import Holdings
from blazar.domain.requirements import Condition, Operator, Requirement
from blazar.plugins.contract import Wish
from blazar_licences.spec import LicenceSpec

SEATS = "SEATS"
"""What a pool has an amount of."""
SEAT = Demand.of({SEATS: 1})
"""What one seat takes of it."""


def choose_seats(wish: Wish[LicenceSpec], availability: Availability) -> Holdings:
    """Return how many seats come from which pool.

    In order of preference: what the reservation has, then small pools before large ones. Seats of an active
    reservation stay in their pools; when it shrinks, those in use do.

    Raises:
        InvalidParameter: Nobody has a licence of the product.
        Conflict: Fewer seats are free, or those of an active reservation are not.
        CannotChange: More seats are in use than are asked for.
    """
    spec, held = wish.spec, availability.mask_of(wish.held)
    of_product = availability.matching(Requirement((Condition("product", Operator.EQ, spec.product),)))
    if not of_product.any():
        raise InvalidParameter("product", f"there is no licence of {spec.product}")
    room = availability.room(
        SEAT,
        wish.window,
        now=wish.now,
        cleaning_time=wish.cleaning_time,
        ignoring=wish.ignoring,
        awaited=wish.awaited,
        beside=wish.beside,
    )
    usable = of_product & ~availability.mask_of(wish.excluded)
    others = usable & availability.reservable() & ~held
    positions = [*availability.in_order(held), *availability.in_order(others, wish.shuffle)]
    free = dict(zip(positions, room.slots(positions).tolist(), strict=True))
    chosen = _keep(wish, availability, {each: free[each] if usable[each] else 0 for each in positions})
    lacking = spec.seats - sum(chosen.values())
    for position in positions:
        if availability.reservable()[position] and usable[position] and lacking:
            more = max(0, min(lacking, free[position] - chosen.get(position, 0)))
            chosen[position] = chosen.get(position, 0) + more
            lacking -= more
    if lacking:
        raise Conflict(
            f"Not enough seats available: {spec.seats} asked for (seats), {spec.seats - lacking} of"
            f" {spec.product} are free from {wish.window.start:%Y-%m-%d %H:%M}"
            f" to {wish.window.end:%Y-%m-%d %H:%M} UTC"
        )
    return {
        availability.resource_at(position).id: Share(slots=seats, demand=SEAT)
        for position, seats in chosen.items()
        if seats
    }


def _keep(wish: Wish[LicenceSpec], availability: Availability, free: dict[int, int]) -> dict[int, int]:
    """Return what is kept of what is held, by position. Raises Conflict, CannotChange."""
    held = {
        position: share.slots
        for position in free
        for share in [wish.held.get(availability.resource_at(position).id)]
        if share is not None
    }
    needed = dict.fromkeys(held, 0)
    if wish.is_active:
        shrinks = wish.spec.seats < sum(held.values())
        in_use = {each: wish.in_use.get(availability.resource_at(each).id, 0) for each in held}
        needed = {each: min(held[each], in_use[each]) if shrinks else held[each] for each in held}
    if sum(needed.values()) > wish.spec.seats:
        raise CannotChange(f"seats: {sum(needed.values())} of the reservation are in use")
    if any(needed[each] > free[each] for each in held):
        raise Conflict("Not enough seats available: seats in use are promised to others in the new period")
    kept = {each: min(held[each], free[each]) for each in held}
    surplus = sum(kept.values()) - wish.spec.seats
    for position in reversed(list(kept)):
        dropped = max(0, min(kept[position] - needed[position], surplus))
        kept[position] -= dropped
        surplus -= dropped
    return kept
