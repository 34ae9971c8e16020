"""The inventories of many hosts by resource class, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from blazar.domain.booking_rows import Mask, Numbers
from blazar.domain.capacity import Demand
from blazar.domain.providers import HostProvider, Inventory

Tree = tuple[HostProvider, ...]
"""The providers of a host, root first; empty if they are unknown."""

_NONE = Inventory(total=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RootInventory:
    capacity: Numbers
    min_unit: Numbers
    max_unit: Numbers
    step_size: Numbers


class InventoryArrays:
    """The inventories of hosts, by position; computed on first use.

    Most hosts have one provider, so their inventory is one number per class. A host is *intricate* for a
    demand that cannot be judged by its root alone; then ``count_slots`` must examine its tree.
    """

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.trees = trees
        self._roots: dict[str, _RootInventory] = {}
        self._masks: dict[tuple[str, str], Mask] = {}
        self._totals: dict[str, Numbers] = {}

    def intricate(self, demand: Demand) -> Mask:
        """Return which hosts have a relevant class or trait below their roots; with groups, all hosts."""
        mask = np.full(len(self.trees), bool(demand.groups), np.bool_)
        for name, _ in demand.amounts:
            mask |= self._mask("class", name, lambda tree, key: any(key in p.inventories for p in tree[1:]))
        for trait in demand.required_traits | demand.forbidden_traits:
            mask |= self._mask("below", trait, lambda tree, key: any(key in p.traits for p in tree[1:]))
        return mask

    def suitable(self, demand: Demand) -> Mask:
        """Return which roots have all required traits and no forbidden one."""
        mask = np.ones(len(self.trees), np.bool_)
        for trait in demand.required_traits:
            mask &= self._root_has(trait)
        for trait in demand.forbidden_traits:
            mask &= ~self._root_has(trait)
        return mask

    def usable(self, demand: Demand) -> Mask:
        """Return which hosts have suitable roots, or trees that must be examined."""
        return self.intricate(demand) | self.suitable(demand)

    def bounds(self, demand: Demand) -> tuple[Numbers, ...]:
        """Return the capacity of each class of a demand, in its order.

        On intricate hosts, it is that of all providers together, which is an upper bound: no choice by
        Placement gives more.
        """
        intricate = self.intricate(demand)
        roots = [self.capacity(name, amount) for name, amount in demand.amounts]
        if not intricate.any():
            return tuple(roots)
        totals = [self.total(name) for name, _ in demand.amounts]
        return tuple(np.where(intricate, *each) for each in zip(totals, roots, strict=True))

    def capacity(self, resource_class: str, amount: int) -> Numbers:
        """Return the roots' capacities of a class; 0 if *amount* is not an allowed amount."""
        inventory = self._root(resource_class)
        gives = (
            (inventory.min_unit <= amount)
            & (amount <= inventory.max_unit)
            & (amount % inventory.step_size == 0)
        )
        return np.where(gives, inventory.capacity, 0)

    def total(self, resource_class: str) -> Numbers:
        """Return each tree's total capacity of a class, over all its providers."""
        found = self._totals.get(resource_class)
        if found is None:
            found = self._totals[resource_class] = np.fromiter(
                (
                    sum(
                        max(0, each.inventories[resource_class].capacity)
                        for each in tree
                        if resource_class in each.inventories
                    )
                    for tree in self.trees
                ),
                np.int64,
                len(self.trees),
            )
        return found

    def _root_has(self, trait: str) -> Mask:
        return self._mask("root", trait, lambda tree, key: bool(tree) and key in tree[0].traits)

    def _mask(self, kind: str, key: str, has: Callable[[Tree, str], bool]) -> Mask:
        mask = self._masks.get((kind, key))
        if mask is None:
            mask = np.fromiter((has(tree, key) for tree in self.trees), np.bool_, len(self.trees))
            self._masks[kind, key] = mask
        return mask

    def _root(self, resource_class: str) -> _RootInventory:
        inventory = self._roots.get(resource_class)
        if inventory is None:
            found = [tree[0].inventories.get(resource_class, _NONE) if tree else _NONE for tree in self.trees]
            inventory = self._roots[resource_class] = _RootInventory(
                capacity=np.array([each.capacity for each in found], np.int64),
                min_unit=np.array([each.min_unit for each in found], np.int64),
                max_unit=np.array([each.max_unit for each in found], np.int64),
                step_size=np.array([each.step_size for each in found], np.int64),
            )
        return inventory
