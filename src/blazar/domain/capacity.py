"""What one slot needs, and how many of them a host has room for.

A slot is the room for one instance. It takes each resource class from one provider of the host's tree,
and nobody here decides from which: Placement does, when the instance is booted. So slots are promised
only where they fit whatever Placement chooses (ADR-0013).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from blazar.domain.providers import HostProvider

Amounts = tuple[tuple[str, int], ...]
"""Pairs of resource class and amount, ascending by class; every amount is positive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What one slot needs. Made by :meth:`of`, so that equal demands are equal values."""

    amounts: Amounts
    required_traits: frozenset[str] = frozenset()
    forbidden_traits: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        amounts: Mapping[str, int],
        required_traits: Iterable[str] = (),
        forbidden_traits: Iterable[str] = (),
    ) -> Demand:
        """Return a demand; classes of which nothing is needed are left out.

        Raises:
            ValueError: Nothing is needed of any class, or less than nothing of one.
        """
        needed = tuple(sorted((name, amount) for name, amount in amounts.items() if amount))
        if not needed or any(amount < 0 for _, amount in needed):
            raise ValueError(f"a slot must need something: {dict(amounts)}")
        return cls(
            amounts=needed,
            required_traits=frozenset(required_traits),
            forbidden_traits=frozenset(forbidden_traits),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of a resource: so many slots, at least one, of one demand."""

    slots: int
    demand: Demand


def count_slots(providers: Sequence[HostProvider], demand: Demand, moments: Iterable[Sequence[Share]]) -> int:
    """Return how many more slots of *demand* a host has room for.

    Args:
        providers: The host's tree.
        demand: What each of them needs.
        moments: Everything else that is promised on the host, at every instant that matters.
    """
    suppliers = _Suppliers(providers)
    if not suppliers.can_serve(demand):
        return 0
    return max(0, min((_room_beside(suppliers, demand, shares) for shares in [(), *moments]), default=0))


def _room_beside(suppliers: _Suppliers, demand: Demand, shares: Sequence[Share]) -> int:
    return min(_room_in_class(suppliers, name, amount, demand, shares) for name, amount in demand.amounts)


def _room_in_class(
    suppliers: _Suppliers, name: str, amount: int, demand: Demand, shares: Sequence[Share]
) -> int:
    """Return how many slots fit as far as one resource class is concerned.

    Of a slot that finds no provider with room, every provider is filled to within less than its
    amount. So it finds one as long as all others together are too few for that. Amounts count in their
    greatest common divisor, which makes that exact where all are alike.
    """
    beside = [
        (each.demand, size, each.slots)
        for each in shares
        for size in (dict(each.demand.amounts).get(name, 0),)
        if size
    ]
    unit = math.gcd(amount, *(size for _, size, _ in beside))
    used = sum(size * slots for _, size, slots in beside) // unit
    room = []
    for each, size in [(demand, amount), *((each, size) for each, size, _ in beside)]:
        needed = size // unit
        blocking = sum(max(0, capacity // unit - needed + 1) for capacity in suppliers.capacities(each, name))
        # used + slots * amount - needed < blocking
        room.append((blocking - 1 + needed - used) * unit // amount)
    return min(room)


class _Suppliers:
    """Which providers of a tree can serve which demand."""

    def __init__(self, providers: Sequence[HostProvider]) -> None:
        self._providers = providers
        self._known: dict[Demand, Mapping[str, tuple[HostProvider, ...]] | None] = {}

    def can_serve(self, demand: Demand) -> bool:
        """Return whether every class has a supplier and every required trait is there."""
        return self._find(demand) is not None

    def capacities(self, demand: Demand, name: str) -> list[int]:
        """Return the capacities, of one class, of the providers that may serve a demand."""
        found = self._find(demand)
        if found is None:
            # It was promised before the host changed. It still is, by whatever has the class.
            return [each.inventories[name].capacity for each in self._providers if name in each.inventories]
        return [each.inventories[name].capacity for each in found[name]]

    def _find(self, demand: Demand) -> Mapping[str, tuple[HostProvider, ...]] | None:
        if demand not in self._known:
            self._known[demand] = self._search(demand)
        return self._known[demand]

    def _search(self, demand: Demand) -> Mapping[str, tuple[HostProvider, ...]] | None:
        found: dict[str, tuple[HostProvider, ...]] = defaultdict(tuple)
        for name, amount in demand.amounts:
            for each in self._providers:
                inventory = each.inventories.get(name)
                if inventory and inventory.gives(amount) and not each.traits & demand.forbidden_traits:
                    found[name] += (each,)
        if len(found) < len(demand.amounts):
            return None
        for trait in sorted(demand.required_traits):
            if not _narrow(found, trait):
                return None
        return found


def _narrow(found: dict[str, tuple[HostProvider, ...]], trait: str) -> bool:
    """Leave to one class only providers with a trait; return whether that is possible.

    Placement asks that any of the providers of an instance has it. A class of which all have it
    already is not narrowed.
    """
    having = {name: tuple(each for each in all_ if trait in each.traits) for name, all_ in found.items()}
    if any(having[name] == found[name] for name in found):
        return True
    chosen = next((name for name in sorted(found) if having[name]), None)
    if chosen is not None:
        found[chosen] = having[chosen]
    return chosen is not None
