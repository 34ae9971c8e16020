"""Search for the time slots in which reservations can be made together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np

from blazar.booking.context import Context
from blazar.booking.search import Found, Search, find_in_window, shortest_durations
from blazar.booking.shares import count_units
from blazar.booking.specs import booked_window, need_of
from blazar.booking.visibility import visible_to
from blazar.domain.availability import Availability
from blazar.domain.grouped_times import GroupedTimes
from blazar.domain.grouped_units import part_of
from blazar.domain.interval import Interval
from blazar.domain.need import Need
from blazar.domain.rules.permit import StartRanges, permitted_profile
from blazar.domain.search_budget import Budget
from blazar.domain.start_times import Profile, Starts
from blazar.domain.time_slots import Candidates, Order, Searcher, TimeSlots
from blazar.plugins.capabilities import StatesNeed

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWish:
    """The acceptable times of reservations, and which of them are preferred."""

    span: Interval
    """The period that must contain every reservation."""
    shortest: timedelta
    longest: timedelta
    order: Order
    limit: int
    """The number of time slots to return."""


def find_time_slots(
    context: Context,
    searches: Sequence[Search],
    wish: TimeWish,
    is_granted: Callable[[Interval, Found], bool] = lambda window, found: True,
    budget: Budget | None = None,
) -> TimeSlots[Found]:
    """Return time slots in which all *searches* find resources; no two of them share capacity.

    Nothing is reserved: a request for one of the slots may come too late.

    Args:
        context: The context.
        searches: The wishes of the reservations; their windows are not used.
        wish: The acceptable times.
        is_granted: Whether a request would get the resources found for a window.
        budget: The work that the search may do; if the index was outdated, it begins again with as much.

    Raises:
        BadRequest: A wish names a property or fact that no resource has.
    """
    collections = {each.plugin.collection for each in searches}
    for collection in collections:
        context.indexes[collection].refresh()
    budget = budget or Budget()
    # Also checks the names in the wishes if no time at all is possible.
    first = Interval(wish.span.start, wish.span.start + wish.shortest)
    find_in_window(context, searches, first, replace(budget))
    found = find_known_time_slots(context, searches, wish, is_granted, replace(budget))
    if not found.slots:
        was_stale = [context.indexes[each].confirm() for each in collections]
        if any(was_stale):
            found = find_known_time_slots(context, searches, wish, is_granted, replace(budget))
    return found


def find_known_time_slots(
    context: Context,
    searches: Sequence[Search],
    wish: TimeWish,
    is_granted: Callable[[Interval, Found], bool] = lambda window, found: True,
    budget: Budget | None = None,
) -> TimeSlots[Found]:
    """Return what :func:`find_time_slots` does, as far as the indexes know; search in them before.

    Args:
        context: The context.
        searches: The wishes of the reservations; their windows are not used.
        wish: The acceptable times.
        is_granted: Whether a request would get the resources found for a window.
        budget: The work that the search may do; what it does is subtracted.
    """
    budget = budget or Budget()
    now = context.clock.now()
    users = Counter(each.plugin.collection for each in searches)

    def find(window: Interval) -> Found | None:
        found = find_in_window(context, searches, window, budget)
        if found is None or not is_granted(window, found):
            return None
        return _enlarged(context, searches, window, found, is_granted, budget)

    def candidates(minutes: int) -> Candidates:
        cleaning_time = context.settings.leases.cleaning_time
        starts = Starts.within(wish.span, minutes * _MINUTE, now=now, cleaning_time=cleaning_time)
        return Candidates(
            starts,
            [
                _profile(context, each, replace(starts, is_joint=users[each.plugin.collection] > 1))
                for each in searches
            ],
        )

    searcher: Searcher[Found] = Searcher(
        find, lambda found: sum(count_units(each) for each in found.chosen), budget
    )
    longest = wish.longest // _MINUTE
    if wish.order is Order.LONGEST:
        return _longest(searcher, candidates, wish, shortest_durations(searches))
    if wish.order is Order.LATEST:
        return searcher.latest(candidates(longest), wish.limit)
    if wish.order is Order.MOST:
        return searcher.most(candidates(longest), wish.limit)
    return searcher.earliest(candidates(longest), wish.limit)


def _longest(
    searcher: Searcher[Found],
    candidates: Callable[[int], Candidates],
    wish: TimeWish,
    steps: Collection[timedelta],
) -> TimeSlots[Found]:
    """Return the longest time slots; *steps* are the durations from which more is permitted."""
    least, most = wish.shortest // _MINUTE, wish.longest // _MINUTE
    for step in sorted({least, *(-(-each // _MINUTE) for each in steps)}, reverse=True):
        if least <= step <= most:
            found = searcher.longest(candidates, step, most, wish.limit)
            if found.slots or not found.is_complete:
                return found
            most = step - 1
    return TimeSlots(slots=(), is_complete=True)


def _profile(context: Context, search: Search, starts: Starts) -> tuple[Need, Profile]:
    need = need_of(search.plugin, search.wish.spec)
    if search.most is not None:
        need = replace(need, most=max(need.most, search.most))
    asked = starts
    after = booked_window(search.plugin, search.wish.spec, starts.window(0)).end - starts.window(0).end
    starts = replace(starts, duration=starts.duration + -(-after // _MINUTE), ignoring=search.wish.ignoring)
    with context.indexes[search.plugin.collection].searching_on() as everything:
        collection, held = search.plugin.collection, search.wish.held
        availability = visible_to(context, collection, everything, search.project_id, held)
        ranges = None
        if search.permit is not None:
            ranges = search.permit.start_ranges(availability, asked, search.wish.held, need)
        if search.grouping is None:
            return need, _ungrouped_profile(availability, need, starts, ranges)
        if ranges is not None:
            which = np.any([availability.mask_of(()), *(each.which for each in ranges)], axis=0)
            availability = part_of(availability, which)
        times = GroupedTimes.read(availability, need, starts, search.grouping)
    # Without the lock, because a grouping takes longer and other requests wait for it.
    profile = times.profile()
    if ranges is not None:
        # The units of several parts can have the same value, so an upper bound must do.
        profile = permitted_profile(starts, [(profile, each) for each in ranges], is_sum=False)
    return need, profile


def _ungrouped_profile(
    availability: Availability, need: Need, starts: Starts, ranges: Sequence[StartRanges] | None
) -> Profile:
    if ranges is None:
        return availability.profile(need, starts)
    parts = [(part_of(availability, each.which).profile(need, starts), each) for each in ranges]
    return permitted_profile(starts, parts)


def _enlarged(
    context: Context,
    searches: Sequence[Search],
    window: Interval,
    found: Found,
    is_granted: Callable[[Interval, Found], bool],
    budget: Budget,
) -> Found:
    """Return resources for as many units as are possible within the budget, the first searches first."""
    searches = list(searches)
    for number, search in enumerate(searches):
        plugin, least = search.plugin, count_units(found.chosen[number])
        if search.most is None or search.most <= least or not isinstance(plugin, StatesNeed):
            continue
        low, high = least, search.most
        while low < high and budget.has_choices():
            # The largest number first: often all of it is possible.
            units = high if high == search.most else (low + high + 1) // 2
            spec = plugin.revise(search.wish.spec, plugin.change_need(units), is_active=False)
            searches[number] = replace(search, wish=replace(search.wish, spec=spec))
            larger = find_in_window(context, searches, window, budget)
            if larger is None or not is_granted(window, larger):
                high = units - 1
            else:
                low, found = units, larger
        spec = plugin.revise(search.wish.spec, plugin.change_need(low), is_active=False)
        searches[number] = replace(search, wish=replace(search.wish, spec=spec))
    return found
