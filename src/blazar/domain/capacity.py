"""The demand of one slot, and the number of slots that a host has capacity for.

A slot is the capacity for one instance. It takes each resource class, and each group of classes that belong
together, from one provider of the host's tree. Placement chooses the providers when the instance is booted,
so slots are reserved only if they fit whatever Placement chooses (ADR-0013).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from blazar.domain.providers import HostProvider

Amounts = tuple[tuple[str, int], ...]
"""Pairs of resource class and amount, ascending by class; every amount is positive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Amounts that one provider must supply together, and the traits that it must have or lack.

    Nova calls this a numbered, or suffixed, request group.
    """

    amounts: Amounts
    required_traits: frozenset[str] = frozenset()
    forbidden_traits: frozenset[str] = frozenset()


def encode_group(group: Group) -> dict[str, object]:
    """Return a group as JSON; empty traits are omitted."""
    stored: dict[str, object] = {"amounts": dict(group.amounts)}
    if group.required_traits:
        stored["required"] = sorted(group.required_traits)
    if group.forbidden_traits:
        stored["forbidden"] = sorted(group.forbidden_traits)
    return stored


def decode_group(stored: Mapping[str, Any]) -> Group:
    """Return the group that :func:`encode_group` wrote."""
    return Group(
        amounts=tuple(sorted(stored["amounts"].items())),
        required_traits=frozenset(stored.get("required", ())),
        forbidden_traits=frozenset(stored.get("forbidden", ())),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """The needs of one slot. Use :meth:`of` to create it, so that equal demands are equal values.

    The traits apply to amounts outside groups; each group has its own.
    """

    amounts: Amounts
    """Everything that a slot takes, including its groups."""
    required_traits: frozenset[str] = frozenset()
    forbidden_traits: frozenset[str] = frozenset()
    groups: tuple[Group, ...] = ()
    is_isolated: bool = False
    """True if every group must come from a different provider."""

    @classmethod
    def of(
        cls,
        amounts: Mapping[str, int],
        required_traits: Iterable[str] = (),
        forbidden_traits: Iterable[str] = (),
        *,
        groups: Iterable[Group] = (),
        is_isolated: bool = False,
    ) -> Demand:
        """Return a demand; classes with the amount 0 are omitted.

        Args:
            amounts: Amounts outside the groups.
            required_traits: Traits that a provider of one of these amounts must have.
            forbidden_traits: Traits that no provider of these amounts may have.
            groups: Amounts that must come from one provider each; in any order.
            is_isolated: Whether these must be different providers.

        Raises:
            ValueError: All amounts are 0, or one is negative.
        """
        parts = tuple(sorted(groups, key=repr))
        total = Counter({name: amount for name, amount in amounts.items() if amount})
        for group in parts:
            total.update(dict(group.amounts))
        if not total or any(amount < 0 for amount in amounts.values()):
            raise ValueError(f"a slot needs an amount above 0, and no negative one: {dict(amounts)}")
        return cls(
            amounts=tuple(sorted(total.items())),
            required_traits=frozenset(required_traits),
            forbidden_traits=frozenset(forbidden_traits),
            groups=parts,
            is_isolated=is_isolated and len(parts) > 1,
        )

    @property
    def ungrouped(self) -> Amounts:
        """Return the amounts that a slot takes outside its groups."""
        left = Counter(dict(self.amounts))
        for group in self.groups:
            left.subtract(dict(group.amounts))
        return tuple((name, amount) for name, amount in sorted(left.items()) if amount)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of a resource: a number of slots, at least one, of one demand."""

    slots: int
    demand: Demand


def count_slots(providers: Sequence[HostProvider], demand: Demand, moments: Iterable[Sequence[Share]]) -> int:
    """Return the number of further slots of *demand* that a host has capacity for.

    Args:
        providers: The host's tree.
        demand: The needs of each slot.
        moments: All other shares reserved on the host, at every relevant instant.
    """
    suppliers = _Suppliers(providers)
    if not suppliers.can_serve(demand):
        return 0
    return max(0, min((_headroom_beside(suppliers, demand, shares) for shares in [(), *moments]), default=0))


