"""Search for the times at which a request can be granted.

The candidates are the starts at which something is released, because between two of them the free resources
only become fewer. A candidate at which every need has enough units is then confirmed by the choice that a
request would make, so that a result is always one that can be reserved.
"""

from __future__ import annotations

import enum
import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

import numpy as np

from blazar.domain.booking_rows import Mask, Positions
from blazar.domain.interval import Interval
from blazar.domain.need import Need
from blazar.domain.search_budget import Budget
from blazar.domain.start_times import Profile, Starts

FoundT = TypeVar("FoundT")


class Order(enum.Enum):
    """Which time slots come first."""

    EARLIEST = "earliest"
    LATEST = "latest"
    LONGEST = "longest"
    MOST = "most"
    """Those with the most units; among equal ones, the earliest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSlot(Generic[FoundT]):
    """A window in which a request can be granted."""

    window: Interval
    latest_start: datetime
    """The request can be granted at every start from that of the window up to this one, judging by numbers of
    units only."""
    found: FoundT


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSlots(Generic[FoundT]):
    """The result of a search."""

    slots: tuple[TimeSlot[FoundT], ...]
    is_complete: bool
    """False if the search gave up, so that there may be better time slots."""


class Candidates:
    """The starts at which a request may be granted, with the most units that it would get."""

    def __init__(self, starts: Starts, needs: Sequence[tuple[Need, Profile]]) -> None:
        """Combine the needs of a request, which all have to be satisfied."""
        self.starts = starts
        self._is_possible = np.ones(starts.count, np.bool_)
        self._units = np.zeros(starts.count, np.int64)
        releases = np.zeros(starts.count, np.bool_)
        for need, profile in needs:
            self._is_possible &= profile.units >= need.least
            self._units += np.minimum(profile.units, need.most)
            releases |= profile.releases
        releases |= self._begins
        self._candidates = np.flatnonzero(releases & self._is_possible)
        self._impossible = np.append(np.flatnonzero(~self._is_possible), starts.count)

    @property
    def _begins(self) -> Mask:
        """Return at which starts a run of possible starts begins."""
        begins = self._is_possible.copy()
        begins[1:] &= ~self._is_possible[:-1]
        return begins

    def by_start(self) -> Iterator[int]:
        """Yield the candidates, earliest first."""
        yield from self._candidates.tolist()

    def last_starts(self) -> list[tuple[int, int]]:
        """Return each candidate with the last possible start before the next one, earliest first."""
        after = np.append(self._candidates[1:], self.starts.count)
        last = np.minimum(self._end_of_runs(self._candidates), after - 1)
        return list(zip(self._candidates.tolist(), last.tolist(), strict=True))

    def by_units(self) -> Iterator[tuple[int, int]]:
        """Yield the most units and the start of each candidate, most units first."""
        units = self._units[self._candidates]
        order = np.lexsort((self._candidates, -units))
        yield from zip(units[order].tolist(), self._candidates[order].tolist(), strict=True)

    def end_of_run(self, number: int) -> int:
        """Return the last start of the run of possible starts with this one."""
        return int(self._end_of_runs(np.array([number]))[0])

    def _end_of_runs(self, numbers: Positions) -> Positions:
        return self._impossible[np.searchsorted(self._impossible, numbers)] - 1


class Searcher(Generic[FoundT]):
    """One search; each candidate that it confirms is drawn from its budget."""

    def __init__(
        self,
        confirm: Callable[[Interval], FoundT | None],
        count_units: Callable[[FoundT], int],
        budget: Budget,
    ) -> None:
        """Create a search.

        Args:
            confirm: Returns what the request would get in a window; None if it would be refused.
            count_units: Returns the units in that.
            budget: The work that the search may do; *confirm* may draw from it, too.
        """
        self._confirm = confirm
        self._count_units = count_units
        self._budget = budget

    def earliest(self, candidates: Candidates, limit: int) -> TimeSlots[FoundT]:
        """Return the earliest time slots, at most one of each run of possible starts."""
        slots: list[TimeSlot[FoundT]] = []
        after = -1
        for number in candidates.by_start():
            if number <= after:
                continue
            if not self._budget.has_attempts():
                break
            slot = self._slot_at(candidates, number)
            if slot is not None:
                slots.append(slot)
                after = candidates.end_of_run(number)
            if len(slots) == limit:
                break
        return self._result(slots)

    def latest(self, candidates: Candidates, limit: int) -> TimeSlots[FoundT]:
        """Return the time slots with the latest starts, at most one of each run of possible starts.

        Between two candidates of a run, the free resources only become fewer. So if the last start before the
        next candidate is refused, the last one that is possible is found by bisection.
        """
        slots: list[TimeSlot[FoundT]] = []
        ends = candidates.last_starts()
        last_run = None
        for number, last in reversed(ends):
            run = candidates.end_of_run(number)
            if run == last_run:
                continue
            if not self._budget.has_attempts():
                break
            slot = self._last_slot(candidates, number, last)
            if slot is not None:
                slots.append(slot)
                last_run = run
            if len(slots) == limit:
                break
        return self._result(slots)

    def _last_slot(self, candidates: Candidates, number: int, last: int) -> TimeSlot[FoundT] | None:
        """Return the slot with the latest start from a candidate up to the last start before the next one."""
        slot = self._slot_at(candidates, last)
        if slot is not None or last == number:
            return slot
        slot = self._slot_at(candidates, number)
        low, high = number, last
        while slot is not None and high - low > 1:
            middle = (low + high) // 2
            later = self._slot_at(candidates, middle)
            if later is None:
                high = middle
            else:
                low, slot = middle, later
        return slot

    def most(self, candidates: Candidates, limit: int) -> TimeSlots[FoundT]:
        """Return the time slots with the most units."""
        best: list[tuple[int, int, int, TimeSlot[FoundT]]] = []
        for bound, number in candidates.by_units():
            if len(best) == limit and best[0][0] >= bound:
                break
            if not self._budget.has_attempts():
                break
            slot = self._slot_at(candidates, number)
            if slot is not None:
                entry = (self._count_units(slot.found), -number, number, slot)
                (heapq.heappush if len(best) < limit else heapq.heappushpop)(best, entry)
        return self._result([slot for *_, slot in sorted(best, reverse=True)])

    def longest(
        self, at: Callable[[int], Candidates], shortest: int, longest: int, limit: int
    ) -> TimeSlots[FoundT]:
        """Return the earliest time slots of the longest possible duration.

        Whether a duration is possible is monotonic: a shorter reservation fits wherever a longer one does.

        Args:
            at: Returns the candidates for a duration in minutes.
            shortest: The shortest acceptable duration.
            longest: The longest desired duration.
            limit: The number of time slots.
        """
        best: TimeSlots[FoundT] = TimeSlots(slots=(), is_complete=True)
        low, high = shortest, longest
        while low <= high:
            # The extremes first: often the longest is possible, or not even the shortest is.
            middle = high if high == longest else shortest if low == shortest else (low + high) // 2
            found = self.earliest(at(middle), limit)
            if found.slots:
                best, low = found, middle + 1
            elif not found.is_complete:
                return TimeSlots(slots=best.slots, is_complete=False)
            elif middle == shortest:
                break
            else:
                high = middle - 1
        return best

    def _result(self, slots: Sequence[TimeSlot[FoundT]]) -> TimeSlots[FoundT]:
        return TimeSlots(slots=tuple(slots), is_complete=not self._budget.is_short)

    def _slot_at(self, candidates: Candidates, number: int) -> TimeSlot[FoundT] | None:
        self._budget.attempts -= 1
        window = candidates.starts.window(number)
        found = self._confirm(window)
        if found is None:
            return None
        latest = candidates.starts.at(candidates.end_of_run(number))
        return TimeSlot(window=window, latest_start=latest, found=found)
