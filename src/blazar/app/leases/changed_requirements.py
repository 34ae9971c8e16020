"""Changes of the requirements of a refused request, each of which may be granted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

import numpy as np

from blazar.app.leases.groupings import GROUPING_KEYS
from blazar.app.leases.requests import JsonObject
from blazar.booking.context import Context
from blazar.booking.search import Search
from blazar.booking.specs import requirement_of
from blazar.domain.requirements import Condition, Operator, Requirement, text_of
from blazar.domain.short_expressions import render_short
from blazar.plugins.capabilities import RequiresProperties, SuggestsOtherTypes

_VALUES_TRIED: Final = 4
"""Other values of one property."""
_FACTS_READ: Final = 1000
"""Resources whose facts a plugin sees when it suggests other types."""

Changes = Mapping[int, JsonObject]
"""Keys of reservations to change, by their place in the request."""
Candidate = tuple[str, Changes]
"""A summary of a change, and the change, which may not be granted."""


class ChangedRequirements:
    """Requests that differ from a refused one in a requirement, a grouping or a resource type."""

    def __init__(self, context: Context, searches: Sequence[Search], binding: Sequence[int]) -> None:
        """Create an object for a request.

        Args:
            context: The context, whose indexes have been read.
            searches: The searches of the reservations.
            binding: The numbers of the reservations that were refused.
        """
        self._context = context
        self._searches = searches
        self._binding = binding

    def other_values(self) -> Iterator[Candidate]:
        """Return requests for another value of a property, the most common values first."""
        for number, plugin, requirement in self._requirements():
            for place, term in enumerate(requirement.conditions):
                if not isinstance(term, Condition) or term.operator is not Operator.EQ:
                    continue
                others = _without(requirement, place)
                for value in islice(self._values(number, term, others), _VALUES_TRIED):
                    changed = others & Requirement((replace(term, value=value),))
                    summary = f"{term.key}={value} instead of {term.value}"
                    yield summary, {number: plugin.change_requirement(changed)}

    def _values(self, number: int, term: Condition, others: Requirement) -> Iterator[str]:
        """Return values that operators have set for the term's property, the most common ones first.

        They are those of resources that satisfy the other conditions. Other facts, such as a name, have none.
        """
        search = self._searches[number]
        with self._context.indexes[search.plugin.collection].searching_on() as everything:
            availability = search.visible(self._context, everything)
            wanted = np.flatnonzero(availability.matching(others) & availability.reservable())
            found = [availability.resource_at(each).properties.get(term.key) for each in wanted.tolist()]
        values = Counter(text_of(each) for each in found if each is not None)
        for value in sorted(values, key=lambda each: (-values[each], each)):
            if not term.holds(value):
                yield value

    def without_condition(self) -> Iterator[Candidate]:
        """Return requests without one of the conditions."""
        for number, plugin, requirement in self._requirements():
            for place, term in enumerate(requirement.conditions):
                changed = plugin.change_requirement(_without(requirement, place))
                yield f"without the condition {render_short(term)}", {number: changed}

    def without_grouping(self) -> Iterator[Candidate]:
        """Return requests whose units may be on any resources."""
        for number in self._binding:
            grouping = self._searches[number].grouping
            for key in () if grouping is None else GROUPING_KEYS:
                if (value := getattr(grouping, key)) is not None:
                    yield f"without {key}={value}", {number: {key: None}}

    def other_types(self) -> Iterator[Candidate]:
        """Return requests with another resource type in place of a reservation that was refused."""
        for number in self._binding:
            search = self._searches[number]
            plugin, grouping = search.plugin, search.grouping
            if not isinstance(plugin, SuggestsOtherTypes):
                continue
            with self._context.indexes[plugin.collection].searching_on() as everything:
                availability = search.visible(self._context, everything)
                requirement = requirement_of(plugin, search.wish.spec)
                wanted = np.flatnonzero(availability.matching(requirement) & availability.reservable())
                facts = [availability.resource_at(each).facts for each in wanted[:_FACTS_READ].tolist()]
            kept = {key: value for key in GROUPING_KEYS if (value := getattr(grouping, key, None))}
            for summary, body in plugin.other_types(search.wish.spec, facts):
                if body["resource_type"] in self._context.plugins:
                    yield summary, {number: {**body, **kept}}

    def _requirements(self) -> Iterator[tuple[int, RequiresProperties[Any], Requirement]]:
        """Return the requirements of reservations that were refused, each with its plugin."""
        for number in self._binding:
            plugin, spec = self._searches[number].plugin, self._searches[number].wish.spec
            if isinstance(plugin, RequiresProperties):
                yield number, plugin, requirement_of(plugin, spec)


def _without(requirement: Requirement, place: int) -> Requirement:
    terms = requirement.conditions
    return replace(requirement, conditions=(*terms[:place], *terms[place + 1 :]))
