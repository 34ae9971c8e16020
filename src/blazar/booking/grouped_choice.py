"""Choice of resources that share one value of a fact, or are spread over its values.

A plugin chooses among the resources that it is shown. So grouping needs no support from the plugin: it is
shown only the resources with one value, and asked for the number of units that are to have this value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from blazar.booking.context import Plugin
from blazar.booking.specs import need_of
from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask, Numbers
from blazar.domain.capacity import Share
from blazar.domain.errors import InvalidParameter, NotEnoughResources, rebuild
from blazar.domain.grouped_units import Values, distribute, most_per_value, most_spread, part_of
from blazar.domain.grouping import Grouping
from blazar.domain.lease import Holdings
from blazar.domain.need import Need
from blazar.plugins.capabilities import StatesNeed
from blazar.plugins.contract import Wish


def choose(plugin: Plugin, wish: Wish[Any], view: Availability, grouping: Grouping | None) -> Holdings:
    """Return the resources that a reservation holds from now on; kept ones come first.

    Args:
        plugin: The plugin of its type.
        wish: The window and the present holdings.
        view: All resources.
        grouping: How the units are distributed over values of facts; None for any way.

    Raises:
        NotEnoughResources: Not enough resources are available.
        Conflict, BadRequest: As :meth:`ResourcePlugin.choose`.
        InvalidParameter: No resource has a fact of the grouping, or the caller may not see it.
    """
    if grouping is None:
        return plugin.choose(wish, view)
    known = view.known_facts() - wish.hidden
    for name, key in (("same", grouping.same), ("spread", grouping.spread)):
        if key is not None and key not in known:
            raise InvalidParameter(name, f"no resource has a property named {key[:64]}")
    choice = _Choice(plugin, wish, view)
    return choice.of_one_value(grouping) if grouping.same is not None else choice.spread(grouping)


def count_further_choices(view: Availability, grouping: Grouping | None, chosen: Holdings) -> int:
    """Return how many choices :func:`choose` made beyond the first one: one for each value of ``spread``."""
    if grouping is None or grouping.spread is None:
        return 0
    _, codes = view.columns().values(grouping.spread)
    return len(np.unique(codes[view.mask_of(chosen)])) - 1


def most_grouped(plugin: Plugin, wish: Wish[Any], view: Availability, grouping: Grouping) -> int:
    """Return how many units a new reservation could get if it were satisfied with fewer."""
    need, inner = replace(need_of(plugin, wish.spec), least=1), grouping.within_value
    if grouping.same is not None and inner is not None:
        parts = Values.of(view, need, grouping.same).parts(view)
        return max((most_grouped(plugin, wish, each, inner) for each in parts), default=0)
    values = Values.of(view, need, grouping.keys[0])
    units = free_units(view, need, wish, view.mask_of(()))
    available = values.count(units, is_together=need.is_together)
    if grouping.spread is not None:
        return most_spread(available, need)
    return min(need.most, int(available.max(initial=0)))


class _Choice:
    """The choice for one wish among some resources."""

    def __init__(self, plugin: Plugin, wish: Wish[Any], view: Availability) -> None:
        self._plugin = plugin
        self._wish = wish
        self._view = view
        self._need = need_of(plugin, wish.spec)
        self._held = view.mask_of(wish.held)
        self._units = free_units(view, self._need, wish, self._held)

    def of_one_value(self, grouping: Grouping) -> Holdings:
        """Return resources that all have one value; an active reservation keeps the values that it has.

        Values with the most units of the reservation come first, then those with as few free units as
        possible, so that larger groups remain for reservations that need them.
        """
        assert grouping.same is not None
        wish, inner = self._wish, grouping.within_value
        values = Values.of(self._view, self._need, grouping.same)
        if wish.is_active and wish.held:
            kept = np.isin(values.codes, np.unique(values.codes[self._held])) & (values.codes >= 0)
            return choose(self._plugin, wish, part_of(self._view, kept | self._held), inner)
        available = values.count(self._units, is_together=self._need.is_together)
        for number in self._in_order(values, available):
            try:
                return choose(self._plugin, wish, part_of(self._view, values.mask(number)), inner)
            except NotEnoughResources:
                continue
        raise self._shortage(
            f"{self._need.least} asked for with the same {grouping.same}; at most"
            f" {available.max(initial=0)} with one value of it",
            int(available.max(initial=0)),
        )

    def _in_order(self, values: Values, available: Numbers) -> Sequence[int]:
        """Return the values with enough units, most preferable first."""
        held = values.count(self._held.astype(np.int64), is_together=False)
        enough = np.flatnonzero(available >= self._need.least)
        is_less = available[enough] < self._need.most
        order = np.where(is_less, -available[enough], available[enough])
        keys = [np.arange(len(enough)), order, is_less, -held[enough]]
        if (shuffle := self._wish.shuffle) is not None:
            chances = np.array([shuffle.chance.random() for _ in enough])
            keys[0] = chances
            if not shuffle.equals_only:
                keys[1] = np.where(is_less, order, 0)
        found: Sequence[int] = enough[np.lexsort(keys)].tolist()
        return found

    def spread(self, grouping: Grouping) -> Holdings:
        """Return resources spread over values; an active reservation keeps what it has."""
        assert grouping.spread is not None
        wish, values = self._wish, Values.of(self._view, self._need, grouping.spread)
        available = values.count(self._units, is_together=False)
        held = values.count(self._held_units(), is_together=False)
        apart = self._held & (values.codes < 0)
        if wish.is_active and (apart.any() or self._need.most < int(held.sum())):
            # The reservation shrinks, or operators removed the property: choose only among what it holds.
            return self._plugin.choose(wish, part_of(self._view, self._held))
        fixed = held if wish.is_active else np.zeros(len(values), np.int64)
        while units := most_spread(available, self._need, fixed):
            limits = np.minimum(available, np.maximum(most_per_value(units, len(values)), fixed))
            begin = np.minimum(held, limits)
            if int(begin.sum()) > units:
                begin = fixed
            chosen = self._chosen(values, distribute(units, limits, begin, held), available)
            if chosen is not None:
                return dict(sorted(chosen.items(), key=lambda each: each[0] not in wish.held))
        most = most_spread(available, replace(self._need, least=1))
        limit = most_per_value(self._need.least, len(values))
        raise self._shortage(
            f"{self._need.least} asked for, spread over {grouping.spread} with at most {limit} for each value"
            f" of it; at most {most}",
            most,
        )

    def _chosen(self, values: Values, units: Numbers, available: Numbers) -> dict[Any, Share | None] | None:
        """Return *units* of each value; if a value has fewer, correct *available* and return None."""
        found: dict[Any, Share | None] = {}
        for number in np.flatnonzero(units).tolist():
            part = values.mask(number)
            held = {
                key: share
                for key, share in self._wish.held.items()
                if (position := self._view.position_of(key)) is not None and part[position]
            }
            spec = self._with_units(int(units[number]))
            try:
                chosen = self._plugin.choose(
                    replace(self._wish, spec=spec, held=held), part_of(self._view, part)
                )
            except NotEnoughResources:
                available[number] = units[number] - 1
                return None
            found.update(chosen)
        return found

    def _with_units(self, units: int) -> Any:
        assert isinstance(self._plugin, StatesNeed)
        changes = self._plugin.change_need(units)
        return self._plugin.revise(self._wish.spec, changes, is_active=self._wish.is_active)

    def _held_units(self) -> Numbers:
        """Return the units that the reservation holds on each resource and that are available to it."""
        held = np.zeros(len(self._units), np.int64)
        for key, share in self._wish.held.items():
            if (position := self._view.position_of(key)) is not None:
                held[position] = 1 if share is None else share.slots
        return held if self._wish.is_active else np.minimum(held, self._units)

    def _shortage(self, what: str, available: int) -> NotEnoughResources:
        """Return the error of the type for too few resources, with another text."""
        nothing = part_of(self._view, np.zeros(len(self._units), np.bool_))
        window = self._wish.window
        try:
            self._plugin.choose(replace(self._wish, held={}, is_active=False), nothing)
        except NotEnoughResources as error:
            message = (
                f"{error.message.partition(':')[0]}: {what} fit and are free from"
                f" {window.start:%Y-%m-%d %H:%M} to {window.end:%Y-%m-%d %H:%M} UTC"
            )
            fields = {**error.fields, "available": available}
            refusal = rebuild(error.code, message, fields)
            if isinstance(refusal, NotEnoughResources):
                return refusal
        return NotEnoughResources(what, available=available)


def free_units(view: Availability, need: Need, wish: Wish[Any], held: Mask) -> Numbers:
    """Return how many units each resource has for a wish."""
    suitable = view.matching(need.requirement) & (view.reservable() | held) & ~view.mask_of(wish.excluded)
    times: dict[str, Any] = {
        "now": wish.now,
        "cleaning_time": wish.cleaning_time,
        "ignoring": wish.ignoring,
        "awaited": wish.awaited,
    }
    units = np.zeros(len(suitable), np.int64)
    if need.demand is None:
        suitable &= ~view.mask_of(wish.beside)
        units[view.free(wish.window, **times, among=suitable)] = 1
        return units
    positions = np.flatnonzero(suitable)
    headroom = view.headroom(need.demand, wish.window, **times, beside=wish.beside, among=suitable)
    units[positions] = headroom.slots(positions)
    if need.is_apart:
        return np.minimum(units, 1)
    for key, share in wish.held.items():
        position = view.position_of(key)
        if position is not None and share is not None and not view.reservable()[position]:
            units[position] = min(int(units[position]), share.slots)  # they may stay; none are added
    return np.minimum(units, need.most)