def _headroom_beside(suppliers: _Suppliers, demand: Demand, shares: Sequence[Share]) -> int:
    """Return the number of slots that fit in addition to *shares*; negative if not even these fit.

    Another slot fits if, for every part of every slot, the rest of the host's load cannot occupy all
    providers that could serve the part.
    """
    demands = {demand, *(each.demand for each in shares)}
    load = _Load(suppliers, demand, shares, demands)
    names = {name for name, _ in demand.amounts}
    return min(
        load.headroom_of(part)
        for each in demands
        for part in suppliers.parts(each)
        if any(name in names for name, _ in part.amounts)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Amounts of one slot that come from one provider, and the providers that can serve them."""

    amounts: Amounts
    providers: tuple[HostProvider, ...]
    siblings: tuple[Amounts, ...] = ()
    """Other groups of the same slot, each of which excludes the one provider that serves it."""


class _Load:
    """The load of a host in addition to new slots of one demand.

    Amounts of a class are counted in units of their greatest common divisor, so that the count is exact if
    all are equal.
    """

    def __init__(
        self, suppliers: _Suppliers, demand: Demand, shares: Sequence[Share], demands: Iterable[Demand]
    ) -> None:
        sizes: dict[str, set[int]] = defaultdict(set)
        for each in demands:
            for part in suppliers.parts(each):
                for name, size in part.amounts:
                    sizes[name].add(size)
        self._units = {name: math.gcd(*found) for name, found in sizes.items()}
        self._added = dict(demand.amounts)
        self._used: Counter[str] = Counter()
        for share in shares:
            self._used.update({name: size * share.slots for name, size in share.demand.amounts})

    def headroom_of(self, part: _Part) -> int:
        """Return how many new slots leave a provider for *part*; -1 if even none of them do."""
        if len(part.amounts) == 1 and not part.siblings:
            ((name, size),) = part.amounts
            if name in self._added:
                unit = self._units[name]
                used, needed = self._used[name] // unit, size // unit
                # used + slots * added - needed < the amount that would occupy every provider
                return (sum(self._costs(part, name, size)) - 1 + needed - used) * unit // self._added[name]
        # Each new slot takes at least one unit of one of the part's classes.
        most = 1 + sum(
            max(0, each.inventories[name].capacity) for each in part.providers for name, _ in part.amounts
        )
        return bisect_left(range(most), True, key=lambda slots: not self._has_provider(part, slots)) - 1

    def _has_provider(self, part: _Part, slots: int) -> bool:
        """Return whether *slots* new slots leave a provider for *part*, wherever all other load is.

        A provider is occupied if it lacks any of the classes, so the counts per class add up.
        """
        occupied = len(part.siblings)
        for name, size in part.amounts:
            unit = self._units[name]
            own = size + sum(dict(each).get(name, 0) for each in part.siblings)
            others = (self._used[name] + slots * self._added.get(name, 0) - own) // unit
            prefixes = accumulate(sorted(self._costs(part, name, size)))
            occupied += sum(cost <= others or cost <= 0 for cost in prefixes)
        return occupied < len(part.providers)

    def _costs(self, part: _Part, name: str, size: int) -> Iterator[int]:
        """Yield for each provider the units of a class that others must take to leave less than *size*."""
        unit = self._units[name]
        for each in part.providers:
            yield max(0, each.inventories[name].capacity // unit - size // unit + 1)


class _Suppliers:
    """The providers of a tree that can serve each demand."""

    def __init__(self, providers: Sequence[HostProvider]) -> None:
        self._providers = providers
        self._known: dict[Demand, tuple[_Part, ...] | None] = {}

    def can_serve(self, demand: Demand) -> bool:
        """Return whether every part of a slot has a provider, with every required trait."""
        return self._find(demand) is not None

    def parts(self, demand: Demand) -> tuple[_Part, ...]:
        """Return the parts of one slot, each with the providers that can serve it."""
        found = self._find(demand)
        if found is None:
            # The slot was reserved before the host changed. Any provider with the class now serves it.
            return tuple(
                _Part(
                    amounts=((name, amount),),
                    providers=tuple(each for each in self._providers if name in each.inventories),
                )
                for name, amount in demand.amounts
            )
        return found

    def _find(self, demand: Demand) -> tuple[_Part, ...] | None:
        if demand not in self._known:
            self._known[demand] = self._search(demand)
        return self._known[demand]

    def _search(self, demand: Demand) -> tuple[_Part, ...] | None:
        parts = [
            _Part(amounts=((name, amount),), providers=self._serving(((name, amount),), demand))
            for name, amount in demand.ungrouped
        ]
        if not all(part.providers for part in parts):
            return None
        for trait in sorted(demand.required_traits):
            if not _narrow(parts, trait):
                return None
        for number, group in enumerate(demand.groups):
            others = (*demand.groups[:number], *demand.groups[number + 1 :]) if demand.is_isolated else ()
            providers = tuple(
                each for each in self._serving(group.amounts, group) if group.required_traits <= each.traits
            )
            if len(providers) <= len(others):
                return None
            siblings = tuple(each.amounts for each in others)
            parts.append(_Part(amounts=group.amounts, providers=providers, siblings=siblings))
        return tuple(parts)

    def _serving(self, amounts: Amounts, wish: Demand | Group) -> tuple[HostProvider, ...]:
        """Return the providers that have no forbidden trait and can supply all of these amounts."""
        return tuple(
            each
            for each in self._providers
            if not each.traits & wish.forbidden_traits
            and all(name in each.inventories and each.inventories[name].gives(n) for name, n in amounts)
        )


def _narrow(parts: list[_Part], trait: str) -> bool:
    """Restrict one part to providers with a trait; return whether that is possible.

    Placement requires that any one provider of the amounts outside groups has the trait. If all providers of
    a part have it already, nothing is restricted.
    """
    having = [tuple(each for each in part.providers if trait in each.traits) for part in parts]
    if any(found == part.providers for found, part in zip(having, parts, strict=True)):
        return True
    for index, found in enumerate(having):
        if found:
            parts[index] = replace(parts[index], providers=found)
            return True
    return False
