"""Choice of whole pools: a pure function of the facts and bookings of all of them."""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np

from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask
from blazar.domain.errors import CannotChange, InvalidRequirement
from blazar.domain.expressions import parse
from blazar.domain.lease import Holdings, ResourceId
from blazar.domain.requirements import Requirement, unknown_keys
from blazar.domain.wording import first_few
from blazar.plugins.contract import Wish
from blazar.plugins.storage_nodes.errors import NotEnoughStorageNodes
from blazar.plugins.storage_nodes.spec import StorageNodeSpec
from blazar.plugins.volumes.pools import POOL_FACTS, SOLE_USE

FOR_SOLE_USE: Final[Requirement] = parse(["==", f"${SOLE_USE}", "true"], field="resource_properties")
"""What every pool must satisfy: the operator allows its reservation as a whole."""


def choose_whole_pools(wish: Wish[StorageNodeSpec], availability: Availability) -> Holdings:
    """Return the pools to hold, as many as are available up to the maximum; held ones come first.

    A pool of which a part is booked in the window is not available. In order of preference: pools that the
    reservation holds, those with volumes first; pools with few scarce properties that are not requested;
    small pools; pools that are free longest before and after the window.

    Raises:
        NotEnoughStorageNodes: Fewer than the minimum fit and are free, or a pool of an active reservation no
            longer fits.
        CannotChange: An active reservation would lose a pool that has volumes.
        InvalidRequirement: The spec names a property that no pool has, or that the caller may not see.
    """
    spec, requirement = wish.spec, wish.spec.requirement
    unknown = unknown_keys(requirement, availability.known_facts() - wish.hidden | POOL_FACTS)
    if unknown:
        raise InvalidRequirement("resource_properties", f"no pool has a property named {', '.join(unknown)}")
    free = availability.free(
        wish.window,
        now=wish.now,
        cleaning_time=wish.cleaning_time,
        ignoring=wish.ignoring,
        awaited=wish.awaited,
    )
    in_the_way = availability.mask_of(wish.excluded | wish.beside.keys())
    suitable = availability.matching(requirement & FOR_SOLE_USE) & free & ~in_the_way
    held = availability.mask_of(wish.held)
    kept = _choose_kept(wish, availability, suitable & held)
    new = suitable & availability.reservable() & ~held
    still_wanted = spec.maximum - len(kept)
    available = len(kept) + min(still_wanted, int(np.count_nonzero(new)))
    if available < spec.minimum:
        raise NotEnoughStorageNodes(
            f"Not enough storage nodes available: {spec.minimum} asked for (min), "
            f"{available} fit and are free from {wish.window.start:%Y-%m-%d %H:%M} "
            f"to {wish.window.end:%Y-%m-%d %H:%M} UTC",
            min=spec.minimum,
            available=available,
        )
    candidates = availability.best_first(
        new, wish.window, now=wish.now, asked=requirement.keys, shuffle=wish.shuffle
    )
    added = [availability.resource_at(each).id for each in itertools.islice(candidates, still_wanted)]
    return dict.fromkeys([*kept, *added])


def _choose_kept(wish: Wish[StorageNodeSpec], availability: Availability, suitable: Mask) -> list[ResourceId]:
    """Return the held pools to keep, up to the maximum: those in use first, failed ones last.

    Raises:
        NotEnoughStorageNodes: The reservation is active, and one of its pools is no longer suitable.
        CannotChange: More pools than the maximum have volumes.
    """
    held = [availability.resource_at(each) for each in availability.in_order(suitable)]
    if wish.is_active and len(held) < len(wish.held):
        raise NotEnoughStorageNodes(
            "Not enough storage nodes available: a pool of the active reservation no longer fits, or is"
            " reserved for another lease in the new period",
            in_use=len(wish.held),
            would_remain=len(held),
        )
    held.sort(key=lambda each: (not wish.in_use.get(each.id), not each.is_reservable))
    in_use = [str(each.facts["pool"]) for each in held if wish.in_use.get(each.id)]
    if len(in_use) > wish.spec.maximum:
        raise CannotChange(
            f"max: {wish.spec.maximum} is less than the {len(in_use)} pools that have volumes or snapshots:"
            f" {first_few(sorted(in_use))}"
        )
    return [each.id for each in held[: wish.spec.maximum]]
