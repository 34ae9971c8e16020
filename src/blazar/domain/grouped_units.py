"""The number of units for each value of a fact, and their distribution over the values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask, Numbers
from blazar.domain.need import Need
from blazar.domain.requirements import Fact, Requirement


class _Part(Availability):
    """Some of the resources of an index; valid until the index changes, and not to be changed itself."""

    def __init__(self, whole: Availability, mask: Mask) -> None:
        # Let the whole index compute what it caches on first use, so that other searches find it there.
        whole.columns()
        whole.reservable()
        vars(self).update(vars(whole))
        self._mask: Mask = mask & whole._mask if isinstance(whole, _Part) else mask
        self._visible: Mask | None = whole._visible if isinstance(whole, _Part) else None
        """The resources that exist for the caller; None if the names of all facts may be shown."""

    def matching(self, requirement: Requirement) -> Mask:
        """Return which resources of the part satisfy *requirement*."""
        found: Mask = self.columns().matching(requirement) & self._mask
        return found

    def known_facts(self) -> frozenset[str]:
        """Return the names of all facts that any visible resource has."""
        if self._visible is None:
            return super().known_facts()
        return self.columns().names_among(self._visible)


def visible_part(availability: Availability, mask: Mask) -> Availability:
    """Return a read-only index in which only the resources in *mask* exist for a caller."""
    part = _Part(availability, mask)
    part._visible = part._mask
    return part


def part_of(availability: Availability, mask: Mask) -> Availability:
    """Return a read-only index in which only the resources in *mask* satisfy any requirement."""
    return _Part(availability, mask)


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a fact among the resources that satisfy a requirement and can be reserved."""

    facts: Sequence[Fact]
    codes: Numbers
    """The number of each resource's value, by position; -1 for resources without one."""

    @classmethod
    def of(cls, availability: Availability, need: Need, key: str) -> Values:
        """Return the values of the fact named *key* among the resources for a need."""
        distinct, codes = availability.columns().values(key)
        suitable = availability.matching(need.requirement) & availability.reservable() & (codes >= 0)
        used = [each for each in np.unique(codes[suitable]).tolist() if distinct[each] is not None]
        places = np.full(len(distinct) + 1, -1, np.int64)
        places[used] = np.arange(len(used))
        return cls([distinct[each] for each in used], places[codes])

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self.facts)

    def mask(self, number: int) -> Mask:
        """Return which resources have a value."""
        found: Mask = self.codes == number
        return found

    def count(self, units: Numbers, *, is_together: bool) -> Numbers:
        """Return the units on the resources with each value, from those on each resource.

        Args:
            units: The units on each resource, by position.
            is_together: Whether to count only the resource with the most units.
        """
        found = np.zeros(len(self), np.int64)
        has_value = self.codes >= 0
        add = np.maximum if is_together else np.add
        add.at(found, self.codes[has_value], units[has_value])
        return found

    def parts(self, availability: Availability) -> Iterator[Availability]:
        """Yield the resources with each value."""
        for number in range(len(self)):
            yield part_of(availability, self.mask(number))


def most_per_value(units: int, values: int) -> int:
    """Return how many of *units* may have the same value."""
    return -(-units // max(values, 1))


def most_spread(available: Numbers, need: Need, fixed: Numbers | None = None) -> int:
    """Return how many units of a need can be spread over values, 0 if fewer than are needed.

    Args:
        available: The units that are available for each value.
        need: The need.
        fixed: The units with each value that remain in any case.
    """
    fixed = np.zeros(len(available), np.int64) if fixed is None else fixed
    for units in range(min(need.most, int(available.sum())), need.least - 1, -1):
        limits = np.maximum(most_per_value(units, len(available)), fixed)
        if int(np.minimum(limits, available).sum()) >= units:
            return units
    return 0


def distribute(units: int, available: Numbers, begin: Numbers, preferred: Numbers) -> Numbers:
    """Return the units for each value, as even as possible.

    Args:
        units: The number of units to distribute.
        available: The units that are available for each value; enough together.
        begin: The units with each value at the beginning.
        preferred: For each value, the units below which it comes first among values with equally many units.
    """
    found = begin.copy()
    for _ in range(units - int(begin.sum())):
        open_values = np.flatnonzero(found < available)
        is_new = found[open_values] >= preferred[open_values]
        left = available[open_values] - found[open_values]
        order = np.lexsort((-left, is_new, found[open_values]))
        found[open_values[order[0]]] += 1
    return found
