"""Trials of changes of a lease: whether other dates, amounts or requests would be granted now.

The indexes are used as last read, and nothing is stored or changed in the cloud.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from blazar.app.leases.change_search import ChangeSearch, Outline, PresentHoldings, search_for_change
from blazar.app.leases.plan import outline_change, part_ahead
from blazar.app.leases.requests import JsonObject
from blazar.app.request_work import RequestWork
from blazar.app.usage_rules import Booking as RuleBooking
from blazar.booking.search import Found, Search, find_in_window
from blazar.booking.time_search import TimeWish, find_known_time_slots
from blazar.domain.dates import minute_of
from blazar.domain.errors import BadRequest, Conflict, Forbidden
from blazar.domain.interval import Interval
from blazar.domain.lease import EventStatus, EventType, Holdings, Lease, Reservation
from blazar.domain.quotas import Held
from blazar.domain.time_slots import TimeSlots

Units = Mapping[int, int]
"""Numbers of units, by the place of a reservation after the change."""


class ChangeTrials:
    """Variations of one change of a lease."""

    def __init__(self, work: RequestWork, lease: Lease, present: PresentHoldings, outline: Outline) -> None:
        """Start from a change.

        Args:
            work: The cloud calls of the request.
            lease: The lease as it is.
            present: What it holds.
            outline: The change, which may be empty.
        """
        self._work = work
        self._context = work.context
        self.lease = lease
        self.outline = outline
        self._present = present
        self._search = search_for_change(work, lease, outline, present, for_all=True)
        self._is_within_quota = work.quota.make_check()
        types = {each.id: each.resource_type for each in lease.reservations}
        self._released = [
            Held(resource_type=types[each.reservation_id], window=each.window, count=-1, share=each.share)
            for each in present.allocations
        ]

    @property
    def searches(self) -> Sequence[Search]:
        """Return the search of each reservation of the change."""
        return self._search.searches

    @property
    def first_minute(self) -> datetime:
        """Return the earliest start that a lease can have."""
        return minute_of(self._context.clock.now())

    @property
    def can_move(self) -> bool:
        """Return whether the lease has not started, so that its start can change."""
        start = self.lease.get_event_status(EventType.START)
        return self.lease.start > self.first_minute and start is EventStatus.UNDONE

    def find_time_slots(self, wish: TimeWish) -> TimeSlots[Found]:
        """Return other times for a lease that has not started."""
        return find_known_time_slots(self._context, self.searches, wish, self._is_found_allowed)

    def is_possible(self, window: Interval, units: Units | None = None) -> bool:
        """Return whether the lease would get enough in a window, with these numbers of units."""
        finder = self._finder(part_ahead(window, self._context.clock.now()))
        try:
            found = self._with_changed_specs(units or {}).find(finder)
        except (BadRequest, Conflict, Forbidden):
            return False
        return self._is_found_allowed(window, found)

    def is_granted(self, body: JsonObject) -> bool:
        """Return whether a request with this body would be granted, except by the operator's filters."""
        lease = self.lease
        try:
            outline = outline_change(self._work, lease, body, self._present)
            search = search_for_change(self._work, lease, outline, self._present)
            found = search.find(self._finder(outline.ahead))
        except (BadRequest, Conflict, Forbidden):
            return False
        bookings = search.bookings(found)
        holdings = [(each.reservation, each.after) for each in bookings]
        return self._is_allowed(outline.window, holdings)

    def _finder(self, window: Interval) -> Callable[[Sequence[Search]], Found]:
        """Return a function that finds resources as far as the index knows, or raises Conflict."""

        def find(searches: Sequence[Search]) -> Found:
            found = find_in_window(self._context, searches, window)
            if found is None:
                raise Conflict("Not enough resources are available")
            return found

        return find

    def _with_changed_specs(self, units: Units) -> ChangeSearch:
        searches = [*self._search.searches]
        for place, count in units.items():
            plugin, wish = searches[place].plugin, searches[place].wish
            spec = plugin.revise(wish.spec, change_need(plugin, count), is_active=wish.is_active)
            searches[place] = replace(searches[place], wish=replace(wish, spec=spec))
        return replace(self._search, searches=tuple(searches))

    def _is_found_allowed(self, window: Interval, found: Found) -> bool:
        return self._is_allowed(window, [*zip(self._search.searched, found.chosen, strict=True)])

    def _is_allowed(self, window: Interval, holdings: Sequence[tuple[Reservation, Holdings]]) -> bool:
        """Return whether the rules and the quota allow these holdings instead of those of the lease."""
        before = self._present.by_reservation
        bookings = [
            RuleBooking(resource_type=each.resource_type, chosen=chosen, held=before.get(each.id, {}))
            for each, chosen in holdings
        ]
        if not self._work.rules.allows_change(self.lease, window, bookings):
            return False
        held = [
            Held(resource_type=each.resource_type, window=window, count=1, share=share)
            for each, chosen in holdings
            for share in chosen.values()
        ]
        return self._is_within_quota([*held, *self._released], 0)


def change_need(plugin: object, units: int) -> JsonObject:
    """Return the keys of a request with which a reservation needs *units*; its plugin states needs."""
    needing: Any = plugin
    return dict(needing.change_need(units))
