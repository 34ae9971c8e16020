"""Choice of segments: a pure function of the facts and bookings of all of them."""

from __future__ import annotations

from blazar.domain.availability import Availability
from blazar.domain.errors import CannotChange, InvalidRequirement
from blazar.domain.lease import Holdings, ResourceId
from blazar.domain.requirements import unknown_keys
from blazar.plugins.contract import Wish
from blazar.plugins.networks.errors import NotEnoughNetworks
from blazar.plugins.networks.segments import NETWORK_FACTS
from blazar.plugins.networks.spec import NetworkSpec
from blazar.plugins.whole_choice import WholeChoice


def choose_segments(wish: Wish[NetworkSpec], availability: Availability) -> Holdings:
    """Return the segments to hold, as many as requested; held ones come first.

    In order of preference: segments that the reservation holds, those in use first; segments with few scarce
    properties that are not requested; segments that are free longest before and after the window.

    Raises:
        NotEnoughNetworks: Fewer fit and are free, or one of an active reservation no longer fits.
        CannotChange: An active reservation would lose a segment whose network has ports.
        InvalidRequirement: The spec names a property that no segment has, or that the caller may not see.
    """
    spec = wish.spec
    requirement = spec.requirement
    unknown = unknown_keys(requirement, availability.known_facts() - wish.hidden | NETWORK_FACTS)
    if unknown:
        raise InvalidRequirement(
            "network_properties, resource_properties",
            f"no network segment has a property named {', '.join(unknown)}",
        )
    choice = WholeChoice.of(wish, availability, requirement)
    kept = _choose_kept(choice)
    available = choice.count(kept, spec.amount)
    if available < spec.amount:
        raise NotEnoughNetworks(
            f"Not enough networks available: {spec.amount} asked for (amount), {available} fit and are free"
            f" from {wish.window.start:%Y-%m-%d %H:%M} to {wish.window.end:%Y-%m-%d %H:%M} UTC",
            amount=spec.amount,
            available=available,
        )
    return choice.fill(kept, spec.amount, requirement.keys)


def _choose_kept(choice: WholeChoice) -> list[ResourceId]:
    """Return the held segments to keep, up to the amount: those in use first, failed ones last.

    Raises:
        NotEnoughNetworks: The reservation is active, and one of its segments is no longer suitable.
        CannotChange: More segments than the amount have networks with ports.
    """
    wish, held = choice.wish, choice.held()
    if choice.loses_any(held):
        raise NotEnoughNetworks(
            "Not enough networks available: a network segment of the active reservation no longer fits, or is"
            " reserved for another lease in the new period",
            in_use=len(wish.held),
            would_remain=len(held),
        )
    in_use = sum(map(choice.is_in_use, held))
    if in_use > wish.spec.amount:
        raise CannotChange(
            f"amount: {wish.spec.amount} is less than the {in_use} networks that have ports; delete their"
            " ports first",
            in_use=in_use,
        )
    return [each.id for each in held[: wish.spec.amount]]
