"""Free units by start, against brute force: every start is examined on its own, as a request would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from domain.test_availability import as_columns
from hypothesis import given
from hypothesis import strategies as st
from samples import at

from blazar.domain.availability import Availability, Resource
from blazar.domain.bookings import Booking
from blazar.domain.capacity import Demand, Share
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.need import Need
from blazar.domain.providers import HostProvider, Inventory
from blazar.domain.requirements import Condition, Operator, Requirement
from blazar.domain.start_times import Profile, Starts

HOSTS = 4
MINUTE = timedelta(minutes=1)
SLOT, OTHER = Demand.of({"VCPU": 2}), Demand.of({"VCPU": 1, "MEMORY_MB": 3})


def tree(vcpus: int, memory_mb: int) -> tuple[HostProvider, ...]:
    inventories = {"VCPU": Inventory(total=vcpus), "MEMORY_MB": Inventory(total=memory_mb)}
    return (HostProvider(uuid="root", name="root", inventories=inventories),)


TREES = (tree(6, 9), tree(6, 9), tree(2, 12), tree(12, 4))
"""The inventories of the hosts, by their numbers."""


@dataclass(frozen=True)
class Held:
    """A booking in minutes; *late* is the delay of its release in seconds, None if it was not released.

    It is loaded with the index, added to it later, or was loaded and is removed later.
    """

    host: int
    start: int
    length: int
    share: Share | None
    late: int | None
    fate: str = "loaded"

    def booking(self, number: int) -> Booking:
        start = at(0) + self.start * MINUTE
        end = start + self.length * MINUTE
        return Booking(
            resource_id=ResourceId(str(self.host)),
            reservation_id=ReservationId(str(number)),
            window=Interval(start, end),
            share=self.share,
            released_at=None if self.late is None else end + timedelta(seconds=self.late),
        )


SHARES = st.none() | st.builds(
    lambda slots, demand: Share(slots=slots, demand=demand), st.integers(1, 3), st.sampled_from([SLOT, OTHER])
)
BOOKINGS = st.lists(
    st.builds(
        Held,
        st.integers(0, HOSTS - 1),
        st.integers(-20, 20),
        st.integers(1, 12),
        SHARES,
        st.none() | st.integers(-30, 90),
        st.sampled_from(["loaded", "loaded", "added", "removed"]),
    ),
    max_size=12,
)
NEEDS = st.builds(
    lambda amount, demand, kind: Need(
        least=amount, most=amount, demand=demand, is_together=kind == "together", is_apart=kind == "apart"
    ),
    st.integers(1, 5),
    st.sampled_from([None, SLOT, OTHER]),
    st.sampled_from(["", "together", "apart"]),
)
STARTS = st.builds(
    lambda first, count, duration, cleaning, since_first: Starts.within(
        Interval(at(0) + first * MINUTE, at(0) + (first + count + duration) * MINUTE),
        duration * MINUTE,
        now=at(0) + first * MINUTE + timedelta(seconds=since_first),
        cleaning_time=cleaning * MINUTE,
    ),
    st.integers(0, 10),
    st.integers(0, 20),
    st.integers(1, 9),
    st.integers(0, 4),
    # The first start is that of the present minute, or later.
    st.integers(-300, 59),
)


def make_index(held: Sequence[Held], others: int = 0) -> Availability:
    """Return an index into which some bookings were loaded, and whose bookings have changed since.

    Args:
        held: The bookings.
        others: The number of further hosts, which do not have the fact ``is_own``.
    """
    index = Availability()
    resources = [
        Resource(
            id=ResourceId(str(host)),
            generation=0,
            is_reservable=True,
            facts={"is_own": "yes"} if host < HOSTS else {},
            providers=TREES[host % HOSTS],
        )
        for host in range(HOSTS + others)
    ]
    numbered = [(each, each.booking(number)) for number, each in enumerate(held)]
    index.load(resources, [as_columns([booking for each, booking in numbered if each.fate != "added"])])
    for each, booking in numbered:
        if each.fate != "loaded" and booking.reservation_id is not None:
            now_booked = [booking] if each.fate == "added" else []
            index.put_bookings_of(ResourceId(str(each.host)), 1, {booking.reservation_id: now_booked})
    return index


def units_at(
    index: Availability, need: Need, starts: Starts, number: int, hosts: Sequence[int] = range(HOSTS)
) -> int:
    """Return the free units for one start, as the choice for a request counts them."""
    window, cleaning = starts.window(number), starts.cleaning * MINUTE
    if need.demand is None:
        return int(np.count_nonzero(index.free(window, now=starts.now, cleaning_time=cleaning)))
    slots = index.headroom(need.demand, window, now=starts.now, cleaning_time=cleaning).slots(hosts)
    if need.is_together:
        return need.most if slots.max() >= need.least else 0
    return int(np.minimum(slots, 1 if need.is_apart else need.most).sum())


def check_units(profile: Profile, need: Need, starts: Starts, expected: Sequence[int]) -> None:
    """Check the units of all starts; for slots that are reserved from now on they are upper bounds.

    A choice assumes that what is overdue stays throughout the reservation.
    """
    units, later = np.minimum(profile.units, HOSTS * need.most).tolist(), 0
    if need.demand is not None:
        later = starts.begun
        assert all(bound >= each for bound, each in zip(units[:later], expected, strict=False))
    assert units[later:] == expected[later:]


@given(BOOKINGS, NEEDS, STARTS)
def test_the_units_of_all_starts_are_those_of_each_start(
    held: list[Held], need: Need, starts: Starts
) -> None:
    index = make_index(held)

    profile = index.profile(need, starts)

    expected = [units_at(index, need, starts, number) for number in range(starts.count)]
    check_units(profile, need, starts, expected)


@given(BOOKINGS, NEEDS, STARTS, st.sampled_from([24, 40]))
def test_the_units_of_some_of_many_resources_are_the_same(
    held: list[Held], need: Need, starts: Starts, others: int
) -> None:
    """With 24 others, gaps are used that were computed before some hosts changed; with 40, none are."""
    requirement = Requirement((Condition("is_own", Operator.EQ, "yes"),))

    index = make_index(held, others)
    some = index.profile(replace(need, requirement=requirement), starts)

    alone = make_index(held).profile(need, starts)
    assert some.units.tolist() == alone.units.tolist()
    assert some.releases.tolist() == alone.releases.tolist()


@given(BOOKINGS, STARTS, st.sets(st.integers(0, HOSTS - 1)), st.sampled_from([0, 40]))
def test_questions_about_some_resources_have_the_answers_for_all(
    held: list[Held], starts: Starts, hosts: set[int], others: int
) -> None:
    index = make_index(held, others)
    window = Interval(starts.at(0), starts.at(starts.count))
    times: dict[str, Any] = {"now": starts.now, "cleaning_time": starts.cleaning * MINUTE}
    among = index.mask_of([ResourceId(str(each)) for each in hosts])

    free = index.free(window, **times, among=among)
    slots = index.headroom(SLOT, window, **times, among=among).slots(sorted(hosts))

    assert free.tolist() == (index.free(window, **times) & among).tolist()
    assert slots.tolist() == index.headroom(SLOT, window, **times).slots(sorted(hosts)).tolist()


@given(BOOKINGS, NEEDS, STARTS)
def test_bookings_of_ignored_reservations_do_not_count(held: list[Held], need: Need, starts: Starts) -> None:
    ignored = frozenset(ReservationId(str(number)) for number in range(0, len(held), 2))

    profile = make_index(held).profile(need, replace(starts, ignoring=ignored))

    others = make_index([each for number, each in enumerate(held) if number % 2]).profile(need, starts)
    assert profile.units.tolist() == others.units.tolist()
    assert profile.releases.tolist() == others.releases.tolist()


def test_what_was_released_by_now_does_not_count_for_a_start_before_now() -> None:
    index = make_index([Held(1, 0, 1, None, 0)])
    starts = Starts.within(
        Interval(at(0), at(0) + 2 * MINUTE), MINUTE, now=at(0) + MINUTE, cleaning_time=timedelta(0)
    )
    need = Need(least=1, most=1, demand=SLOT)

    assert index.profile(need, starts).units.tolist() == [
        units_at(index, need, starts, each) for each in (0, 1)
    ]


@pytest.mark.parametrize("year", [6000, 6053, 6054, 9000])
def test_dates_far_ahead_can_be_searched(year: int) -> None:
    index = make_index([Held(1, 0, 1, None, 0)])
    begin = datetime(year, 1, 1, tzinfo=UTC)
    starts = Starts.within(
        Interval(begin, begin + timedelta(days=400)), MINUTE, now=at(0), cleaning_time=timedelta(0)
    )

    units = index.profile(Need(least=1, most=1), starts).units

    assert set(units.tolist()) == {len(index.reservable())}


@given(BOOKINGS, NEEDS, STARTS)
def test_units_increase_only_where_something_is_released(
    held: list[Held], need: Need, starts: Starts
) -> None:
    profile = make_index(held).profile(need, starts)

    increases = np.flatnonzero(np.diff(profile.units) > 0) + 1
    assert profile.releases[increases].all()


def test_only_suitable_resources_count() -> None:
    index = Availability()
    for number, reservable in enumerate((True, True, False)):
        resource = Resource(id=ResourceId(str(number)), generation=0, is_reservable=reservable, facts={})
        index.put(resource, [])
    starts = Starts.within(Interval(at(0), at(9)), timedelta(hours=1), now=at(0), cleaning_time=timedelta(0))

    profile = index.profile(Need(least=1, most=2), starts, excluded=index.mask_of([ResourceId("0")]))

    assert profile.units.tolist() == [1] * starts.count
    assert starts.count == 8 * 60 + 1


@pytest.mark.parametrize(("length", "count"), [(60, 1), (61, 0), (59, 2)])
def test_a_reservation_lies_wholly_in_the_window(length: int, count: int) -> None:
    window = Interval(at(0), at(1))

    starts = Starts.within(window, length * MINUTE, now=at(0), cleaning_time=timedelta(0))

    assert starts.count == count
    assert [window.covers(starts.window(each)) for each in range(count)] == [True] * count
