"""The resources and times that usage rules permit to one reservation of a request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask
from blazar.domain.errors import BlazarError
from blazar.domain.instants import EPOCH
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.domain.need import Need
from blazar.domain.rules.errors import error_of
from blazar.domain.rules.parts import parts_of
from blazar.domain.rules.rule import CoolDown, Kind, Rule, Shortest, Stacking
from blazar.domain.rules.times import Deciding, Refusal, Request, refusals_of, start_range
from blazar.domain.rules.uses import (
    Use,
    blocked_starts,
    earliest_start,
    excess_of,
    is_too_close,
    possible_moment,
    stacked_starts,
    windows_of_leases,
)
from blazar.domain.start_times import Profile, Starts

_MINUTE: Final = timedelta(minutes=1)

Range = tuple[int, int]
"""The number of the first start, and the number after that of the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRanges:
    """Resources, and the starts for which they are permitted."""

    which: Mask
    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """Resources that are permitted, or not, for the same reasons."""

    deciding: Deciding
    which: Mask
    is_held: bool
    close: tuple[Interval, ...]
    """Uses of the project from which leases of these resources must be a cool-down apart."""

    @property
    def gap(self) -> timedelta:
        """Return the cool-down."""
        rule = self.deciding.get(Kind.COOL_DOWN)
        return rule.limit.gap if rule is not None and isinstance(rule.limit, CoolDown) else timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """The rules that cover a reservation, and the request that contains it."""

    rules: tuple[Rule, ...]
    """Rules that cover its type, project and caller, in their order."""
    request: Request
    uses: Mapping[str, Sequence[Use]] = field(default_factory=dict)
    """By the name of each rule of ``COUNTING``, the uses by other leases of the project that it counts."""
    is_shown: Callable[[Rule], bool] = lambda rule: True
    """Whether the caller may read the requirement of a rule."""

    def permitted(
        self, availability: Availability, window: Interval, held: Collection[ResourceId] = ()
    ) -> Mask:
        """Return which resources the reservation may have in a window.

        Args:
            availability: All resources.
            window: The time in which it would hold them.
            held: The resources that it holds.
        """
        whole = self.request.lease_window(window)
        found = np.zeros(len(availability.reservable()), np.bool_)
        for part in self._parts(availability, held):
            if not self._refusals_of(part, whole):
                found |= part.which
        return found

    def start_ranges(
        self,
        availability: Availability,
        starts: Starts,
        held: Collection[ResourceId] = (),
        need: Need | None = None,
    ) -> Sequence[StartRanges]:
        """Return the resources that the reservation may have, each with the starts for which it may.

        Args:
            availability: All resources.
            starts: The possible starts of a lease that has not started.
            held: The resources that it holds.
            need: What the reservation needs at least; one unit if it is None.
        """
        wanted = None if need is None else availability.matching(need.requirement)
        found: dict[tuple[Range, ...], Mask] = {}
        for part in self._parts(availability, held):
            # The units can be in several parts, unless one has all resources.
            is_all = wanted is not None and not np.any(wanted & ~part.which)
            units = need.least if need is not None and is_all else 1
            ranges = self._ranges_of(part, starts, max(1, units))
            if ranges:
                found[ranges] = found[ranges] | part.which if ranges in found else part.which
        return [StartRanges(which=which, ranges=ranges) for ranges, which in found.items()]

    def refusals(
        self,
        availability: Availability,
        window: Interval,
        chosen: Collection[ResourceId],
        held: Collection[ResourceId] = (),
    ) -> Sequence[Refusal]:
        """Return why the reservation may not have these resources in a window; each reason once.

        Args:
            availability: All resources.
            window: The time in which it would hold them.
            chosen: The resources.
            held: Those that it holds before the change.
        """
        wanted = availability.mask_of(chosen)
        whole = self.request.lease_window(window)
        found: dict[Refusal, None] = {}
        for part in self._parts(availability, held):
            if np.any(part.which & wanted):
                found |= dict.fromkeys(self._refusals_of(part, whole))
        return [*found]

    def error_of(self, refusals: Sequence[tuple[str, Refusal]]) -> BlazarError:
        """Return the error for refusals, each after the resource type of its reservation."""
        return error_of(refusals, self.is_shown, is_change=self.request.before is not None)

    @property
    def shortest_durations(self) -> frozenset[timedelta]:
        """Return the shortest durations that the rules permit."""
        return frozenset(each.limit.shortest for each in self.rules if isinstance(each.limit, Shortest))

    def _refusals_of(self, part: _Part, whole: Interval) -> list[Refusal]:
        """Return the refusals of a lease with these times, if it has resources of a part."""
        found = refusals_of(part.deciding, self.request, whole, is_held=part.is_held)
        before = self.request.before if part.is_held else None
        for other in part.close:
            if is_too_close(whole, other, part.gap) and not (
                before is not None and is_too_close(before, other, part.gap)
            ):
                start = _next_minute(earliest_start(whole, part.close, part.gap))
                has_begun = self.request.has_begun
                return [
                    *found,
                    Refusal(
                        rule=part.deciding[Kind.COOL_DOWN],
                        key="end_date" if has_begun else "start_date",
                        bound=None if has_begun else start,
                    ),
                ]
        return [*found, *self._stacking_refusals(part, whole)]

    def _stacking_refusals(self, part: _Part, whole: Interval) -> Iterator[Refusal]:
        """Yield the refusal of a new lease of which not even one unit is permitted.

        The number of units is checked when they are chosen.
        """
        rule = part.deciding.get(Kind.STACKING)
        if rule is None or not isinstance(rule.limit, Stacking) or self.request.before is not None:
            return
        refusal = stacking_refusal(
            rule, self.uses.get(rule.name, []), [], [_one_unit(whole)], self.request.now
        )
        if refusal is not None:
            yield refusal

    def _ranges_of(self, part: _Part, starts: Starts, units: int) -> tuple[Range, ...]:
        duration = starts.duration * _MINUTE
        allowed = start_range(part.deciding, self.request, duration, is_held=part.is_held)
        if allowed is None:
            return ()
        low, high = _at_or_after(allowed[0], starts), _after(allowed[1], starts)
        is_allowed = np.zeros(starts.count, np.bool_)
        is_allowed[low:high] = True
        before = self.request.before if part.is_held else None
        for other in part.close:
            if before is not None and is_too_close(before, other, part.gap):
                continue
            for after, until in blocked_starts(duration, other, part.gap):
                is_allowed[_after(after, starts) : _at_or_after(until, starts)] = False
        rule = part.deciding.get(Kind.STACKING)
        if rule is not None and isinstance(rule.limit, Stacking) and self.request.before is None:
            now = self.request.now
            seconds = (starts.at(0) - now).total_seconds() + 60 * np.arange(starts.count, dtype=np.float64)
            use = replace(_one_unit(Interval(now, now + duration)), units=units)
            uses, limit = self.uses.get(rule.name, []), rule.limit
            is_allowed &= ~stacked_starts(uses, seconds, use, limit.most_hours, limit.period, now)
        edges = np.flatnonzero(np.diff(np.concatenate(([0], is_allowed.astype(np.int8), [0]))))
        return tuple((int(one), int(other)) for one, other in zip(edges[::2], edges[1::2], strict=True))

    def _parts(self, availability: Availability, held: Collection[ResourceId]) -> Iterator[_Part]:
        """Yield the resources in parts."""
        own = availability.mask_of(held) if held else None
        for part in parts_of(self.rules, availability):
            for which, close in self._by_uses(availability, part.deciding, part.which):
                if own is None:
                    yield _Part(part.deciding, which, False, close)
                    continue
                for some, is_held in ((which & own, True), (which & ~own, False)):
                    if np.any(some):
                        yield _Part(part.deciding, some, is_held, close)

    def _by_uses(
        self, availability: Availability, deciding: Deciding, which: Mask
    ) -> Iterator[tuple[Mask, tuple[Interval, ...]]]:
        """Yield the resources of a part, by the uses from which they must be a cool-down apart."""
        rule = deciding.get(Kind.COOL_DOWN)
        limit = None if rule is None else rule.limit
        uses = [] if rule is None else self.uses.get(rule.name, [])
        if not isinstance(limit, CoolDown) or not uses:
            yield which, ()
            return
        if not limit.same_resource:
            yield which, windows_of_leases(uses)
            return
        of_resource: dict[int, list[Use]] = {}
        for each in uses:
            position = availability.position_of(each.resource_id)
            if position is not None and which[position]:
                of_resource.setdefault(position, []).append(each)
        alike: dict[tuple[Interval, ...], list[int]] = {}
        for position, own in of_resource.items():
            alike.setdefault(windows_of_leases(own), []).append(position)
        rest = which.copy()
        for close, positions in alike.items():
            some = np.zeros(len(which), np.bool_)
            some[positions] = True
            rest[positions] = False
            yield some, close
        if np.any(rest):
            yield rest, ()


