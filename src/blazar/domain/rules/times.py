"""Decisions of usage rules about the times of a lease; pure functions of a request and the present."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from blazar.domain.dates import minute_of
from blazar.domain.instants import FIRST, LAST, moved
from blazar.domain.interval import Interval
from blazar.domain.rules.rule import Extension, Horizon, Kind, LeadTime, Limit, Longest, Rule, Shortest

Deciding = Mapping[Kind, Rule]
"""The rule that decides each question; a kind without one has no limit."""

GRACE: Final = timedelta(minutes=1)
"""Tolerance for requests: after a lessee was shown what is possible, minutes pass, and clocks differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request for a new or changed lease, without its new times."""

    now: datetime
    delay: timedelta | None = None
    """For proposals: the time within which they stay possible. None for requests, which have ``GRACE``."""
    before: Interval | None = None
    """The times of the lease before the change; None for a new lease."""
    has_begun: bool = False
    """Whether the lease has started, so that its start cannot change."""

    @property
    def latest_now(self) -> datetime:
        """Return the time from which horizons and the ends of leases are seen; a later one allows more."""
        return self.now + GRACE if self.delay is None else self.now

    @property
    def first_start(self) -> datetime:
        """Return the minute from which lead times are counted; an earlier one allows more."""
        return minute_of(self.now) - GRACE if self.delay is None else minute_of(self.now + self.delay)

    def lease_window(self, window: Interval) -> Interval:
        """Return the times of the whole lease if it holds resources in *window*; a part may be past."""
        if self.before is None or not self.has_begun:
            return window
        return Interval(min(self.before.start, window.start), window.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A request that a rule refuses."""

    rule: Rule
    possible_from: datetime | None = None
    """The time from which the rule allows the same request; None if it never does."""
    key: str
    """The date of the request that the rule refuses."""
    bound: datetime | None = None
    """The nearest value of the key that the rule allows now; None if there is none."""
    hours: tuple[float, float] | None = None
    """For a rule on resource hours: the hours without and with the request."""


def refusals_of(deciding: Deciding, request: Request, window: Interval, *, is_held: bool) -> list[Refusal]:
    """Return the refusals of a lease with these times, in the order of the kinds.

    Args:
        deciding: The rules that decide about a resource.
        request: The request.
        window: The new times of the whole lease.
        is_held: Whether the lease holds the resource before the change. If so, a rule only refuses what the
            change makes worse, so that a lease which is older than the rule can still be changed otherwise.
    """
    found: list[Refusal] = []
    for kind in Kind:
        rule = deciding.get(kind)
        if rule is not None and not (kind is Kind.LONGEST and _is_beyond_longest(deciding, request, window)):
            found += _refusals(rule, request, window, request.before if is_held else None)
    return found


def _refusals(rule: Rule, request: Request, window: Interval, before: Interval | None) -> Iterator[Refusal]:
    match rule.limit:
        case Horizon():
            yield from _beyond_horizon(rule, rule.limit, request, window, before)
        case LeadTime(lead=lead):
            earliest = request.first_start + lead
            if window.start < earliest and (before is None or window.start < before.start):
                bound = minute_of(request.now + (request.delay or timedelta(0))) + lead
                yield Refusal(rule=rule, key="start_date", bound=bound)
        case Longest() | Shortest():
            yield from _wrong_duration(rule, request, window, before)
        case Extension():
            yield from _outside_extension(rule, rule.limit, request, window)


def _beyond_horizon(
    rule: Rule, limit: Horizon, request: Request, window: Interval, before: Interval | None
) -> Iterator[Refusal]:
    for key, most, asked, present in (
        ("start_date", limit.start, window.start, None if before is None else before.start),
        ("end_date", limit.end, window.end, None if before is None else before.end),
    ):
        if most is None or asked <= request.latest_now + most or (present is not None and asked <= present):
            continue
        yield Refusal(rule=rule, possible_from=asked - most, key=key, bound=minute_of(request.now + most))


def _wrong_duration(
    rule: Rule, request: Request, window: Interval, before: Interval | None
) -> Iterator[Refusal]:
    if not _permits_duration(rule.limit, window.duration, before) and not (
        isinstance(rule.limit, Shortest) and request.has_begun
    ):
        limit = rule.limit.longest if isinstance(rule.limit, Longest) else None
        limit = rule.limit.shortest if isinstance(rule.limit, Shortest) else limit
        yield Refusal(rule=rule, key="end_date", bound=None if limit is None else moved(window.start, limit))


def _permits_duration(limit: Limit | None, duration: timedelta, before: Interval | None) -> bool:
    """Return whether a limit of durations permits this one; other limits permit all."""
    match limit:
        case Longest(longest=longest):
            return duration <= longest or (before is not None and duration <= before.duration)
        case Shortest(shortest=shortest):
            return duration >= shortest or (before is not None and duration >= before.duration)
    return True


def _outside_extension(rule: Rule, limit: Extension, request: Request, window: Interval) -> Iterator[Refusal]:
    if request.before is None or not _is_extension(request, window):
        return
    end = request.before.end
    if limit.last is not None and request.latest_now < end - limit.last:
        yield Refusal(rule=rule, possible_from=end - limit.last, key="end_date")
    if limit.most is not None and window.end - end > limit.most:
        yield Refusal(rule=rule, key="end_date", bound=end + limit.most)


def _is_extension(request: Request, window: Interval) -> bool:
    return request.before is not None and request.has_begun and window.end > request.before.end


def _is_beyond_longest(deciding: Deciding, request: Request, window: Interval) -> bool:
    """Return whether a lease may exceed the longest duration, because it is extended."""
    rule = deciding.get(Kind.EXTENSION)
    limit = None if rule is None else rule.limit
    return isinstance(limit, Extension) and limit.beyond_longest and _is_extension(request, window)


def start_range(
    deciding: Deciding, request: Request, duration: timedelta, *, is_held: bool
) -> tuple[datetime, datetime] | None:
    """Return the first and the last start at which a lease of a duration is allowed; None if none is.

    The lease has not started. The result says the same as :func:`refusals_of` for every start.
    """
    first, last, before = FIRST, LAST, request.before if is_held else None
    for rule in deciding.values():
        if not _permits_duration(rule.limit, duration, before):
            return None
        match rule.limit:
            case Horizon():
                last = min(last, _last_start(rule.limit, request, duration, before))
            case LeadTime(lead=lead):
                earliest = request.first_start + lead
                first = max(first, earliest if before is None else min(earliest, before.start))
    return (first, last) if first <= last else None


def _last_start(limit: Horizon, request: Request, duration: timedelta, before: Interval | None) -> datetime:
    """Return the last start that a horizon allows; the present times are allowed in any case."""
    last = LAST
    if limit.start is not None:
        latest = request.latest_now + limit.start
        last = latest if before is None else max(latest, before.start)
    if limit.end is not None:
        latest = request.latest_now + limit.end
        last = min(last, (latest if before is None else max(latest, before.end)) - duration)
    return last
