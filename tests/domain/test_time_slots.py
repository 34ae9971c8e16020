"""The search for time slots against brute force over every start, with joint needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from domain.test_start_times import BOOKINGS, NEEDS, SLOT, Held, make_index, units_at
from hypothesis import given
from hypothesis import strategies as st
from samples import at

from blazar.domain.availability import Availability
from blazar.domain.capacity import Share
from blazar.domain.interval import Interval
from blazar.domain.need import Need
from blazar.domain.search_budget import Budget
from blazar.domain.start_times import Starts
from blazar.domain.time_slots import Candidates, Searcher, TimeSlots

MINUTE = timedelta(minutes=1)
SPAN = Interval(at(0), at(0) + 40 * MINUTE)
RANGES = st.builds(lambda need, more: replace(need, most=need.least + more), NEEDS, st.integers(0, 3))
JOINT = st.lists(RANGES, min_size=1, max_size=2)


def starts_of(duration: int) -> Starts:
    return Starts.within(SPAN, duration * MINUTE, now=at(0), cleaning_time=MINUTE)


class Site:
    """Bookings and a request. It is granted where the units of each need suffice on their own."""

    def __init__(self, held: Sequence[Held], needs: Sequence[Need]) -> None:
        self._index: Availability = make_index(held)
        self._needs = needs

    def candidates(self, duration: int) -> Candidates:
        starts = starts_of(duration)
        return Candidates(starts, [(each, self._index.profile(each, starts)) for each in self._needs])

    def units(self, starts: Starts, number: int) -> int | None:
        """Return what the request gets at a start; None if it is refused. Examines nothing but this start."""
        total = 0
        for need in self._needs:
            units = units_at(self._index, need, starts, number)
            if units < need.least:
                return None
            total += min(units, need.most)
        return total

    def confirm(self, window: Interval) -> int | None:
        duration = int(window.duration / MINUTE)
        return self.units(starts_of(duration), int((window.start - at(0)) / MINUTE))

    def search(self) -> Searcher[int]:
        return Searcher(self.confirm, lambda units: units, Budget())

    def all_units(self, duration: int) -> list[int | None]:
        starts = starts_of(duration)
        return [self.units(starts, number) for number in range(starts.count)]


def windows(found: TimeSlots[int]) -> list[int]:
    """Return the starts in minutes."""
    assert found.is_complete
    return [int((each.window.start - at(0)) / MINUTE) for each in found.slots]


@given(BOOKINGS, JOINT, st.integers(1, 12))
def test_the_earliest_are_the_first_of_each_run_of_starts(
    held: list[Held], needs: list[Need], duration: int
) -> None:
    site = Site(held, needs)
    units = site.all_units(duration)
    runs = [
        number
        for number, each in enumerate(units)
        if each is not None and (number == 0 or units[number - 1] is None)
    ]

    found = site.search().earliest(site.candidates(duration), 3)

    assert windows(found) == runs[:3]
    for slot in found.slots:
        last = int((slot.latest_start - at(0)) / MINUTE)
        assert units[last] is not None
        assert last + 1 == len(units) or units[last + 1] is None


@given(BOOKINGS, JOINT, st.integers(1, 12))
def test_the_latest_are_the_last_of_each_run_of_starts(
    held: list[Held], needs: list[Need], duration: int
) -> None:
    site = Site(held, needs)
    units = site.all_units(duration)
    ends = [
        number
        for number, each in enumerate(units)
        if each is not None and (number + 1 == len(units) or units[number + 1] is None)
    ]

    found = site.search().latest(site.candidates(duration), 3)

    assert windows(found) == ends[::-1][:3]


def test_the_latest_start_is_that_of_a_release_if_later_ones_are_refused() -> None:
    site = Site([], [Need(least=1, most=1)])
    only_first = Searcher[int](
        lambda window: 1 if window.start == at(0) else None, lambda units: units, Budget()
    )

    assert windows(only_first.latest(site.candidates(5), 1)) == [0]


@given(BOOKINGS, JOINT, st.integers(1, 12))
def test_most_returns_the_highest_number_of_units(held: list[Held], needs: list[Need], duration: int) -> None:
    site = Site(held, needs)
    units = [each for each in site.all_units(duration) if each is not None]

    found = site.search().most(site.candidates(duration), 1)

    assert [each.found for each in found.slots] == ([max(units)] if units else [])
    if units:
        assert windows(found) == [site.all_units(duration).index(max(units))]


def test_a_start_after_the_present_is_examined_where_a_slot_is_overdue() -> None:
    slot = Share(slots=1, demand=SLOT)
    held = [Held(0, start, 1, slot, None) for start in (-1, 0, 1)]
    held += [Held(0, 3, 1, None, None), Held(1, 0, 1, None, None)]
    site = Site(held, [Need(least=1, most=3, demand=SLOT, is_apart=True)])

    assert site.all_units(1)[:3] == [2, 3, 3]
    assert windows(site.search().most(site.candidates(1), 1)) == [1]


@given(BOOKINGS, JOINT, st.integers(1, 10), st.integers(0, 30))
def test_the_longest_is_the_longest_that_is_possible(
    held: list[Held], needs: list[Need], shortest: int, more: int
) -> None:
    site = Site(held, needs)
    durations = range(shortest, min(40, shortest + more) + 1)
    possible = [each for each in durations if any(units is not None for units in site.all_units(each))]

    found = site.search().longest(site.candidates, durations[0], durations[-1], 1)

    assert [int(each.window.duration / MINUTE) for each in found.slots] == possible[-1:]


def test_a_search_that_gives_up_says_so() -> None:
    site = Site([], [Need(least=1, most=1)])

    refused = Searcher[int](lambda window: None, lambda units: units, Budget(attempts=0))

    assert refused.earliest(site.candidates(5), 1) == TimeSlots(slots=(), is_complete=False)
    assert refused.latest(site.candidates(5), 1) == TimeSlots(slots=(), is_complete=False)
    assert refused.most(site.candidates(5), 1) == TimeSlots(slots=(), is_complete=False)
    assert refused.longest(site.candidates, 1, 5, 1) == TimeSlots(slots=(), is_complete=False)


def test_the_latest_slots_are_no_longer_searched_when_the_attempts_are_used_up() -> None:
    held = [Held(host, 6 * host, 3, None, None) for host in range(4)]
    candidates = Site(held, [Need(least=1, most=1)]).candidates(2)
    tried: list[Interval] = []
    refusing = Searcher[int](tried.append, lambda units: units, Budget(attempts=3))

    found = refusing.latest(candidates, 1)

    assert len(list(candidates.by_start())) >= 4
    assert found == TimeSlots(slots=(), is_complete=False)
    assert 3 <= len(tried) <= 4


def test_a_search_that_lacks_choices_for_its_last_candidate_is_not_complete() -> None:
    budget = Budget(choices=1)

    def confirm(window: Interval) -> int:
        budget.choices -= 1
        return 1 if budget.has_choices() else 0

    found = Searcher[int](confirm, lambda units: units, budget).earliest(
        Site([], [Need(least=1, most=1)]).candidates(5), 1
    )

    assert len(found.slots) == 1
    assert not found.is_complete
