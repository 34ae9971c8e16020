"""The supply of a host, as Placement reports it: its tree of resource providers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """A provider's amount of one resource class, as in Placement."""

    total: int
    reserved: int = 0
    min_unit: int = 1
    max_unit: int = 2**31 - 1
    step_size: int = 1
    allocation_ratio: float = 1.0

    @property
    def capacity(self) -> int:
        """Return the total amount that can be allocated; rounded down, as in Placement."""
        return int((self.total - self.reserved) * self.allocation_ratio)

    def gives(self, amount: int) -> bool:
        """Return whether a single request may ask for this amount, regardless of the free amount."""
        return self.min_unit <= amount <= self.max_unit and amount % self.step_size == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProvider:
    """One resource provider of a host, as Placement reported it: its root, a NUMA node, a device."""

    uuid: str
    name: str
    parent_uuid: str | None = None
    inventories: Mapping[str, Inventory] = field(default_factory=dict)
    traits: frozenset[str] = frozenset()
