"""Use case: ask which changes of a lease would be granted now, without making them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from blazar.app.leases.change_search import read_held
from blazar.app.leases.change_trials import ChangeTrials, change_need
from blazar.app.leases.plan import outline_change
from blazar.app.leases.read import read_lease
from blazar.app.leases.requests import JsonObject
from blazar.app.leases.update import check_changeable
from blazar.app.request_work import request_work
from blazar.booking.context import Context
from blazar.booking.shares import count_units
from blazar.booking.time_search import TimeWish
from blazar.domain.dates import format_date
from blazar.domain.interval import Interval
from blazar.domain.time_slots import Order
from blazar.plugins.capabilities import StatesNeed
from blazar.ports.manager import Caller

_MINUTE: Final = timedelta(minutes=1)
_MOST_UNITS: Final = 1_000_000
"""The search for a larger amount ends here if a type allows any amount."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeQuestion:
    """The times in which changes are acceptable."""

    span: Interval
    """The period within which the lease may be moved, and up to whose end it may be extended."""
    limit: int
    """The number of other times to return."""


def search_changes(context: Context, caller: Caller, lease_id: str, question: ChangeQuestion) -> JsonObject:
    """Return how far a lease can be extended, by how much it can grow, and to which times it can be moved.

    Each of these is checked on its own, with the quota, but without the operator's filters. Nothing is
    reserved.

    Returns:
        ``id``; ``latest_end_date``, null if it cannot be extended; ``reservations``, each with ``id``,
        ``resource_type``, the present ``amount`` and ``largest_amount``; ``slots`` as for a new lease.

    Raises:
        LeaseNotFound: No such lease exists.
        InvalidLeaseStatus: The lease is in transition or being deleted.
        InvalidPeriod: The lease has ended.
    """
    lease = read_lease(context, lease_id)
    check_changeable(lease)
    work = request_work(context, caller, lease.project_id, is_dry_run=True).proposing()
    present = read_held(context, lease)
    trials = ChangeTrials(work, lease, present, outline_change(work, lease, {}, present))
    for collection in {each.plugin.collection for each in trials.searches}:
        context.indexes[collection].refresh()
    latest_end = _latest_end(trials, question.span.end)
    return {
        "id": lease.id,
        "latest_end_date": None if latest_end is None else format_date(latest_end),
        "reservations": [_growth(trials, place) for place in range(len(lease.reservations))],
        "slots": _slots(trials, question),
    }


def _latest_end(trials: ChangeTrials, most: datetime) -> datetime | None:
    """Return the latest end up to *most* that would be granted; None if no later one is."""
    start, end = trials.lease.start, trials.lease.end

    def is_refused(minutes: int) -> bool:
        return not trials.is_possible(Interval(start, end + minutes * _MINUTE))

    minutes = max(0, (most - end) // _MINUTE)
    if minutes and is_refused(minutes):
        minutes = bisect_left(range(1, minutes), True, key=is_refused)
    latest = end + minutes * _MINUTE
    return latest if minutes and trials.is_granted({"end_date": format_date(latest)}) else None


def _growth(trials: ChangeTrials, place: int) -> JsonObject:
    reservation, search = trials.outline.reservations[place], trials.searches[place]
    amount = count_units(search.wish.held)
    largest = amount
    if isinstance(search.plugin, StatesNeed):
        largest = _largest(trials, place, amount)
    return {
        "id": reservation.id,
        "resource_type": reservation.resource_type,
        "amount": amount,
        "largest_amount": largest,
    }


def _largest(trials: ChangeTrials, place: int, amount: int) -> int:
    """Return the largest amount that a reservation can have with the dates of the lease."""
    plugin, reservation_id = trials.searches[place].plugin, trials.outline.reservations[place].id

    def is_refused(units: int) -> bool:
        keys = change_need(plugin, units)
        return not trials.is_granted({"reservations": [{"id": reservation_id, **keys}]})

    step = 1
    while not is_refused(amount + step):
        if step > _MOST_UNITS:
            return amount + step
        step *= 2
    # The first step that is refused is twice the last one that is granted.
    low = amount + step // 2
    return low + bisect_left(range(low + 1, amount + step), True, key=is_refused)


def _slots(trials: ChangeTrials, question: ChangeQuestion) -> Sequence[JsonObject]:
    length = trials.outline.window.duration
    if not trials.can_move or question.span.duration < length:
        return []
    wish = TimeWish(
        span=question.span, shortest=length, longest=length, order=Order.EARLIEST, limit=question.limit
    )
    return [
        {
            "start_date": format_date(each.window.start),
            "end_date": format_date(each.window.end),
            "latest_start_date": format_date(each.latest_start),
            "reservations": [
                {"resource_type": reservation.resource_type, "amount": count_units(chosen)}
                for reservation, chosen in zip(trials.outline.reservations, each.found.chosen, strict=True)
            ],
        }
        for each in trials.find_time_slots(wish).slots
    ]
