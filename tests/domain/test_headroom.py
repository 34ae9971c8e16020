"""Numbers of free instances in a window: arrays against brute force over every hour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import HOUR, at, window

from blazar.domain.availability import Availability, Resource
from blazar.domain.bookings import Booking
from blazar.domain.capacity import Demand, Share, count_slots
from blazar.domain.headroom import Headroom
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.providers import HostProvider, Inventory

OWN, OTHER = ReservationId("own"), ReservationId("other")
DEMANDS = [
    Demand.of({"VCPU": 1}),
    Demand.of({"VCPU": 2, "MEMORY_MB": 3}),
    Demand.of({"VCPU": 4}, ["T"]),
    Demand.of({"VCPU": 1, "MEMORY_MB": 1}, [], ["T"]),
    Demand.of({"MEMORY_MB": 2, "VGPU": 1}),
    Demand.of({"VGPU": 2}, ["BELOW"]),
]


def provider(name: str, traits: Sequence[str] = (), **inventories: Inventory) -> HostProvider:
    return HostProvider(uuid=name, name=name, inventories=inventories, traits=frozenset(traits))


INVENTORIES = st.builds(
    Inventory,
    total=st.integers(0, 12),
    min_unit=st.sampled_from([1, 1, 2]),
    max_unit=st.sampled_from([12, 12, 3]),
    step_size=st.sampled_from([1, 1, 2]),
    allocation_ratio=st.sampled_from([1.0, 1.5]),
)
ROOTS = st.builds(
    lambda vcpus, memory, traits: provider("root", traits, VCPU=vcpus, MEMORY_MB=memory),
    INVENTORIES,
    INVENTORIES,
    st.sampled_from([(), (), ("T",)]),
)
DEVICES = st.builds(
    lambda vgpus, traits: provider("device", traits, VGPU=vgpus),
    INVENTORIES,
    st.sampled_from([(), ("BELOW",), ("T",)]),
)
TREES = (
    st.tuples(ROOTS)
    | st.tuples(ROOTS)
    | st.tuples(ROOTS, DEVICES)
    | st.tuples(ROOTS, DEVICES, DEVICES)
    | st.just(())
)
SHARES = st.builds(Share, slots=st.integers(1, 3), demand=st.sampled_from(DEMANDS))
WINDOWS = st.tuples(st.integers(0, 10), st.integers(1, 6)).map(lambda each: window(each[0], sum(each)))
BOOKINGS = st.tuples(
    WINDOWS,
    st.sampled_from([OTHER, OTHER, OWN, None]),
    st.one_of(SHARES, SHARES, SHARES, st.none()),
    st.sampled_from([None, None, 3, 9]),
)


@dataclass(frozen=True)
class Question:
    demand: Demand
    window: Interval
    now: datetime
    cleaning_time: timedelta
    ignoring: frozenset[ReservationId]


QUESTIONS = st.builds(
    Question,
    demand=st.sampled_from(DEMANDS),
    window=WINDOWS,
    now=st.integers(0, 12).map(at),
    cleaning_time=st.sampled_from([timedelta(0), HOUR]),
    ignoring=st.sampled_from([frozenset(), frozenset({OWN})]),
)


def ask(
    index: Availability, question: Question, beside: Mapping[ResourceId, Sequence[Share | None]] | None = None
) -> Headroom:
    return index.headroom(
        question.demand,
        question.window,
        now=question.now,
        cleaning_time=question.cleaning_time,
        ignoring=question.ignoring,
        beside=beside,
    )


def by_brute_force(
    resource: Resource,
    bookings: Sequence[Booking],
    question: Question,
    beside: Sequence[Share | None],
) -> int:
    end = question.window.end + question.cleaning_time
    counted = [each for each in bookings if each.reservation_id not in question.ignoring]
    moments: list[list[Share]] = []
    instant = question.window.start
    while instant < end:
        present = [each.share for each in counted if is_there(each, instant, question)] + list(beside)
        if None in present:
            return 0
        moments.append([each for each in present if each])
        instant += HOUR
    return count_slots(resource.providers, question.demand, moments)


def is_there(booking: Booking, instant: datetime, question: Question) -> bool:
    has_begun = question.window.start <= question.now
    if has_begun and booking.released_at is None and booking.window.end <= question.now:
        return True
    end = max(booking.window.end, booking.released_at or booking.window.end) + question.cleaning_time
    is_past = booking.released_at is not None and end <= question.now
    return booking.window.start <= instant < end and not is_past


@given(
    st.lists(st.tuples(TREES, st.lists(BOOKINGS, max_size=5)), min_size=1, max_size=4),
    st.lists(st.tuples(QUESTIONS, st.none() | SHARES | st.just("whole")), min_size=1, max_size=4),
)
def test_as_many_slots_are_free_as_brute_force_finds(
    hosts: list[
        tuple[tuple[HostProvider, ...], list[tuple[Interval, ReservationId | None, Share | None, int | None]]]
    ],
    questions: list[tuple[Question, Share | str | None]],
) -> None:
    index, known = Availability(), []
    for number, (tree, drawn) in enumerate(hosts):
        resource = Resource(
            id=ResourceId(str(number)), generation=0, is_reservable=True, facts={}, providers=tree
        )
        bookings = [
            Booking(
                resource_id=resource.id,
                reservation_id=owner,
                window=each,
                share=share,
                released_at=None if released is None else max(at(released), each.start),
            )
            for each, owner, share, released in drawn
        ]
        index.put(resource, bookings)
        known.append((resource, bookings))

    for question, extra in questions:
        beside: list[Share | None] = []
        if extra is not None:
            beside = [extra if isinstance(extra, Share) else None]
        headroom = ask(index, question, {known[0][0].id: beside})
        slots = headroom.slots(range(len(known)))
        expected = [
            by_brute_force(*each, question, beside if number == 0 else ())
            for number, each in enumerate(known)
        ]
        assert slots.tolist() == expected
        assert (headroom.at_most >= slots).all()
        assert [headroom.slots([each])[0] for each in range(len(known))] == expected


class TestRoom:
    HOST = (provider("root", VCPU=Inventory(total=8)),)

    def index(self, *bookings: tuple[float, float, Share | None]) -> Availability:
        index = Availability()
        for number in ("1", "2"):
            resource = Resource(
                id=ResourceId(number), generation=0, is_reservable=True, facts={}, providers=self.HOST
            )
            own = bookings if number == "1" else ()
            index.put(
                resource,
                [
                    Booking(resource_id=resource.id, reservation_id=OTHER, window=window(*each), share=share)
                    for *each, share in own
                ],
            )
        return index

    def question(self, start: float = 4, end: float = 6, **fields: object) -> Question:
        defaults: dict[str, object] = {
            "demand": Demand.of({"VCPU": 1}),
            "window": window(start, end),
            "now": at(0),
            "cleaning_time": timedelta(0),
            "ignoring": frozenset(),
        }
        return Question(**{**defaults, **fields})  # type: ignore[arg-type]

    def test_a_share_is_counted_once_for_each_of_its_slots(self) -> None:
        """A share is counted with its number of instances."""
        index = self.index((4, 6, Share(slots=3, demand=Demand.of({"VCPU": 2}))))

        assert ask(index, self.question()).slots([0, 1]).tolist() == [2, 8]

    def test_only_peaks_inside_of_the_window_count_and_touching_ones_do_not_add_up(self) -> None:
        """Only the highest simultaneous use within the window counts."""
        big, small = (Share(slots=1, demand=Demand.of({"VCPU": each})) for each in (7, 3))
        index = self.index((0, 4, big), (4, 5, small), (5, 6, small), (6, 9, big))

        assert ask(index, self.question()).slots([0]).tolist() == [5]

    def test_one_who_has_all_of_a_host_leaves_nothing(self) -> None:
        headroom = ask(self.index((5, 9, None)), self.question())

        assert headroom.at_most.tolist() == [0, 8]
        assert headroom.is_shared.tolist() == [False, False]

    def test_hosts_with_shares_are_told_apart(self) -> None:
        headroom = ask(self.index((5, 9, Share(slots=1, demand=DEMANDS[0]))), self.question())

        assert headroom.is_shared.tolist() == [True, False]

    def test_what_should_be_over_but_is_not_counts_in_a_window_that_has_begun(self) -> None:
        index = self.index((0, 2, Share(slots=1, demand=Demand.of({"VCPU": 5}))))

        assert ask(index, self.question(now=at(5))).slots([0]).tolist() == [3]
        assert ask(index, self.question(now=at(3))).slots([0]).tolist() == [8]

    def test_thousands_of_distinct_demands_are_forgotten_with_their_bookings(self) -> None:
        index = self.index()
        resource = index.get(ResourceId("1"))
        assert resource is not None
        kept = Booking(
            resource_id=ResourceId("2"),
            reservation_id=OTHER,
            window=window(4, 6),
            share=Share(slots=2, demand=Demand.of({"VCPU": 3})),
        )
        index.put_bookings(ResourceId("2"), 1, [kept])
        for number in range(1, 3000):
            share = Share(slots=1, demand=Demand.of({"VCPU": 1, "MEMORY_MB": number}))
            booking = Booking(resource_id=resource.id, reservation_id=OTHER, window=window(4, 6), share=share)
            index.put_bookings(resource.id, number, [booking])

        assert ask(index, self.question()).slots([0, 1]).tolist() == [7, 2]

    def test_the_bound_of_a_host_with_devices_is_what_all_of_them_have_left(self) -> None:
        gpu = Demand.of({"VCPU": 1, "VGPU": 1})
        devices = (provider(f"gpu-{each}", VGPU=Inventory(total=2)) for each in (1, 2))
        host = Resource(
            id=ResourceId("1"),
            generation=0,
            is_reservable=True,
            facts={},
            providers=(*self.HOST, *devices),
        )
        index, booked = Availability(), Share(slots=3, demand=gpu)
        index.put(
            host,
            [Booking(resource_id=host.id, reservation_id=OTHER, window=window(0, 9), share=booked)],
        )

        assert ask(index, self.question(demand=gpu)).at_most.tolist() == [1]

    @pytest.mark.parametrize("amount", [2**31, 2**40])
    def test_a_demand_that_no_host_can_meet_causes_no_overflow(self, amount: int) -> None:
        headroom = ask(self.index(), self.question(demand=Demand.of({"VCPU": amount})))

        assert headroom.slots([0, 1]).tolist() == [0, 0]
        assert headroom.at_most.dtype == np.int64
