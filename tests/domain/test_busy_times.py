"""Busy resources over time, against brute force: every minute is asked on its own, as a request would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from samples import at

from blazar.domain.availability import Availability, Resource
from blazar.domain.bookings import Booking
from blazar.domain.busy_times import BusyTimes, Minutes, Steps, all_minutes, count_in_groups
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.ranges import Ranges

RESOURCES = 5
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Held:
    """A booking in minutes; *late* is the delay of its release in seconds, None if it was not released."""

    resource: int
    start: int
    length: int
    late: int | None
    is_added_later: bool

    def booking(self, number: int) -> Booking:
        start = at(0) + self.start * MINUTE
        end = start + self.length * MINUTE
        return Booking(
            resource_id=ResourceId(str(self.resource)),
            reservation_id=ReservationId(str(number)),
            window=Interval(start, end),
            released_at=None if self.late is None else end + timedelta(seconds=self.late),
        )


BOOKINGS = st.lists(
    st.builds(
        Held,
        st.integers(0, RESOURCES - 1),
        st.integers(-20, 25),
        st.integers(1, 12),
        st.none() | st.integers(-30, 90),
        st.booleans(),
    ),
    max_size=14,
)
MINUTES = st.builds(
    lambda first, count, cleaning, since_first: Minutes.of(
        Interval(at(0) + first * MINUTE, at(0) + (first + count) * MINUTE),
        now=at(0) + first * MINUTE + timedelta(seconds=since_first),
        cleaning_time=cleaning * MINUTE,
    ),
    st.integers(0, 10),
    st.integers(1, 20),
    st.integers(0, 4),
    # The first minute is the present one, or a later one.
    st.integers(-600, 59),
)
GROUPS = st.lists(st.integers(-1, 2), min_size=RESOURCES, max_size=RESOURCES)


def make_index(held: Sequence[Held]) -> Availability:
    """Return an index into which some bookings were loaded, and some were added later."""
    index = Availability()
    index.load(
        (
            Resource(id=ResourceId(str(each)), generation=0, is_reservable=True, facts={})
            for each in range(RESOURCES)
        ),
        [],
    )
    for later in (False, True):
        for number, each in enumerate(held):
            if each.is_added_later is later:
                reservation_id = ReservationId(str(number))
                index.put_bookings_of(
                    ResourceId(str(each.resource)), 1, {reservation_id: [each.booking(number)]}
                )
    return index


def window_of(minutes: Minutes, number: int) -> Interval:
    start = minutes.reach.start + (minutes.cleaning + number) * MINUTE
    return Interval(start, start + MINUTE)


def at_each_minute(steps: Steps, minutes: Minutes) -> list[list[int]]:
    """Return the numbers of each kind at every minute."""
    which = np.searchsorted(steps.minutes, np.arange(minutes.count), side="right") - 1
    return [[int(each) for each in row] for row in steps.numbers[:, which]]


def codes(index: Availability, numbers: Sequence[int]) -> np.ndarray:
    return index.bookings.owner_codes(ReservationId(str(each)) for each in numbers)


@given(BOOKINGS, MINUTES, GROUPS)
def test_busy_ones_are_those_that_are_not_free_at_that_minute(
    held: list[Held], minutes: Minutes, groups: list[int]
) -> None:
    index, group_of = make_index(held), np.array(groups, np.intp)
    everything = np.ones(RESOURCES, np.bool_)

    busy = BusyTimes.read(index.bookings, everything, minutes).ranges(with_cleaning=True)
    found = count_in_groups([busy], group_of, 3, minutes)

    cleaning = minutes.cleaning * MINUTE
    for number in range(minutes.count):
        free = index.free(window_of(minutes, number), now=minutes.now, cleaning_time=cleaning)
        wanted = [int(np.count_nonzero((group_of == each) & ~free)) for each in range(3)]
        assert [at_each_minute(each, minutes)[0][number] for each in found] == wanted


@given(BOOKINGS, MINUTES, st.sets(st.integers(0, 13)))
def test_busy_for_some_reservations(held: list[Held], minutes: Minutes, own: set[int]) -> None:
    index, group_of = make_index(held), np.zeros(RESOURCES, np.intp)
    everything = np.ones(RESOURCES, np.bool_)

    times = BusyTimes.read(index.bookings, everything, minutes)
    chosen = times.ranges(with_cleaning=False, owners=codes(index, sorted(own)))
    (found,) = count_in_groups([chosen], group_of, 1, minutes)

    others = [ReservationId(str(each)) for each in range(len(held)) if each not in own]
    wanted = []
    for number in range(minutes.count):
        window = window_of(minutes, number)
        free = index.free(window, now=minutes.now, cleaning_time=timedelta(0), ignoring=others)
        wanted.append(int(np.count_nonzero(~free)))
    assert at_each_minute(found, minutes) == [wanted]


@given(BOOKINGS, MINUTES, GROUPS)
def test_steps_begin_with_the_first_minute_and_differ(
    held: list[Held], minutes: Minutes, groups: list[int]
) -> None:
    index, everything = make_index(held), np.ones(RESOURCES, np.bool_)
    times = BusyTimes.read(index.bookings, everything, minutes)
    kinds = [times.ranges(with_cleaning=False), times.ranges(with_cleaning=True)]

    for steps in count_in_groups(kinds, np.array(groups, np.intp), 3, minutes):
        assert steps.minutes[0] == 0
        assert (np.diff(steps.minutes) > 0).all()
        assert (np.diff(steps.numbers, axis=1) != 0).any(axis=0).all()
        assert steps.minutes[-1] < minutes.count
        assert (steps.numbers[0] <= steps.numbers[1]).all()


def test_only_wanted_resources_are_read() -> None:
    index = make_index([Held(each, 0, 5, None, False) for each in range(3)])
    minutes = Minutes.of(Interval(at(0), at(0) + 10 * MINUTE), now=at(0), cleaning_time=timedelta(0))
    wanted = index.mask_of([ResourceId("1")])

    busy = BusyTimes.read(index.bookings, wanted, minutes).ranges(with_cleaning=True)

    assert busy.positions.tolist() == [1]
    assert (busy.low.tolist(), busy.high.tolist()) == ([0], [5])
    both = busy + all_minutes(index.mask_of([ResourceId("0")]), minutes)
    (steps,) = count_in_groups([both], np.zeros(RESOURCES, np.intp), 1, minutes)
    assert (steps.minutes.tolist(), steps.numbers.tolist()) == ([0, 5], [[2, 1]])
    assert Ranges(both.positions, both.low, both.high).of(wanted).positions.tolist() == [1]


def test_no_groups_and_no_resources() -> None:
    index = Availability()
    minutes = Minutes.of(Interval(at(0), at(0) + MINUTE), now=at(0), cleaning_time=timedelta(0))
    busy = BusyTimes.read(index.bookings, np.zeros(0, np.bool_), minutes).ranges(with_cleaning=True)

    assert count_in_groups([busy], np.zeros(0, np.intp), 0, minutes) == ()


@given(BOOKINGS, MINUTES, st.integers(1, 30))
def test_coarse_steps_show_the_minute_with_the_fewest_free_resources(
    held: list[Held], minutes: Minutes, resolution: int
) -> None:
    times = BusyTimes.read(make_index(held).bookings, np.ones(RESOURCES, np.bool_), minutes)
    kinds = [times.ranges(with_cleaning=False), times.ranges(with_cleaning=True)]
    (exact,) = count_in_groups(kinds, np.zeros(RESOURCES, np.intp), 1, minutes)

    coarse = exact.coarsened(minutes, resolution)

    by_minute = list(zip(*at_each_minute(exact, minutes), strict=True))
    cells = [(minutes.first + each) // resolution for each in range(minutes.count)]
    wanted = [
        max(
            (by_minute[each] for each in range(minutes.count) if cells[each] == cell),
            key=lambda each: each[-1],
        )
        for cell in cells
    ]
    assert list(zip(*at_each_minute(coarse, minutes), strict=True)) == wanted
    assert all((minutes.first + each) % resolution == 0 for each in coarse.minutes[1:].tolist())
    assert (np.diff(coarse.numbers, axis=1) != 0).any(axis=0).all()
