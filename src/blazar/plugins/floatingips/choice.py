"""Choice of floating IPs: a pure function of the facts and bookings of all of them."""

from __future__ import annotations

import itertools

from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask
from blazar.domain.errors import CannotChange, InvalidParameter
from blazar.domain.lease import Holdings
from blazar.domain.requirements import Condition, Operator, Requirement
from blazar.domain.wording import first_few
from blazar.plugins.contract import Wish
from blazar.plugins.floatingips.errors import NotEnoughFloatingIPs
from blazar.plugins.floatingips.spec import FloatingIPSpec


def in_network(network_id: str) -> Requirement:
    """Return the requirement for an address of a network."""
    return Requirement((Condition("network_id", Operator.EQ, network_id),))


def choose_floatingips(wish: Wish[FloatingIPSpec], availability: Availability) -> Holdings:
    """Return the floating IPs to hold, as many as requested, including the required ones.

    In order of preference: the required ones; those that the reservation holds, attached ones first; those
    that are free longest before and after the window; the lowest address.

    Raises:
        NotEnoughFloatingIPs: Fewer are free, a required one is not free, or one of an active reservation is
            reserved for another lease in the new period.
        CannotChange: An active reservation would lose a floating IP that is attached to a port.
        InvalidParameter: No floating IP of the network is registered, or a required one is not.
    """
    spec = wish.spec
    of_network = availability.matching(in_network(spec.network_id))
    if not of_network.any():
        raise InvalidParameter("network_id", f"no floating IP of network {spec.network_id} is registered")
    held = availability.mask_of(wish.held)
    in_the_way = availability.mask_of(wish.excluded | wish.beside.keys())
    suitable = availability.free(
        wish.window,
        now=wish.now,
        cleaning_time=wish.cleaning_time,
        ignoring=wish.ignoring,
        among=of_network & ~in_the_way & (availability.reservable() | held),
    )
    required = _find_required(spec, of_network, suitable, availability)
    _check_kept(wish, availability, suitable & held, required)
    in_use = availability.mask_of(wish.in_use)
    kept = [
        each
        for mask in (held & in_use, held & ~in_use)
        for each in availability.in_order(suitable & mask)
        if each not in required
    ]
    free_longest = availability.longest_free(
        suitable & ~held, wish.window, now=wish.now, shuffle=wish.shuffle
    )
    new = (each for each in free_longest if each not in required)
    chosen = list(itertools.islice(itertools.chain(sorted(required), kept, new), spec.amount))
    if len(chosen) < spec.amount:
        raise NotEnoughFloatingIPs(
            f"Not enough floating IPs available: {spec.amount} asked for (amount), {len(chosen)} of network"
            f" {spec.network_id} are free from {wish.window.start:%Y-%m-%d %H:%M}"
            f" to {wish.window.end:%Y-%m-%d %H:%M} UTC",
            amount=spec.amount,
            available=len(chosen),
        )
    return dict.fromkeys(availability.resource_at(each).id for each in chosen)


def _check_kept(
    wish: Wish[FloatingIPSpec], availability: Availability, suitable: Mask, required: frozenset[int]
) -> None:
    """Check that an active reservation loses only floating IPs that are not attached to a port.

    Raises:
        NotEnoughFloatingIPs: A held one is reserved for another lease in the new period.
        CannotChange: More of them are in use than can remain in addition to the required ones.
    """
    if not wish.is_active:
        return
    kept = list(availability.in_order(suitable))
    if len(kept) < len(wish.held):
        raise NotEnoughFloatingIPs(
            "Not enough floating IPs available: one of the active reservation is reserved for another lease"
            " in the new period"
        )
    resources = [availability.resource_at(each) for each in kept if each not in required]
    in_use = [str(each.facts["address"]) for each in resources if each.id in wish.in_use]
    if len(in_use) > wish.spec.amount - len(required):
        raise CannotChange(
            f"amount: {wish.spec.amount} would release floating IPs that are in use: {first_few(in_use)}"
        )


def _find_required(
    spec: FloatingIPSpec, of_network: Mask, suitable: Mask, availability: Availability
) -> frozenset[int]:
    """Return the positions of the required addresses."""
    if not spec.required:
        return frozenset()
    positions = {
        str(availability.resource_at(each).facts["address"]): each
        for each in availability.in_order(of_network)
    }
    unknown = [each for each in spec.required if each not in positions]
    if unknown:
        raise InvalidParameter(
            "required_floatingips",
            f"not registered for reservations in network {spec.network_id}: {first_few(unknown)}",
        )
    taken = [each for each in spec.required if not suitable[positions[each]]]
    if taken:
        raise NotEnoughFloatingIPs(
            f"required_floatingips: not available in the period asked for: {first_few(taken)}"
        )
    return frozenset(positions[each] for each in spec.required)
