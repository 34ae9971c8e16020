"""The choice for several reservations of one request that can use the same resources.

Reservations choose one after the other. An earlier one may take what only a later one can use, or more than
it needs. Then the whole resources that each reservation needs at least are kept for it, preferably those that
are of no use to the others, and the rest is distributed so that all together get as many as possible. That is
exact for whole resources, also next to one reservation of slots. If units must have the same value of a fact,
this is done for one value after the other, which is exact as well. Several reservations of slots or of units
that are spread take turns in several orders, and whole resources are kept out of the way of the first ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations, product
from typing import Any, Final

import numpy as np

from blazar.booking.context import Plugin
from blazar.booking.grouped_choice import choose, count_further_choices, free_units
from blazar.booking.shares import beside, count_units, together
from blazar.booking.specs import need_of
from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask, Numbers
from blazar.domain.errors import Conflict
from blazar.domain.grouped_units import Values, most_per_value, part_of
from blazar.domain.grouping import Grouping
from blazar.domain.joint_units import assign
from blazar.domain.lease import Holdings, ResourceId
from blazar.domain.need import Need
from blazar.domain.search_budget import Budget
from blazar.plugins.contract import Wish

MOST_ORDERS: Final = 6
"""The number of orders that are tried: all orders of up to three reservations."""
MOST_VALUES: Final = 24
"""The number of values, or of combinations of values, that are tried for units with the same value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A reservation of the request, with the resources that exist for it."""

    plugin: Plugin
    wish: Wish[Any]
    grouping: Grouping | None
    view: Availability

    @property
    def need(self) -> Need:
        """Return the need without the units beyond the least."""
        return replace(self.whole_need, most=self.whole_need.least)

    @property
    def whole_need(self) -> Need:
        """Return the need."""
        return need_of(self.plugin, self.wish.spec)

    @property
    def is_plain(self) -> bool:
        """Return whether any whole resources will do that satisfy the requirement."""
        return self.need.demand is None and self.grouping is None

    def count_free(self) -> Numbers:
        """Return how many units each resource has for the reservation."""
        return free_units(self.view, self.need, self.wish, self.view.mask_of(()))


def choose_together(parts: Sequence[Part], budget: Budget) -> Sequence[Holdings] | None:
    """Return the resources of each reservation, as many as possible; None if they do not get their least.

    Args:
        parts: Reservations of one collection, all new. Their views have the same resources.
        budget: The work that may be done.
    """
    best: Sequence[Holdings] | None = None
    most = sum(each.whole_need.most for each in parts)
    for chosen_values in islice(product(*(list(_with_one_value(each)) for each in parts)), MOST_VALUES):
        found = _choose_among(chosen_values, budget)
        if found is not None and (best is None or _total(found) > _total(best)):
            best = found
            if _total(best) == most:
                break
    return best


def _with_one_value(part: Part) -> Iterator[Part]:
    """Yield the reservation restricted to one value of ``same`` each, the values with most units first."""
    grouping = part.grouping
    if grouping is None or grouping.same is None:
        yield part
        return
    values = Values.of(part.view, part.need, grouping.same)
    counts = values.count(part.count_free(), is_together=part.need.is_together)
    for number in np.argsort(-counts, kind="stable").tolist():
        if counts[number] >= part.need.least:
            view = part_of(part.view, values.mask(number))
            yield replace(part, grouping=grouping.within_value, view=view)


def _choose_among(parts: Sequence[Part], budget: Budget) -> Sequence[Holdings] | None:
    units = [each.count_free() for each in parts]
    others = [number for number, each in enumerate(parts) if not each.is_plain]
    losses = {each: _loss(parts[each], units[each]) for each in others}
    best: Sequence[Holdings] | None = None
    for order, costs in _attempts(losses, len(units[0])):
        kept = _kept_for(parts, units, costs)
        if kept is None:
            return None
        if not budget.has_choices():
            break
        chosen = _choose_in_turn(parts, order, kept, {}, budget)
        if chosen is not None:
            # Each has its own now; what is left is for those that can have more.
            kept = _distributed(parts, units, kept, chosen)
            chosen = _choose_in_turn(parts, list(kept), kept, chosen, budget)
        if chosen is None:
            continue
        found = [chosen[number] for number in range(len(parts))]
        if best is None or _total(found) > _total(best):
            best = found
        if _total(best) == sum(each.whole_need.most for each in parts):
            break
    return best


def _attempts(losses: Mapping[int, Numbers], resources: int) -> Iterator[tuple[Sequence[int], Numbers]]:
    """Yield orders of reservations, each with what it costs them if a whole resource is kept for another one.

    Args:
        losses: What the use of each resource costs each reservation.
        resources: The number of resources.
    """
    together = sum(losses.values(), np.zeros(resources, np.int64))
    orders = list(islice(permutations(losses), MOST_ORDERS))
    yield from ((order, together) for order in orders)
    if len(losses) > 1:
        # What one of them can spare easily may be all that another one has, so the first one comes first.
        for order in orders:
            costs = np.empty(resources, np.int64)
            costs[np.lexsort([losses[each] for each in reversed(order)])] = np.arange(resources)
            yield order, costs


def _total(chosen: Sequence[Holdings]) -> int:
    return sum(map(count_units, chosen))


def _choose_in_turn(
    parts: Sequence[Part],
    order: Sequence[int],
    kept: Mapping[int, frozenset[ResourceId]],
    before: Mapping[int, Holdings],
    budget: Budget,
) -> Mapping[int, Holdings] | None:
    """Return what reservations choose next to those before them; None if one does not get its least."""
    chosen = dict(before)
    for number in order:
        part = parts[number]
        of_others = [ids for each, ids in kept.items() if each != number]
        wish = replace(
            part.wish,
            excluded=part.wish.excluded.union(*of_others),
            beside=together(part.wish.beside, beside(chosen.values())),
        )
        budget.choices -= 1
        try:
            chosen[number] = choose(part.plugin, wish, part.view, part.grouping)
        except Conflict:
            return None
        budget.choices -= count_further_choices(part.view, part.grouping, chosen[number])
    return chosen


def _kept_for(
    parts: Sequence[Part], units: Sequence[Numbers], costs: Numbers
) -> Mapping[int, frozenset[ResourceId]] | None:
    """Return the whole resources to keep for each reservation of any; None if there are not enough."""
    plain = [number for number, each in enumerate(parts) if each.is_plain]
    if not plain:
        return {}
    masks = assign([units[each] > 0 for each in plain], [parts[each].need.least for each in plain], costs)
    return None if masks is None else _ids(parts, plain, masks)


def _distributed(
    parts: Sequence[Part],
    units: Sequence[Numbers],
    plain: Collection[int],
    chosen: Mapping[int, Holdings],
) -> Mapping[int, frozenset[ResourceId]]:
    """Return the whole resources for each reservation of any, beside what the other reservations chose."""
    if not plain:
        return {}
    left = ~parts[0].view.mask_of(beside(chosen.values()))
    usable = [left & (units[each] > 0) for each in plain]
    least = [parts[each].need.least for each in plain]
    more = [parts[each].whole_need.most - parts[each].need.least for each in plain]
    masks = assign(usable, least, np.zeros(len(left), np.int64), more=more)
    assert masks is not None, "the least was kept"
    return _ids(parts, plain, masks)


def _ids(
    parts: Sequence[Part], plain: Collection[int], masks: Sequence[Mask]
) -> Mapping[int, frozenset[ResourceId]]:
    view = parts[0].view
    return {
        number: frozenset(view.resource_at(each).id for each in np.flatnonzero(mask).tolist())
        for number, mask in zip(plain, masks, strict=True)
    }


def _loss(part: Part, units: Numbers) -> Numbers:
    """Return how many units a reservation would lose with each resource.

    Of resources with one value of ``spread``, the losses are those of one after the other, smallest first.
    """
    need, grouping = part.need, part.grouping
    if need.is_together:
        return (units >= need.least).astype(np.int64)
    if need.is_apart:
        units = np.minimum(units, 1)
    if grouping is None or grouping.spread is None:
        return units
    values, losses = Values.of(part.view, need, grouping.spread), np.zeros(len(units), np.int64)
    most = most_per_value(need.least, len(values))
    for number in range(len(values)):
        own = np.flatnonzero(values.mask(number))
        own = own[np.argsort(units[own], kind="stable")]
        left = np.minimum(np.cumsum(units[own][::-1])[::-1], most)
        losses[own] = left - np.append(left[1:], 0)
    return losses
