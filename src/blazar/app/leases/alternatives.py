"""Alternatives to a new lease that is refused: changes of the request with which it would be granted now.

Each alternative was granted by the same search and quota check as a lease. Nothing is held for it: a request
that is faster can take it. The operator's filters are not asked, because a check can have effects on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from itertools import islice
from typing import Final

from blazar.app.leases.changed_requirements import Candidate, ChangedRequirements, Changes
from blazar.app.leases.groupings import without_keys
from blazar.app.leases.new_lease import NewLease
from blazar.app.leases.requests import NewReservation, parse_reservation
from blazar.app.leases.wishes import make_grant_check, searches_for
from blazar.app.request_work import RequestWork
from blazar.booking.search import Found, Search, find_in_window, shortest_durations
from blazar.booking.shares import count_units as count_held
from blazar.booking.specs import need_of
from blazar.booking.time_search import TimeWish, find_known_time_slots
from blazar.domain.dates import format_date, minute_of
from blazar.domain.errors import BadRequest, Forbidden
from blazar.domain.funnel import Funnel, count_units
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.domain.search_budget import MAX_ATTEMPTS, Budget
from blazar.domain.time_slots import Order
from blazar.plugins.capabilities import StatesNeed

_MINUTE: Final = timedelta(minutes=1)
_REACHES: Final = (timedelta(days=7), timedelta(days=30), timedelta(days=90))
"""How far after the requested start to search for a later one; near ones first, since that is faster."""
_CANDIDATES_TRIED: Final = 12
"""Other values of all properties, and conditions: a requirement may have many."""
_FEWER_TRIED: Final = 12
"""Other times for fewer units."""
CHOICES_FOR_TIMES: Final = 1_000
"""The choices of resources in each search for other times: later, earlier, and later with fewer units."""
_OTHER_VALUES: Final = 2
_ENOUGH: Final = 3
"""With fewer alternatives than this, more later starts are added."""


class Kind(StrEnum):
    """The part of the request that an alternative changes."""

    LATER = "later"
    EARLIER = "earlier"
    SHORTER = "shorter"
    FEWER = "fewer"
    OTHER_VALUE = "other_value"
    """Another value of a property."""
    WITHOUT_CONDITION = "without_condition"
    OTHER_TYPE = "other_type"
    """Another resource type."""
    SPLIT = "split"
    """Two leases, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A changed request."""

    kind: Kind
    summary: str
    windows: tuple[Interval, ...]
    """The window of each lease; more than one for ``Kind.SPLIT``."""
    changes: Changes
    """With a ``resource_type``, the whole reservation; without, the keys that change."""


class AlternativeSearch:
    """The search for alternatives to one request."""

    def __init__(
        self, work: RequestWork, request: NewLease, searches: Sequence[Search], funnels: Sequence[Funnel]
    ) -> None:
        """Create a search that uses the indexes as they were read last.

        Args:
            work: The refused request.
            request: Its lease.
            searches: The searches of its reservations.
            funnels: Why each of them was refused or was not.
        """
        self._work = work
        self._context = work.context
        self._request = request
        self._window = Interval(request.start, request.end)
        self._searches = searches
        self._funnels = funnels
        self._binding = [number for number, each in enumerate(funnels) if each.binding is not None]
        self._is_granted = make_grant_check(work)
        self._budget = Budget()
        """The work of all kinds of alternatives together, except searches for other times."""

    def find(self) -> Sequence[Alternative]:
        """Return alternatives, at most a few of each kind."""
        later = islice(self._later(_ENOUGH), _ENOUGH)
        found = [*islice(later, 1)]
        found += [*self._earlier(), *self._shorter(), *self._fewer()]
        changed = ChangedRequirements(self._context, self._searches, self._binding)
        found += islice(self._granted(Kind.OTHER_VALUE, changed.other_values()), _OTHER_VALUES)
        found += islice(self._granted(Kind.WITHOUT_CONDITION, changed.without_grouping()), 1)
        found += islice(self._granted(Kind.WITHOUT_CONDITION, changed.without_condition()), 1)
        found += islice(self._granted(Kind.OTHER_TYPE, changed.other_types()), 1)
        found += islice(later, max(0, _ENOUGH - len(found)))
        if len(found) < _ENOUGH:
            found += islice(self._fewer_at_other_times(), _ENOUGH - len(found))
        return found

    def _later(self, limit: int) -> Iterator[Alternative]:
        first, after = self._window.start + _MINUTE, self._window.start
        budget = Budget(attempts=MAX_ATTEMPTS * len(_REACHES), choices=CHOICES_FOR_TIMES)
        for reach in _REACHES:
            span = Interval(first, first + reach + self._window.duration)
            for window in self._slots(span, Order.EARLIEST, limit, budget):
                if window.start > after:
                    after = window.start
                    yield _moved(Kind.LATER, window)

    def _earlier(self) -> Iterator[Alternative]:
        first, end = minute_of(self._context.clock.now()), self._window.end - _MINUTE
        if end - first >= self._window.duration:
            budget = Budget(choices=CHOICES_FOR_TIMES)
            for window in self._slots(Interval(first, end), Order.LATEST, 1, budget):
                yield _moved(Kind.EARLIER, window)

    def _shorter(self) -> Iterator[Alternative]:
        """Return the longest lease from the requested start; also a second one for the remaining time."""
        start, end = self._window.start, self._window.end

        def could_fit(minutes: int) -> bool:
            return self._has_units(Interval(start, start + minutes * _MINUTE))

        def fits(minutes: int) -> bool:
            return self._find(Interval(start, start + minutes * _MINUTE), {}) is not None

        most = _largest(could_fit, (end - start) // _MINUTE - 1)
        minutes = next(filter(None, (_largest(fits, *each) for each in self._ranges_to(most))), 0)
        if not minutes:
            return
        middle = start + minutes * _MINUTE
        window = Interval(start, middle)
        summary = f"end at {format_date(middle)} instead of {format_date(end)}"
        yield Alternative(kind=Kind.SHORTER, summary=summary, windows=(window,), changes={})
        if self._can_continue(window, Interval(middle, end)):
            summary = f"two leases, the second one on other resources from {format_date(middle)}"
            windows = (window, Interval(middle, end))
            yield Alternative(kind=Kind.SPLIT, summary=summary, windows=windows, changes={})

    def _ranges_to(self, most: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of minutes up to *most*, as last and first, in which longer leases are harder to fit.

        Usage rules may permit a lease only from a duration on.
        """
        shortest = shortest_durations(self._searches)
        for least in sorted({1, *(-(-each // _MINUTE) for each in shortest)}, reverse=True):
            if least <= most:
                yield most, least
                most = least - 1

    def _has_units(self, window: Interval) -> bool:
        """Return whether enough units are free for each reservation alone, which takes less time to find."""
        for each in self._searches:
            need = need_of(each.plugin, each.wish.spec)
            with self._context.indexes[each.plugin.collection].searching_on() as availability:
                visible = each.visible(self._context, availability)
                free = count_units(visible, need, window, each.wish.now, each.wish.cleaning_time)
            if free < need.least:
                return False
        return True

    def _can_continue(self, first: Interval, second: Interval) -> bool:
        before = self._find(first, {})
        if before is None:
            return False
        # A resource has to be cleaned before its next lease, even if that one is of the same lessee.
        is_cleaned = self._context.settings.leases.cleaning_time > timedelta(0)
        used = frozenset(key for each in before.chosen for key in each)
        after = self._find(second, {}, excluded=used if is_cleaned else frozenset())
        if after is None:
            return False
        return self._is_granted(self._request.reservations, [(first, before), (second, after)])

    def _fewer(self) -> Iterator[Alternative]:
        needs: dict[int, int] = {}
        for number in self._binding:
            plugin = self._searches[number].plugin
            if isinstance(plugin, StatesNeed):
                needs[number] = plugin.need(self._searches[number].wish.spec).least
        units = {number: 1 for number, least in needs.items() if least > 1}
        if not units or (len(units) > 1 and self._find(self._window, self._with_units(units)) is None):
            return
        for number in units:

            def fits(count: int, number: int = number) -> bool:
                return self._find(self._window, self._with_units({**units, number: count})) is not None

            units[number] = _largest(fits, min(needs[number] - 1, self._funnels[number].units_left))
            if not units[number]:
                return
        changed = [
            f"{self._request.reservations[number].resource_type}: {count} instead of {needs[number]}"
            for number, count in units.items()
        ]
        yield Alternative(
            kind=Kind.FEWER,
            summary="; ".join(changed),
            windows=(self._window,),
            changes=self._with_units(units),
        )

    def _fewer_at_other_times(self) -> Iterator[Alternative]:
        """Return later leases with fewer units than requested, but more than are free at that time."""
        if len(self._binding) != 1:
            return
        (number,) = self._binding
        search, left = self._searches[number], self._funnels[number].units_left
        if not isinstance(search.plugin, StatesNeed):
            return
        least = search.plugin.need(search.wish.spec).least
        if least - 1 <= left:
            return
        spec = search.plugin.revise(search.wish.spec, search.plugin.change_need(left + 1), is_active=False)
        searches = list(self._searches)
        searches[number] = replace(search, wish=replace(search.wish, spec=spec), most=least - 1)
        first, length = self._window.start + _MINUTE, self._window.duration
        wish = TimeWish(
            span=Interval(first, first + _REACHES[-1] + length),
            shortest=length,
            longest=length,
            order=Order.MOST,
            limit=_ENOUGH,
        )
        own = self._request.reservations
        budget = Budget(attempts=_FEWER_TRIED, choices=CHOICES_FOR_TIMES)
        found = find_known_time_slots(
            self._context, searches, wish, lambda *each: self._is_granted(own, [each]), budget
        )
        for slot in found.slots:
            units = count_held(slot.found.chosen[number])
            summary = (
                f"{own[number].resource_type}: {units} instead of {least}, from"
                f" {format_date(slot.window.start)} to {format_date(slot.window.end)}"
            )
            changes = self._with_units({number: units})
            yield Alternative(kind=Kind.FEWER, summary=summary, windows=(slot.window,), changes=changes)

    def _with_units(self, units: Mapping[int, int]) -> Changes:
        """Return the changes for these numbers of units, of reservations whose plugins state needs."""
        plugins = {number: self._searches[number].plugin for number in units}
        return {
            number: plugin.change_need(units[number])
            for number, plugin in plugins.items()
            if isinstance(plugin, StatesNeed)
        }

    def _granted(self, kind: Kind, candidates: Iterator[Candidate]) -> Iterator[Alternative]:
        """Return those of the first candidates that are granted in the requested window."""
        for summary, changes in islice(candidates, _CANDIDATES_TRIED):
            if self._find(self._window, changes) is not None:
                if len(self._searches) > 1:
                    types = ", ".join(self._request.reservations[each].resource_type for each in changes)
                    summary = f"{types}: {summary}"
                yield Alternative(kind=kind, summary=summary, windows=(self._window,), changes=changes)

    def _slots(self, span: Interval, order: Order, limit: int, budget: Budget) -> Sequence[Interval]:
        length = self._window.duration
        wish = TimeWish(span=span, shortest=length, longest=length, order=order, limit=limit)
        own = self._request.reservations
        found = find_known_time_slots(
            self._context, self._searches, wish, lambda *each: self._is_granted(own, [each]), budget
        )
        return [each.window for each in found.slots]

    def _find(
        self, window: Interval, changes: Changes, excluded: frozenset[ResourceId] = frozenset()
    ) -> Found | None:
        """Return what a changed request would get; None if it would be refused."""
        try:
            reservations = [self._replaced(*each, changes) for each in enumerate(self._request.reservations)]
            searches = [self._changed(*each, changes, excluded) for each in enumerate(self._searches)]
            found = find_in_window(self._context, searches, window, self._budget)
        except (BadRequest, Forbidden):
            return None
        if found is None or not self._is_granted(reservations, [(window, found)]):
            return None
        return found

    def _replaced(self, number: int, reservation: NewReservation, changes: Changes) -> NewReservation:
        """Return the reservation, or the one of another type in its place."""
        if "resource_type" not in changes.get(number, {}):
            return reservation
        return parse_reservation(self._context, self._work.caller, reservation.id, changes[number])

    def _changed(
        self, number: int, search: Search, changes: Changes, excluded: frozenset[ResourceId]
    ) -> Search:
        if "resource_type" in changes.get(number, {}):
            other = self._replaced(number, self._request.reservations[number], changes)
            (search,) = searches_for(self._work, [other], self._window)
        wish = replace(search.wish, excluded=excluded)
        if number in changes and "resource_type" not in changes[number]:
            spec = search.plugin.revise(wish.spec, changes[number], is_active=False)
            # What is known is not read again; but the changed request must be acceptable as a whole.
            spec = self._work.look_up(search.plugin, self._request.reservations[number].id, spec)
            wish = replace(wish, spec=spec)
            search = replace(search, grouping=without_keys(search.grouping, changes[number]))
        return replace(search, wish=wish)


def _moved(kind: Kind, window: Interval) -> Alternative:
    summary = f"from {format_date(window.start)} to {format_date(window.end)}"
    return Alternative(kind=kind, summary=summary, windows=(window,), changes={})


def _largest(fits: Callable[[int], bool], most: int, least: int = 1) -> int:
    """Return the largest number from *least* to *most* that fits; 0 if none does. Larger ones fit less."""
    if most < least:
        return 0
    # The extremes first: often everything fits that could, or not even the smallest does.
    if fits(most):
        return most
    if most == least or not fits(least):
        return 0
    low, high = least, most - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
