"""Choice of pools: a pure function of the facts and bookings of all of them."""

from __future__ import annotations

from blazar.domain.availability import Availability
from blazar.domain.capacity import Demand, Share
from blazar.domain.errors import CannotChange, InvalidParameter, NotEnoughResources
from blazar.domain.lease import Holdings
from blazar.domain.requirements import Condition, Operator, Requirement
from blazar.plugins.contract import Wish
from blazar_licences.spec import LicenceSpec

SEATS = "SEATS"
"""The resource class of seats in a pool."""
SEAT = Demand.of({SEATS: 1})
"""The demand of one seat."""


def choose_seats(wish: Wish[LicenceSpec], availability: Availability) -> Holdings:
    """Return the number of seats to hold, by pool.

    In order of preference: pools that the reservation holds, then small pools. Seats of an active reservation
    stay in their pools; when it shrinks, those in use stay.

    Raises:
        InvalidParameter: No pool has the product.
        NotEnoughResources: Fewer seats are free, or those of an active reservation are not.
        CannotChange: More seats are in use than requested.
    """
    spec, held = wish.spec, availability.mask_of(wish.held)
    of_product = availability.matching(Requirement((Condition("product", Operator.EQ, spec.product),)))
    if not of_product.any():
        raise InvalidParameter("product", f"no pool has licences for {spec.product}")
    headroom = availability.headroom(
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
    free = dict(zip(positions, headroom.slots(positions).tolist(), strict=True))
    chosen = _keep(wish, availability, {each: free[each] if usable[each] else 0 for each in positions})
    lacking = spec.seats - sum(chosen.values())
    for position in positions:
        if availability.reservable()[position] and usable[position] and lacking:
            more = max(0, min(lacking, free[position] - chosen.get(position, 0)))
            chosen[position] = chosen.get(position, 0) + more
            lacking -= more
    if lacking:
        raise NotEnoughResources(
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
    """Return the held seats to keep, by position. Raises NotEnoughResources, CannotChange."""
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
        raise NotEnoughResources(
            "Not enough seats available: seats in use are reserved for others in the new period"
        )
    kept = {each: min(held[each], free[each]) for each in held}
    surplus = sum(kept.values()) - wish.spec.seats
    for position in reversed(list(kept)):
        dropped = max(0, min(kept[position] - needed[position], surplus))
        kept[position] -= dropped
        surplus -= dropped
    return kept