def stacking_refusal(
    rule: Rule, others: Sequence[Use], before: Sequence[Use], after: Sequence[Use], now: datetime
) -> Refusal | None:
    """Return the refusal of a rule on resource hours; None if it permits a change.

    Args:
        rule: The rule.
        others: The uses that it counts by other leases.
        before: Those of the lease before the change.
        after: Those of the lease after the change.
        now: The present.
    """
    limit = rule.limit
    if not isinstance(limit, Stacking) or not after:
        return None
    old, new = [*others, *before], [*others, *after]
    hours = excess_of(old, new, limit.most_hours, limit.period, now)
    if hours is None:
        return None
    latest = min(each.window.start for each in after)
    moment = possible_moment(old, new, limit.most_hours, limit.period, now, latest)
    return Refusal(
        rule=rule,
        key="reservations",
        possible_from=moment,
        hours=(round(hours[0], 1), round(hours[1], 1)),
    )


def permitted_profile(
    starts: Starts, parts: Sequence[tuple[Profile, StartRanges]], *, is_sum: bool = True
) -> Profile:
    """Return how many units are free and permitted for each start.

    Args:
        starts: The possible starts.
        parts: The free units of parts of the resources, each with the starts for which they are permitted.
        is_sum: Whether the units of the parts add up; if not, the parts have the same resources.
    """
    units = np.zeros(starts.count, np.int64)
    releases = np.zeros(starts.count, np.bool_)
    add = np.add if is_sum else np.maximum
    for profile, each in parts:
        releases |= profile.releases
        for low, high in each.ranges:
            units[low:high] = add(units[low:high], profile.units[low:high])
            releases[low] = True
    return Profile(units, releases)


def _one_unit(window: Interval) -> Use:
    return Use(lease_id="", user_id=None, resource_type="", resource_id=ResourceId(""), window=window)


def _at_or_after(instant: datetime, starts: Starts) -> int:
    """Return the number of the first start at or after an instant, limited to the existing starts."""
    return min(starts.count, max(0, -(-(instant - EPOCH) // _MINUTE) - starts.first))


def _after(instant: datetime, starts: Starts) -> int:
    return min(starts.count, max(0, (instant - EPOCH) // _MINUTE + 1 - starts.first))


def _next_minute(instant: datetime) -> datetime:
    return EPOCH + -(-(instant - EPOCH) // _MINUTE) * _MINUTE
