"""Choosing hosts: pure, over the facts and bookings of all of them."""

from __future__ import annotations

import itertools

from blazar.domain.availability import Availability
from blazar.domain.errors import InvalidRequirement, NotEnoughHosts
from blazar.domain.hosts import HOST_FACTS
from blazar.domain.lease import Holdings
from blazar.domain.requirements import Requirement, unknown_keys
from blazar.plugins.contract import Wish
from blazar.plugins.hosts.spec import HostSpec


def choose_hosts(wish: Wish[HostSpec], availability: Availability) -> Holdings:
    """Return as many hosts as can be had up to the maximum, what is held already first.

    In order of preference: what the reservation has, then small hosts before large ones, then by
    number; so large hosts stay free for those who need them.

    Raises:
        NotEnoughHosts: Fewer than the minimum fit and are free, or an active reservation would have
            to give one up.
        InvalidRequirement: The spec names a property that no host has.
    """
    requirement = wish.spec.requirement
    _check_keys(requirement, availability)
    free = availability.free(
        wish.window,
        now=wish.now,
        cleaning_time=wish.cleaning_time,
        ignoring=wish.ignoring,
        awaited=wish.awaited,
    )
    suitable = (
        availability.matching(requirement) & free & ~availability.mask_of(wish.excluded | wish.beside.keys())
    )
    held = availability.mask_of(wish.held)
    kept = [availability.resource_at(each).id for each in availability.in_order(suitable & held)][
        : wish.spec.maximum
    ]
    if wish.is_active and len(kept) < len(wish.held):
        raise NotEnoughHosts(
            "Not enough hosts available: a host in use would have to be given up, because it no longer"
            " fits, is booked by somebody else in the new period, or is one too many",
            in_use=len(wish.held),
            would_remain=len(kept),
        )
    new = suitable & availability.reservable() & ~held
    room = wish.spec.maximum - len(kept)
    candidates = availability.in_order(new, wish.shuffle)
    added = [availability.resource_at(each).id for each in itertools.islice(candidates, room)]
    if len(kept) + len(added) < wish.spec.minimum:
        raise NotEnoughHosts(
            f"Not enough hosts available: {wish.spec.minimum} asked for (min), "
            f"{len(kept) + len(added)} fit and are free from {wish.window.start:%Y-%m-%d %H:%M} "
            f"to {wish.window.end:%Y-%m-%d %H:%M} UTC",
            min=wish.spec.minimum,
            available=len(kept) + len(added),
        )
    return dict.fromkeys([*kept, *added])


def _check_keys(requirement: Requirement, availability: Availability) -> None:
    unknown = unknown_keys(requirement, availability.known_facts() | HOST_FACTS)
    if unknown:
        raise InvalidRequirement(
            "hypervisor_properties, resource_properties", f"no host has a property named {', '.join(unknown)}"
        )
