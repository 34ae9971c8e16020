"""The choice for several reservations of one request that can use the same resources.

Reservations choose one after the other. If one is refused, an earlier one may have taken what only that one
can use, or more than it needs. Then the whole resources that each reservation needs at least are kept for it,
preferably those that are of no use to the others, and each chooses among the rest and its own. That is exact
for whole resources, also next to one reservation of slots. Several reservations of slots or of grouped units
take turns in several orders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations
from typing import Any, Final

import numpy as np

from blazar.booking.context import Plugin
from blazar.booking.grouped_choice import choose, free_units
from blazar.booking.shares import beside, together
from blazar.booking.specs import need_of
from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Numbers
from blazar.domain.errors import Conflict
from blazar.domain.grouping import Grouping
from blazar.domain.joint_units import assign
from blazar.domain.lease import Holdings, ResourceId
from blazar.domain.need import Need
from blazar.plugins.contract import Wish

MOST_ORDERS: Final = 6
"""The number of orders that are tried: all orders of up to three reservations."""


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
        need = need_of(self.plugin, self.wish.spec)
        return replace(need, most=need.least)

    @property
    def is_plain(self) -> bool:
        """Return whether any whole resources will do that satisfy the requirement."""
        return self.need.demand is None and self.grouping is None


def choose_together(parts: Sequence[Part]) -> Sequence[Holdings] | None:
    """Return the resources of each reservation; None if not all were found.

    Args:
        parts: Reservations of one collection, all new. Their views have the same resources.
    """
    kept = _kept_for(parts)
    if kept is None:
        return None
    plain = [number for number, each in enumerate(parts) if each.is_plain]
    others = [number for number, each in enumerate(parts) if not each.is_plain]
    for order in islice(permutations(others), MOST_ORDERS):
        chosen = _choose_in_turn(parts, [*order, *plain], kept)
        if chosen is not None:
            return [chosen[number] for number in range(len(parts))]
    return None


def _choose_in_turn(
    parts: Sequence[Part], order: Sequence[int], kept: Mapping[int, frozenset[ResourceId]]
) -> Mapping[int, Holdings] | None:
    chosen: dict[int, Holdings] = {}
    for number in order:
        part = parts[number]
        of_others = [ids for each, ids in kept.items() if each != number]
        wish = replace(
            part.wish,
            excluded=part.wish.excluded.union(*of_others),
            beside=together(part.wish.beside, beside(chosen.values())),
        )
        try:
            chosen[number] = choose(part.plugin, wish, part.view, part.grouping)
        except Conflict:
            return None
    return chosen


def _kept_for(parts: Sequence[Part]) -> Mapping[int, frozenset[ResourceId]] | None:
    """Return the whole resources to keep for each reservation; None if there are not enough."""
    units = [free_units(each.view, each.need, each.wish, each.view.mask_of(())) for each in parts]
    plain = [number for number, each in enumerate(parts) if each.is_plain]
    if not plain:
        return {}
    costs = sum(
        (_value(parts[each].need, units[each]) for each in range(len(parts)) if each not in plain),
        np.zeros(len(units[0]), np.int64),
    )
    masks = assign([units[each] > 0 for each in plain], [parts[each].need.least for each in plain], costs)
    if masks is None:
        return None
    view = parts[0].view
    return {
        number: frozenset(view.resource_at(each).id for each in np.flatnonzero(mask).tolist())
        for number, mask in zip(plain, masks, strict=True)
    }


def _value(need: Need, units: Numbers) -> Numbers:
    """Return of how much use each resource is for a need."""
    return (units >= need.least).astype(np.int64) if need.is_together else units
