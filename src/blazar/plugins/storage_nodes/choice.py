"""Choice of whole pools: a pure function of the facts and bookings of all of them."""

from __future__ import annotations

from typing import Final

from blazar.domain.availability import Availability
from blazar.domain.errors import CannotChange, InvalidRequirement
from blazar.domain.expressions import parse
from blazar.domain.lease import Holdings, ResourceId
from blazar.domain.requirements import Requirement, unknown_keys
from blazar.domain.wording import first_few
from blazar.plugins.contract import Wish
from blazar.plugins.storage_nodes.errors import NotEnoughStorageNodes
from blazar.plugins.storage_nodes.spec import StorageNodeSpec
from blazar.plugins.volumes.pools import POOL_FACTS, SOLE_USE
from blazar.plugins.whole_choice import WholeChoice

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
    choice = WholeChoice.of(wish, availability, requirement & FOR_SOLE_USE)
    kept = _choose_kept(choice)
    available = choice.count(kept, spec.maximum)
    if available < spec.minimum:
        raise NotEnoughStorageNodes(
            f"Not enough storage nodes available: {spec.minimum} asked for (min), "
            f"{available} fit and are free from {wish.window.start:%Y-%m-%d %H:%M} "
            f"to {wish.window.end:%Y-%m-%d %H:%M} UTC",
            min=spec.minimum,
            available=available,
        )
    return choice.fill(kept, spec.maximum, requirement.keys)


def _choose_kept(choice: WholeChoice) -> list[ResourceId]:
    """Return the held pools to keep, up to the maximum: those in use first, failed ones last.

    Raises:
        NotEnoughStorageNodes: The reservation is active, and one of its pools is no longer suitable.
        CannotChange: More pools than the maximum have volumes.
    """
    wish, held = choice.wish, choice.held()
    if choice.loses_any(held):
        raise NotEnoughStorageNodes(
            "Not enough storage nodes available: a pool of the active reservation no longer fits, or is"
            " reserved for another lease in the new period",
            in_use=len(wish.held),
            would_remain=len(held),
        )
    in_use = [str(each.facts["pool"]) for each in held if choice.is_in_use(each)]
    if len(in_use) > wish.spec.maximum:
        raise CannotChange(
            f"max: {wish.spec.maximum} is less than the {len(in_use)} pools that have volumes or snapshots:"
            f" {first_few(sorted(in_use))}"
        )
    return [each.id for each in held[: wish.spec.maximum]]
