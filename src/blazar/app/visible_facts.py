"""The facts by which a caller may list, group and select resources."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from blazar.booking.context import Plugin
from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask
from blazar.domain.fact_columns import FactColumns
from blazar.domain.requirements import Fact, Requirement, number_of
from blazar.plugins.capabilities import HasCatalogueEntry, RequiresProperties


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleFacts:
    """The facts of a collection at one time, which other threads may change meanwhile."""

    columns: FactColumns
    exists: Mask
    """By position, whether there is a resource."""
    reservable: Mask
    properties: frozenset[str]
    """The names that operators have set, without those that are hidden from the caller."""
    known: frozenset[str]
    """The names of all facts, without those that are hidden from the caller."""
    has_shares: bool
    """Whether parts of a resource can be reserved."""

    def of_type(self, plugin: Plugin) -> VisibleFacts:
        """Return the same of those resources that reservations of a type can hold at all."""
        eligibility = eligibility_of(plugin)
        if not eligibility.conditions:
            return self
        eligible = self.columns.matching(eligibility)
        return replace(self, exists=self.exists & eligible, reservable=self.reservable & eligible)

    def listed(self, plugin: Plugin) -> frozenset[str]:
        """Return the names of facts whose values every caller may see."""
        return self.properties | public_facts(plugin)

    def usable(self, plugin: Plugin) -> frozenset[str]:
        """Return the names of facts that a requirement may name, as in a request for a lease."""
        named = self.known if isinstance(plugin, RequiresProperties) else frozenset()
        return named | public_facts(plugin)


def read_visible_facts(availability: Availability, hidden: frozenset[str]) -> VisibleFacts:
    """Return the facts of a collection without the *hidden* ones. Copies; call it with the index's lock."""
    exists = availability.matching(Requirement())
    resources = [availability.resource_at(each) for each in np.flatnonzero(exists).tolist()]
    return VisibleFacts(
        columns=availability.columns(),
        exists=exists,
        reservable=availability.reservable() & exists,
        properties=frozenset(name for each in resources for name in each.properties) - hidden,
        known=availability.known_facts() - hidden,
        has_shares=any(each.providers for each in resources),
    )


def public_facts(plugin: Plugin) -> frozenset[str]:
    """Return the names of the facts that describe kinds of a type's resources to all lessees."""
    return plugin.public_facts if isinstance(plugin, HasCatalogueEntry) else frozenset()


def eligibility_of(plugin: Plugin) -> Requirement:
    """Return what a resource must satisfy so that reservations of a type can hold it at all."""
    return plugin.eligibility if isinstance(plugin, HasCatalogueEntry) else Requirement()


def is_whole(plugin: Plugin, facts: VisibleFacts) -> bool:
    """Return whether reservations of the type hold whole resources only."""
    return plugin.quota_unit.is_whole or not facts.has_shares


def rank_of(value: Fact) -> tuple[int, Decimal, str]:
    """Return the key by which facts are sorted in lists: numbers by size, then texts, then null."""
    number = None if value is None else number_of(value)
    if number is not None:
        return 0, number, str(value)
    return (2, Decimal(0), "") if value is None else (1, Decimal(0), str(value))
