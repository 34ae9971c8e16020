"""The order in which resources are chosen, computed once from their facts and compared as arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from blazar.domain.booking_rows import Mask, Numbers
from blazar.domain.requirements import Fact

if TYPE_CHECKING:
    from blazar.domain.availability import Resource, Shuffle

Positions = NDArray[np.intp]

_FEW: Final = 4
"""A value is scarce if the most common value of its property occurs at least this many times as often."""
_NOT: Final = frozenset({"", "0", "false", "no", "none", "off", "null"})
"""Values, in any case, that mean that a resource does not have a property."""


def scarce_properties(properties: Sequence[Mapping[str, Fact] | None]) -> dict[str, Mask]:
    """Return, for each property with a scarce value, which resources have such a value.

    Resources without the property share one value, which is never scarce. So a rack among racks of equal
    size, or a serial number that differs for each resource, is not scarce; a GPU that few resources have is.

    Args:
        properties: By position; None for a position without a resource.
    """
    present = [each for each in properties if each is not None]
    names = {name for each in present for name in each}
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for each in present:
        for name, value in each.items():
            counts[name][_value(value)] += 1
    found = {}
    for name, values in counts.items():
        values[""] += len(present) - values.total()
        most = max(values.values())
        scarce = {value for value, count in values.items() if value and count * _FEW <= most}
        if scarce:
            found[name] = np.fromiter(
                (each is not None and _value(each.get(name, "")) in scarce for each in properties),
                np.bool_,
                len(properties),
            )
    return found


def size_ranks(sizes: Sequence[tuple[int, ...] | None]) -> Numbers:
    """Return by position the rank of a resource's size; resources without any large amount come first.

    The size of a resource is its largest number relative to the median of that number. So a host with much
    memory is large, even if its other numbers are small.
    """
    known = [each for each in sizes if each is not None]
    middles = [max(1.0, float(median(column))) for column in zip(*known, strict=False)]
    keys = {
        each: (max((number / middle for number, middle in zip(each, middles, strict=False)), default=0), each)
        for each in set(known)
    }
    ranks = {size: rank for rank, size in enumerate(sorted(keys, key=keys.__getitem__))}
    return np.fromiter((0 if each is None else ranks[each] for each in sizes), np.int64, len(sizes))


class Preference:
    """The order of resources, valid until their facts change. Resources are identified by position."""

    def __init__(self, resources: Sequence[Resource | None]) -> None:
        """Compute the order; *resources* has None for a position without a resource."""
        living = [position for position, each in enumerate(resources) if each is not None]
        sizes = [None if each is None else each.size for each in resources]
        self._scarce = scarce_properties([None if each is None else each.properties for each in resources])
        self._scarce_of_all = _sum(self._scarce.values(), len(resources))
        self._largeness = size_ranks(sizes)
        ranks = {size: rank for rank, size in enumerate(sorted({each for each in sizes if each is not None}))}
        self._sizes = np.fromiter(
            (0 if each is None else ranks[each] for each in sizes), np.int64, len(sizes)
        )
        self._stable = np.array(
            sorted(living, key=lambda position: _stable_key(position, resources)), np.intp
        )
        self._places = np.zeros(len(resources), np.int64)
        self._places[self._stable] = np.arange(len(living))

    def in_order(self, mask: Mask, shuffle: Shuffle | None) -> Positions:
        """Return the positions in *mask*, smallest resource first, or shuffled."""
        if shuffle is None:
            return self._stable[mask[self._stable]]
        positions = np.flatnonzero(mask)
        keys = (self._sizes[positions],) if shuffle.equals_only else ()
        return positions[np.lexsort((_drawn(shuffle, len(positions)), *keys))]

    def common_first(self, positions: Positions, asked: Collection[str]) -> Positions:
        """Return positions in their order, except that unrequested scarce properties come last."""
        return positions[np.argsort(self._count_scarce(positions, asked), kind="stable")]

    def best_first(self, positions: Positions, asked: Collection[str], free: Numbers) -> Positions:
        """Return positions ordered by few scarce properties, small size, long free time, stable order.

        Args:
            positions: The positions to sort.
            asked: Names of the requested properties, which do not count as scarce.
            free: By position, how long each resource is free around the window.
        """
        keys = (self._places[positions], -free[positions], self._largeness[positions])
        return positions[np.lexsort((*keys, self._count_scarce(positions, asked)))]

    def best_shuffled(self, positions: Positions, asked: Collection[str], shuffle: Shuffle) -> Positions:
        """Return positions in random order, except that those with scarce properties come last."""
        sizes = (self._largeness[positions],) if shuffle.equals_only else ()
        drawn = _drawn(shuffle, len(positions))
        return positions[np.lexsort((drawn, *sizes, self._count_scarce(positions, asked)))]

    def _count_scarce(self, positions: Positions, asked: Collection[str]) -> Numbers:
        wanted = [self._scarce[name][positions] for name in asked if name in self._scarce]
        return self._scarce_of_all[positions] - _sum(wanted, len(positions))


def _stable_key(position: int, resources: Sequence[Resource | None]) -> tuple[tuple[int, ...], int, str]:
    resource = resources[position]
    assert resource is not None
    number = int(resource.id) if resource.id.isdecimal() else 2**63
    return resource.size, number, "" if resource.id.isdecimal() else resource.id


def _drawn(shuffle: Shuffle, length: int) -> NDArray[np.float64]:
    return np.random.default_rng(shuffle.chance.getrandbits(64)).random(length)


def _value(value: Fact) -> str:
    text = str(value).strip()
    return "" if text.lower() in _NOT else text


def _sum(masks: Iterable[Mask], length: int) -> Numbers:
    total = np.zeros(length, np.int64)
    for each in masks:
        total += each
    return total
