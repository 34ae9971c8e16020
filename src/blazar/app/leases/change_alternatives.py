"""Alternatives to a change of a lease that is refused: other changes that would be granted now.

As for new leases, each alternative was granted by the same search and quota check as the change itself.
Nothing is held for it, and the operator's filters are not asked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from blazar.app.leases.alternatives import Kind
from blazar.app.leases.change_trials import ChangeTrials, Units, change_need
from blazar.app.leases.requests import JsonObject
from blazar.booking.shares import count_units
from blazar.booking.time_search import TimeWish
from blazar.domain.dates import before_end_for_changed, format_date
from blazar.domain.interval import Interval
from blazar.domain.lease import Reservation
from blazar.domain.time_slots import Order
from blazar.plugins.capabilities import StatesNeed

_MINUTE: Final = timedelta(minutes=1)
_REACHES: Final = (timedelta(days=7), timedelta(days=30), timedelta(days=90))
"""How far after the requested start to search for a later one; near ones first, since that is faster."""
_ENOUGH: Final = 3
"""With fewer alternatives than this, more later starts are added."""


class ChangeAlternatives:
    """The search for alternatives to one change; uses the indexes as last read."""

    def __init__(self, trials: ChangeTrials, body: JsonObject, binding: Sequence[int]) -> None:
        """Create a search.

        Args:
            trials: Trials of the refused change.
            body: The body of the request.
            binding: The places of the reservations that were refused.
        """
        self._trials = trials
        self._lease = trials.lease
        self._outline = trials.outline
        self._body = body
        self._binding = binding

    def find(self) -> Sequence[JsonObject]:
        """Return alternatives, as clients see them."""
        later = self._later() if self._trials.can_move else iter(())
        found = [*islice(later, 1)]
        found += [*(self._earlier() if self._trials.can_move else ()), *self._shorter(), *self._fewer()]
        return [*found, *islice(later, max(0, _ENOUGH - len(found)))]

    def _later(self) -> Iterator[JsonObject]:
        duration, first = self._outline.window.duration, self._outline.start + _MINUTE
        after = self._outline.start
        for reach in _REACHES:
            span = Interval(first, first + reach + duration)
            for window in self._slots(span, Order.EARLIEST, _ENOUGH):
                if window.start > after:
                    after = window.start
                    yield from self._moved(Kind.LATER, window)

    def _earlier(self) -> Iterator[JsonObject]:
        span = (self._trials.first_minute, self._outline.end - _MINUTE)
        if span[1] - span[0] >= self._outline.window.duration:
            for window in self._slots(Interval(*span), Order.LATEST, 1):
                yield from self._moved(Kind.EARLIER, window)

    def _moved(self, kind: Kind, window: Interval) -> Iterator[JsonObject]:
        is_present = window == Interval(self._lease.start, self._lease.end)
        if is_present and not self._body.get("reservations"):
            return  # nothing would change
        summary = f"from {format_date(window.start)} to {format_date(window.end)}"
        yield from self._confirmed(kind, summary, self._with_dates(window.start, window.end))

    def _slots(self, span: Interval, order: Order, limit: int) -> Sequence[Interval]:
        length = self._outline.window.duration
        wish = TimeWish(span=span, shortest=length, longest=length, order=order, limit=limit)
        return [each.window for each in self._trials.find_time_slots(wish).slots]

    def _shorter(self) -> Iterator[JsonObject]:
        """Return the latest end before the requested one; if the start stays, the lease is not shortened."""
        start, end = self._outline.start, self._outline.end
        base = self._lease.end if start == self._lease.start else start
        most = (end - base) // _MINUTE - 1

        def is_refused(minutes: int) -> bool:
            return not self._trials.is_possible(Interval(start, base + minutes * _MINUTE))

        minutes = bisect_left(range(1, most + 1), True, key=is_refused) if most > 0 else 0
        if minutes:
            latest = base + minutes * _MINUTE
            summary = f"end at {format_date(latest)} instead of {format_date(end)}"
            yield from self._confirmed(Kind.SHORTER, summary, self._with_dates(start, latest))

    def _fewer(self) -> Iterator[JsonObject]:
        """Return the requested dates with as many units as possible."""
        asked, units = self._needs(), {}
        for place, (least, _) in asked.items():
            units[place] = least
        if not units or not self._trials.is_possible(self._outline.window, units):
            return
        for place, (least, most) in asked.items():

            def is_refused(count: int, place: int = place) -> bool:
                return not self._trials.is_possible(self._outline.window, {**units, place: count})

            units[place] = least + bisect_left(range(least + 1, most), True, key=is_refused)
        summary = "; ".join(
            f"{self._outline.reservations[place].resource_type}: {units[place]} instead of {most}"
            for place, (_, most) in asked.items()
        )
        yield from self._confirmed(Kind.FEWER, summary, self._with_units(units))

    def _needs(self) -> Mapping[int, tuple[int, int]]:
        """Return the least acceptable units of each refused reservation, and those that it needed.

        If the lease keeps its dates, a reservation must grow; otherwise nothing would change.
        """
        found = {}
        has_same_dates = (self._outline.start, self._outline.end) == (self._lease.start, self._lease.end)
        for place in self._binding:
            search = self._trials.searches[place]
            if not isinstance(search.plugin, StatesNeed):
                continue
            held = count_units(search.wish.held)
            least = held + 1 if has_same_dates else held if search.wish.is_active else 1
            needed = search.plugin.need(search.wish.spec).least
            if max(1, least) < needed:
                found[place] = (max(1, least), needed)
        return found

    def _confirmed(self, kind: Kind, summary: str, body: JsonObject) -> Iterator[JsonObject]:
        """Yield an alternative if its body, read as a request, is granted."""
        if self._trials.is_granted(body):
            yield {"kind": kind.value, "summary": summary, "bodies": [body]}

    def _with_dates(self, start: datetime, end: datetime) -> JsonObject:
        body = dict(self._body)
        if start != self._outline.start:
            body["start_date"] = format_date(start)
        body["end_date"] = format_date(end)
        explicit = body.get("before_end_date")
        if explicit is not None:
            # At the same distance from the end, if the lease is long enough.
            due = before_end_for_changed(explicit, self._lease, self._outline.start, self._outline.end)
            moved = end - (self._outline.end - due) if due is not None else None
            body["before_end_date"] = format_date(moved) if moved is not None and moved > start else None
        return _asked(body)

    def _with_units(self, units: Units) -> JsonObject:
        reservations = self._body.get("reservations")
        items: list[JsonObject] = [*reservations] if isinstance(reservations, list) else []
        for place, count in units.items():
            keys = change_need(self._trials.searches[place].plugin, count)
            at = self._place_of(self._outline.reservations[place], place, items)
            if at is None:
                items.append({"id": self._outline.reservations[place].id, **keys})
            else:
                items[at] = {**items[at], **keys}
        return _asked({**self._body, "reservations": items})

    def _place_of(self, reservation: Reservation, place: int, items: Sequence[JsonObject]) -> int | None:
        """Return the place of an existing or new reservation in the request; None if it is not in it."""
        named = [at for at, each in enumerate(items) if each.get("id") == reservation.id]
        if named:
            return named[0]
        known = {each.id for each in self._lease.reservations}
        if reservation.id in known:
            return None
        stay = sum(1 for each in self._outline.reservations if each.id in known)
        return [at for at, each in enumerate(items) if each.get("id") is None][place - stay]


def _asked(body: JsonObject) -> JsonObject:
    return {key: value for key, value in body.items() if value is not None}
