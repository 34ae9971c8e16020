"""Uses of resources by a project over time, for the rules that count them: cool-down and stacking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from blazar.domain.instants import EPOCH, moved
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId

_HOUR: Final = 3600.0
_ROUNDING: Final = 1e-6
"""Hours by which sums of floats may be wrong."""

_BESIDE: Final = 0.01
"""Seconds between neighbouring periods; in this time, more hours than ``_ROUNDING`` are used."""

Hours = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A resource that a project holds, will hold or has held, by a lease or an open offer."""

    lease_id: str
    """The lease, also for an offer for a change of it; otherwise the offer."""
    user_id: str | None
    resource_type: str
    resource_id: ResourceId
    window: Interval
    units: int = 1
    """Whole resources, or shares of one."""


def windows_of_leases(uses: Iterable[Use]) -> tuple[Interval, ...]:
    """Return the windows of uses in their order; all uses of a lease count as one, from first to last."""
    found: dict[str, Interval] = {}
    for each in uses:
        own = found.get(each.lease_id, each.window)
        found[each.lease_id] = Interval(min(own.start, each.window.start), max(own.end, each.window.end))
    return tuple(sorted(set(found.values())))


def is_too_close(one: Interval, other: Interval, gap: timedelta) -> bool:
    """Return whether two uses are closer than a cool-down permits.

    They are far enough apart if the gap lies between them. They are one use if one of them lies in the other;
    an overlap that is neither would prolong a use without a gap.
    """
    if one.covers(other) or other.covers(one):
        return False
    return one.start - other.end < gap and other.start - one.end < gap


def blocked_starts(
    duration: timedelta, other: Interval, gap: timedelta
) -> Iterator[tuple[datetime, datetime]]:
    """Yield the ranges of starts, ends excluded, at which a use would be too close to another one."""
    first, last = sorted((other.start, moved(other.end, -duration)))
    for low, high in ((moved(other.start, -duration - gap), first), (last, moved(other.end, gap))):
        if low < high:
            yield low, high


def earliest_start(window: Interval, others: Iterable[Interval], gap: timedelta) -> datetime:
    """Return the first start from the window's on at which a use of its length is not too close to others."""
    blocked = sorted(each for other in others for each in blocked_starts(window.duration, other, gap))
    start = window.start
    for low, high in blocked:
        if low < start < high:
            start = high
    return start


class HoursAhead:
    """The resource hours of uses from now on, in total or in every period of a length."""

    def __init__(self, uses: Iterable[Use], now: datetime) -> None:
        changes: dict[float, int] = {}
        for each in uses:
            if each.window.end <= now:
                continue
            start, end = ((at - now).total_seconds() for at in (max(each.window.start, now), each.window.end))
            changes[start] = changes.get(start, 0) + each.units
            changes[end] = changes.get(end, 0) - each.units
        times = sorted({0.0, *changes})
        levels = np.cumsum([changes.get(each, 0) for each in times])
        self.times = np.array(times)
        """Seconds from now at which the number of units changes."""
        self._used = np.concatenate(([0.0], np.cumsum(levels[:-1] * np.diff(self.times)))) / _HOUR

    @property
    def total(self) -> float:
        """Return all hours."""
        return float(self._used[-1])

    def within(self, begins: Hours, period: timedelta) -> Hours:
        """Return the hours in each period that begins at one of these seconds from now."""
        return self._until(begins + period.total_seconds()) - self._until(begins)

    def _until(self, seconds: Hours) -> Hours:
        found: Hours = np.interp(seconds, self.times, self._used)
        return found


