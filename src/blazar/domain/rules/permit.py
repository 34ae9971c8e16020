"""The resources and times that usage rules permit to one reservation of a request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask
from blazar.domain.errors import BlazarError
from blazar.domain.instants import EPOCH
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.domain.rules.errors import error_of
from blazar.domain.rules.parts import parts_of
from blazar.domain.rules.rule import Rule, Shortest
from blazar.domain.rules.times import Deciding, Refusal, Request, refusals_of, start_range
from blazar.domain.start_times import Profile, Starts

_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRange:
    """Resources that are permitted for a range of starts."""

    which: Mask
    low: int
    """The number of the first start."""
    high: int
    """The number after that of the last start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """The rules that cover a reservation, and the request in which it is."""

    rules: tuple[Rule, ...]
    """Rules that cover its type, project and caller, in their order."""
    request: Request
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
        for deciding, which, is_held in self._parts(availability, held):
            if not refusals_of(deciding, self.request, whole, is_held=is_held):
                found |= which
        return found

    def start_ranges(
        self, availability: Availability, starts: Starts, held: Collection[ResourceId] = ()
    ) -> Sequence[StartRange]:
        """Return the resources that the reservation may have, each with the starts for which it may.

        Args:
            availability: All resources.
            starts: The possible starts of a lease that has not started.
            held: The resources that it holds.
        """
        found = []
        for deciding, which, is_held in self._parts(availability, held):
            allowed = start_range(deciding, self.request, starts.duration * _MINUTE, is_held=is_held)
            if allowed is None:
                continue
            low = max(0, -(-(allowed[0] - EPOCH) // _MINUTE) - starts.first)
            high = min(starts.count, (allowed[1] - EPOCH) // _MINUTE - starts.first + 1)
            if low < high:
                found.append(StartRange(which=which, low=low, high=high))
        return found

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
        for deciding, which, is_held in self._parts(availability, held):
            if np.any(which & wanted):
                refused = refusals_of(deciding, self.request, whole, is_held=is_held)
                found |= dict.fromkeys(refused)
        return [*found]

    def error_of(self, refusals: Sequence[tuple[str, Refusal]]) -> BlazarError:
        """Return the error for refusals, each after the resource type of its reservation."""
        return error_of(refusals, self.is_shown, is_change=self.request.before is not None)

    @property
    def shortest_durations(self) -> frozenset[timedelta]:
        """Return the durations from which on a rule permits a lease that it does not permit if shorter."""
        return frozenset(each.limit.shortest for each in self.rules if isinstance(each.limit, Shortest))

    def _parts(
        self, availability: Availability, held: Collection[ResourceId]
    ) -> Iterator[tuple[Deciding, Mask, bool]]:
        """Yield parts of the resources with the rules that decide about them, and whether they are held."""
        own = availability.mask_of(held) if held else None
        for part in parts_of(self.rules, availability):
            if own is None:
                yield part.deciding, part.which, False
                continue
            for which, is_held in ((part.which & own, True), (part.which & ~own, False)):
                if np.any(which):
                    yield part.deciding, which, is_held


def permitted_profile(
    starts: Starts, parts: Sequence[tuple[Profile, StartRange]], *, is_sum: bool = True
) -> Profile:
    """Return how many units are free and permitted for each start.

    Args:
        starts: The possible starts.
        parts: The free units of parts of the resources, each with the range for which they are permitted.
        is_sum: Whether the units of the parts add up; if not, they are those of the same resources.
    """
    units = np.zeros(starts.count, np.int64)
    releases = np.zeros(starts.count, np.bool_)
    add = np.add if is_sum else np.maximum
    for profile, each in parts:
        own = slice(each.low, each.high)
        units[own] = add(units[own], profile.units[own])
        releases |= profile.releases
        releases[each.low] = True
    return Profile(units, releases)
