"""Choice of whole resources, which the plugins of hosts, network segments and storage nodes share."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from blazar.domain.availability import Availability, Resource
from blazar.domain.booking_rows import Mask
from blazar.domain.lease import Holdings, ResourceId
from blazar.domain.requirements import Requirement
from blazar.plugins.contract import Wish


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeChoice:
    """The resources that a wish for whole resources could get."""

    wish: Wish[Any]
    availability: Availability
    keepable: Mask
    """The held resources that satisfy the requirement and are free for the reservation."""
    new: Mask
    """The other resources that satisfy it, are free and can be reserved."""

    @classmethod
    def of(cls, wish: Wish[Any], availability: Availability, requirement: Requirement) -> WholeChoice:
        """Return the resources that satisfy a requirement throughout the window of the wish."""
        in_the_way = availability.mask_of(wish.excluded | wish.beside.keys())
        suitable = availability.free(
            wish.window,
            now=wish.now,
            cleaning_time=wish.cleaning_time,
            ignoring=wish.ignoring,
            awaited=wish.awaited,
            among=availability.matching(requirement) & ~in_the_way,
        )
        held = availability.mask_of(wish.held)
        new = suitable & availability.reservable() & ~held
        return cls(wish=wish, availability=availability, keepable=suitable & held, new=new)

    def held(self) -> list[Resource]:
        """Return the held resources that can be kept: those in use first, failed ones last."""
        order = self.availability.in_order(self.keepable)
        held = [self.availability.resource_at(each) for each in order]
        held.sort(key=lambda each: (not self.is_in_use(each), not each.is_reservable))
        return held

    def is_in_use(self, resource: Resource) -> bool:
        """Return whether the lessee uses a resource that the reservation holds."""
        return bool(self.wish.in_use.get(resource.id))

    def loses_any(self, held: Collection[Resource]) -> bool:
        """Return whether the reservation is active, and one of its resources is no longer suitable."""
        return self.wish.is_active and len(held) < len(self.wish.held)

    def count(self, kept: Collection[ResourceId], most: int) -> int:
        """Return how many resources are available with the kept ones; sorting them would take longer."""
        return len(kept) + min(most - len(kept), int(np.count_nonzero(self.new)))

    def fill(self, kept: Collection[ResourceId], most: int, asked: frozenset[str]) -> Holdings:
        """Return the kept resources and new ones up to a number, those with few scarce properties first.

        Args:
            kept: The held resources to keep.
            most: The number.
            asked: The properties that the request names, which are not spared for others.
        """
        candidates = self.availability.best_first(
            self.new, self.wish.window, now=self.wish.now, asked=asked, shuffle=self.wish.shuffle
        )
        added = itertools.islice(candidates, most - len(kept))
        return dict.fromkeys([*kept, *(self.availability.resource_at(each).id for each in added)])
