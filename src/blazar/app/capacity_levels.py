"""Read how much of each collection is free now and later, in groups by the properties that operators name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

from blazar.app.visible_facts import rank_of
from blazar.booking.context import Context
from blazar.domain.amount_times import AmountChanges, AmountTimes
from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask, Positions
from blazar.domain.busy_times import BusyTimes, Minutes, Steps
from blazar.domain.dates import minute_of
from blazar.domain.fact_columns import FactColumns
from blazar.domain.forecast import forecast
from blazar.domain.interval import Interval
from blazar.domain.requirements import text_of
from blazar.ports.capacity import RESOURCES, CapacityLevel, CapacityReader
from blazar.settings import CapacitySettings

OTHERS: Final = "others"
"""The value under which resources with values that are too rare to be named are counted."""
_MINUTE: Final = timedelta(minutes=1)


class CapacityLevels:
    """Implements :class:`blazar.ports.capacity.CapacityReader` with the indexes of a manager."""

    def __init__(self, context: Context, settings: CapacitySettings) -> None:
        self._context = context
        self._settings = settings

    def read(self) -> Sequence[CapacityLevel]:
        """Return the levels of all collections. Raises Unavailable."""
        return [level for name in sorted(self._context.indexes) for level in self._read(name)]

    def _read(self, collection: str) -> Iterator[CapacityLevel]:
        minutes = self._minutes()
        plugins = [each for each in self._context.plugins.values() if each.collection == collection]
        has_parts = any(not each.quota_unit.is_whole for each in plugins)
        with self._context.indexes[collection].searching() as availability:
            columns, wanted = availability.columns(), availability.reservable()
            properties = availability.known_facts().intersection(self._settings.properties)
            classes = _classes_of(availability) if has_parts else ()
            inventories = availability.inventories()
            capacities = {name: inventories.total(name) for name in classes}
            amounts = AmountTimes.read(availability.bookings, capacities, wanted, minutes)
        is_whole = not classes or any(each.quota_unit.is_whole for each in plugins)
        units = [*([RESOURCES] if is_whole else ()), *classes]
        changes = amounts.changes() if classes else None
        for groups in _groups(columns, wanted, sorted(properties), self._settings.most_values):
            for unit in units:
                yield from self._levels(collection, groups, unit, amounts.times, changes)

    def _minutes(self) -> Minutes:
        now = self._context.clock.now()
        length = max([_MINUTE, *self._settings.within])
        window = Interval(minute_of(now), minute_of(now) + length)
        return Minutes.of(window, now=now, cleaning_time=self._context.settings.leases.cleaning_time)

    def _levels(
        self, collection: str, groups: _Groups, unit: str, times: BusyTimes, changes: AmountChanges | None
    ) -> Iterator[CapacityLevel]:
        settings, values, group_of = self._settings, groups.values, groups.group_of
        totals: Sequence[int]
        steps: Sequence[Steps]
        if unit == RESOURCES or changes is None:
            totals = times.totals(group_of, len(values))
            steps = times.count_busy(group_of, len(values))
        else:
            totals = changes.totals(unit, group_of, len(values))
            steps = changes.count_busy(unit, group_of, len(values))
        for value, total, own in zip(values, totals, steps, strict=True):
            yield CapacityLevel(
                collection=collection,
                unit=unit,
                property=groups.property,
                value=value,
                forecast=forecast(own, total, settings.within, settings.low_percent),
            )


def _classes_of(availability: Availability) -> Sequence[str]:
    trees = availability.inventories().trees
    return sorted({name for tree in trees for each in tree for name in each.inventories})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Groups:
    """Resources in groups."""

    property: str
    values: Sequence[str]
    group_of: Positions
    """The group of each resource, by position; -1 for none."""


def _groups(columns: FactColumns, wanted: Mask, properties: Sequence[str], most: int) -> Iterator[_Groups]:
    """Yield all wanted resources as one group, then the groups by each property."""
    yield _Groups(property="", values=[""], group_of=np.where(wanted, 0, -1))
    for each in properties:
        yield _group_by(columns, wanted, each, most)


def _group_by(columns: FactColumns, wanted: Mask, name: str, most: int) -> _Groups:
    """Return at most *most* groups by value, and one for the resources with rarer values."""
    distinct, codes = columns.values(name)
    # Resources without the property have the code -1, which is the last one.
    texts = ["" if each is None else text_of(each) for each in (*distinct, None)]
    numbers = np.bincount(codes[wanted] % len(texts), minlength=len(texts)).tolist()
    ranks = {text: rank_of(each) for text, each in zip(texts, (*distinct, None), strict=True)}
    count: Counter[str] = Counter()
    for text, number in zip(texts, numbers, strict=True):
        count[text] += number
    ranked = sorted((each for each in count if count[each]), key=lambda each: (-count[each], ranks[each]))
    named = sorted(ranked[:most], key=lambda each: ranks[each])
    values = named if len(ranked) <= most else list(dict.fromkeys([*named, OTHERS]))
    place_of = {each: number for number, each in enumerate(values)}
    places = np.array([place_of.get(each, place_of.get(OTHERS, -1)) for each in texts], np.intp)
    return _Groups(property=name, values=values, group_of=np.where(wanted, places[codes], -1))


if TYPE_CHECKING:

    def _witness(levels: CapacityLevels) -> CapacityReader:
        return levels
