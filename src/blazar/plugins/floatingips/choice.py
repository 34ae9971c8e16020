"""Choosing floating IPs: pure, over the facts and bookings of all of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from blazar.domain.availability import Availability
from blazar.domain.bookings import Mask
from blazar.domain.errors import InvalidParameter, NotEnoughFloatingIPs
from blazar.domain.lease import Holdings
from blazar.domain.requirements import Condition, Operator, Requirement
from blazar.plugins.contract import Wish
from blazar.plugins.floatingips.spec import FloatingIPSpec

_SHOWN = 5
"""So many addresses are named in a refusal."""


def choose_floatingips(wish: Wish[FloatingIPSpec], availability: Availability) -> Holdings:
    """Return as many floating IPs as are asked for, the required ones among them.

    In order of preference: those required, what the reservation has, then by address.

    Raises:
        NotEnoughFloatingIPs: Fewer are free, a required one is not, or an active reservation would have
            to give one up.
        InvalidParameter: No floating IP of the network is registered, or a required one is not.
    """
    spec = wish.spec
    in_network = availability.matching(Requirement((Condition("network_id", Operator.EQ, spec.network_id),)))
    if not in_network.any():
        raise InvalidParameter("network_id", f"no floating IP of network {spec.network_id} is registered")
    free = availability.free(
        wish.window, now=wish.now, cleaning_time=wish.cleaning_time, ignoring=wish.ignoring
    )
    held = availability.mask_of(wish.held)
    in_the_way = availability.mask_of(wish.excluded | wish.beside.keys())
    suitable = in_network & free & ~in_the_way & (availability.reservable() | held)
    required = _find_required(spec, in_network, suitable, availability)
    kept = [each for each in availability.in_order(suitable & held) if each not in required]
    new = (each for each in availability.in_order(suitable & ~held, wish.shuffle) if each not in required)
    chosen = list(itertools.islice(itertools.chain(sorted(required), kept, new), spec.amount))
    if wish.is_active and len(wish.held) > sum(bool(held[each]) for each in chosen):
        raise NotEnoughFloatingIPs(
            "Not enough floating IPs available: one in use would have to be given up, because it is booked"
            " by somebody else in the new period"
        )
    if len(chosen) < spec.amount:
        raise NotEnoughFloatingIPs(
            f"Not enough floating IPs available: {spec.amount} asked for (amount), {len(chosen)} of network"
            f" {spec.network_id} are free from {wish.window.start:%Y-%m-%d %H:%M}"
            f" to {wish.window.end:%Y-%m-%d %H:%M} UTC",
            amount=spec.amount,
            available=len(chosen),
        )
    return dict.fromkeys(availability.resource_at(each).id for each in chosen)


def _find_required(
    spec: FloatingIPSpec, in_network: Mask, suitable: Mask, availability: Availability
) -> frozenset[int]:
    """Return the positions of the addresses that must be had."""
    if not spec.required:
        return frozenset()
    positions = {
        str(availability.resource_at(each).facts["address"]): each
        for each in availability.in_order(in_network)
    }
    unknown = [each for each in spec.required if each not in positions]
    if unknown:
        raise InvalidParameter(
            "required_floatingips",
            f"not registered for reservations in network {spec.network_id}: {_listed(unknown)}",
        )
    taken = [each for each in spec.required if not suitable[positions[each]]]
    if taken:
        raise NotEnoughFloatingIPs(
            f"required_floatingips: not available in the period asked for: {_listed(taken)}"
        )
    return frozenset(positions[each] for each in spec.required)


def _listed(addresses: Iterable[str]) -> str:
    """Return the first few of many."""
    shown = list(addresses)
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "")