def excess_of(
    before: Sequence[Use], after: Sequence[Use], most: float, period: timedelta | None, now: datetime
) -> tuple[float, float] | None:
    """Return the hours before and after a change if it has more than are permitted; otherwise None.

    Hours that already exceed the limit may stay, but not grow.

    Args:
        before: All uses before the change.
        after: All uses after it.
        most: The hours that are permitted.
        period: The length of the periods in which they are counted; None to count all of them.
        now: The present.
    """
    old, new = HoursAhead(before, now), HoursAhead(after, now)
    if period is None:
        is_more = new.total > most + _ROUNDING and new.total > old.total + _ROUNDING
        return (old.total, new.total) if is_more else None
    begins = _decisive_begins(old, new, most, period)
    had, has = old.within(begins, period), new.within(begins, period)
    worse = np.flatnonzero((has > most + _ROUNDING) & (has > had + _ROUNDING))
    if not len(worse):
        return None
    worst = worse[np.argmax(has[worse])]
    return float(had[worst]), float(has[worst])


def _decisive_begins(old: HoursAhead, new: HoursAhead, most: float, period: timedelta) -> Hours:
    """Return beginnings of periods such that, if any period has an excess, one of theirs has the largest.

    Hours are linear between beginnings at which a change of units enters or leaves the period. So a growing
    excess shows at one of these, or between the points at which the limit or the former hours are crossed.
    There it is largest next to a point, because at the point itself it does not grow.
    """
    changes = np.union1d(old.times, new.times)
    begins = np.union1d(changes, changes - period.total_seconds())
    begins = begins[begins >= 0]
    crossings = [begins]
    for values in (
        new.within(begins, period) - most,
        new.within(begins, period) - old.within(begins, period),
    ):
        which = np.flatnonzero(values[:-1] * values[1:] < 0)
        share = values[which] / (values[which] - values[which + 1])
        crossings.append(begins[which] + share * (begins[which + 1] - begins[which]))
    points = np.unique(np.concatenate(crossings))
    beside = np.concatenate(((points[:-1] + points[1:]) / 2, points + _BESIDE, points - _BESIDE))
    return np.union1d(points, beside[beside >= 0])


def stacked_starts(
    uses: Sequence[Use], starts: Hours, use: Use, most: float, period: timedelta | None, now: datetime
) -> NDArray[np.bool_]:
    """Return for which starts one more use would exceed the permitted hours.

    Args:
        uses: All other uses.
        starts: The starts, in seconds from now.
        use: The further use; its window has the length.
        most: The hours that are permitted.
        period: As for :func:`excess_of`.
        now: The present.
    """
    ahead, length = HoursAhead(uses, now), use.window.duration.total_seconds()
    if period is None:
        return np.full(len(starts), ahead.total + use.units * length / _HOUR > most + _ROUNDING)
    span = period.total_seconds()
    found = np.zeros(len(starts), np.bool_)

    def check(begins: Hours) -> None:
        """Mark the starts for which the period that begins at the instant in *begins* has too many hours."""
        begins = np.maximum(begins, 0)
        shared = np.minimum(begins + span, starts + length) - np.maximum(begins, starts)
        hours = ahead.within(begins, period) + use.units * np.maximum(shared, 0) / _HOUR
        found[hours > most + _ROUNDING] = True

    for each in (starts, starts + length - span):
        check(each)
    begins = np.union1d(ahead.times, ahead.times - span)
    begins = begins[begins >= 0]
    # In all other periods, the further use cannot exceed the limit.
    full = use.units * min(length, span) / _HOUR
    for begin in begins[ahead.within(begins, period) + full > most + _ROUNDING]:
        check(np.full(len(starts), begin))
    return found


def possible_moment(
    before: Sequence[Use],
    after: Sequence[Use],
    most: float,
    period: timedelta | None,
    now: datetime,
    latest: datetime,
) -> datetime | None:
    """Return the first minute from now on at which a change is permitted; None if it is not until *latest*.

    Hours run out while leases run, so a change that is permitted stays permitted.
    """
    minute = timedelta(minutes=1)
    low, high = now, EPOCH + -(-(latest - EPOCH) // minute) * minute
    if high <= low or excess_of(before, after, most, period, latest) is not None:
        return None
    steps = (high - low) // minute
    first, last = 0, steps
    while first < last:
        middle = (first + last) // 2
        if excess_of(before, after, most, period, high - (steps - middle) * minute) is None:
            last = middle
        else:
            first = middle + 1
    return high - (steps - first) * minute
