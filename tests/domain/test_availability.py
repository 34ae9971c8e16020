"""The in-memory index against brute force over a plain list of bookings."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import HOUR, at, window

from blazar.domain.availability import Availability, Resource
from blazar.domain.booking_rows import Mask
from blazar.domain.bookings import Booking, BookingColumns
from blazar.domain.interval import Interval
from blazar.domain.lease import ReservationId, ResourceId

HOST_IDS = [ResourceId(each) for each in ("1", "2", "3", "10", "node-a")]
RESERVATION_IDS = [ReservationId(each) for each in ("r1", "r2", "r3")]


def make_resource(resource_id: str, **fields: object) -> Resource:
    defaults = {"generation": 0, "is_reservable": True, "facts": {}}
    return Resource(id=ResourceId(resource_id), **{**defaults, **fields})  # type: ignore[arg-type]


def make_booking(
    resource_id: str, start: float, end: float, owner: str | None = "r1", released: float | None = None
) -> Booking:
    return Booking(
        resource_id=ResourceId(resource_id),
        reservation_id=ReservationId(owner) if owner else None,
        window=window(start, end),
        released_at=None if released is None else at(released),
    )


def ids_in(availability: Availability, mask: Mask) -> set[str]:
    """Return the ids of a mask's resources that still exist."""
    return {
        each for each in HOST_IDS if availability.get(each) and (mask & availability.mask_of([each])).any()
    }


@dataclass
class PlainList:
    """The same search without arrays: every call checks all bookings."""

    resources: dict[ResourceId, Resource] = field(default_factory=dict)
    bookings: dict[ResourceId, list[Booking]] = field(default_factory=dict)

    def free(
        self, wanted: Interval, now: datetime, cleaning_time: timedelta, ignoring: ReservationId | None
    ) -> set[str]:
        return {
            each
            for each in self.resources
            if not any(
                self.is_in_the_way(booking, wanted, now, cleaning_time)
                for booking in self.bookings[each]
                if ignoring is None or booking.reservation_id != ignoring
            )
        }

    @staticmethod
    def is_in_the_way(booking: Booking, wanted: Interval, now: datetime, cleaning_time: timedelta) -> bool:
        if booking.released_at is None and booking.window.end <= now and wanted.start <= now:
            return True
        end = max(booking.window.end, booking.released_at or booking.window.end)
        return booking.window.start < wanted.end + cleaning_time and wanted.start < end + cleaning_time


HOURS = st.integers(0, 12)
WINDOWS = st.tuples(HOURS, st.integers(1, 5)).map(lambda each: window(each[0], sum(each)))
OWNERS = st.sampled_from([*RESERVATION_IDS, None])


@st.composite
def booking_lists(draw: st.DrawFn, resource_id: ResourceId) -> list[Booking]:
    drawn = draw(st.lists(st.tuples(WINDOWS, OWNERS, st.none() | HOURS), max_size=4))
    return [
        Booking(
            resource_id=resource_id,
            reservation_id=owner,
            window=each,
            released_at=None if released is None else max(at(released), each.start),
        )
        for each, owner, released in drawn
    ]


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, ResourceId, bool, list[Booking]]:
    resource_id = draw(st.sampled_from(HOST_IDS))
    action = draw(st.sampled_from(["put", "put", "put_bookings", "drop"]))
    return action, resource_id, draw(st.booleans()), draw(booking_lists(resource_id))


def apply(
    change: tuple[str, ResourceId, bool, list[Booking]], number: int, index: Availability, plain: PlainList
) -> None:
    action, resource_id, is_reservable, bookings = change
    if action == "drop":
        index.drop(resource_id)
        plain.resources.pop(resource_id, None)
        return
    if action == "put":
        resource = make_resource(resource_id, generation=number, is_reservable=is_reservable)
        index.put(resource, bookings)
        plain.resources[resource_id] = resource
        plain.bookings[resource_id] = bookings
        return
    is_known = index.put_bookings(resource_id, number, bookings)
    assert is_known == (resource_id in plain.resources)
    if is_known:
        assert index.generation_of(resource_id) == number
        plain.bookings[resource_id] = bookings


def in_parts(bookings: Iterable[list[Booking]]) -> Iterator[BookingColumns]:
    """Yield the bookings of each resource as a separate part."""
    return (as_columns(each) for each in bookings)


def as_columns(flat: list[Booking]) -> BookingColumns:
    """Return bookings as they are loaded."""
    ends = [max(each.window.end, each.released_at or each.window.end) for each in flat]
    return BookingColumns(
        resource_ids=[each.resource_id for each in flat],
        reservation_ids=[each.reservation_id for each in flat],
        starts=np.array([micros(each.window.start) for each in flat], np.int64),
        ends=np.array([micros(each) for each in ends], np.int64),
        held=np.array([each.released_at is None for each in flat], np.bool_),
        slots=np.array([each.share.slots if each.share else 0 for each in flat], np.int32),
        demands=[each.share.demand if each.share else None for each in flat],
    )


def micros(instant: datetime) -> int:
    return (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


SEARCHES = st.tuples(
    WINDOWS,
    HOURS.map(at),
    st.sampled_from([timedelta(0), HOUR / 2, HOUR, 20 * HOUR]),
    st.none() | st.sampled_from([*RESERVATION_IDS, ReservationId("unknown")]),
)


def assert_agree(
    index: Availability,
    plain: PlainList,
    search: tuple[Interval, datetime, timedelta, ReservationId | None],
) -> None:
    wanted, now, cleaning_time, ignoring = search
    free = index.free(
        wanted, now=now, cleaning_time=cleaning_time, ignoring=() if ignoring is None else (ignoring,)
    )
    assert ids_in(index, free) == plain.free(wanted, now, cleaning_time, ignoring)


@given(st.lists(changes(), max_size=12), st.lists(SEARCHES, min_size=1, max_size=6))
def test_what_is_free_is_what_brute_force_finds(
    made: list[tuple[str, ResourceId, bool, list[Booking]]],
    searches: list[tuple[Interval, datetime, timedelta, ReservationId | None]],
) -> None:
    index, plain = Availability(), PlainList()

    for number, change in enumerate(made):
        apply(change, number, index, plain)
        assert_agree(index, plain, searches[number % len(searches)])

    loaded = Availability()
    loaded.load(plain.resources.values(), in_parts(plain.bookings.values()))
    for search in searches:
        assert_agree(index, plain, search)
        assert_agree(loaded, plain, search)
    assert len(index) == len(loaded) == len(plain.resources)
    assert ids_in(index, index.reservable()) == {
        each for each, resource in plain.resources.items() if resource.is_reservable
    }


@pytest.mark.parametrize("seed", range(5))
def test_thousands_of_replaced_bookings_leave_the_rest_as_it_was(seed: int) -> None:
    chance = random.Random(seed)
    index, plain = Availability(), PlainList()
    owners = [f"r{number}" for number in range(60)]

    for number in range(1500):
        resource_id = chance.choice(HOST_IDS)
        bookings = [
            make_booking(resource_id, start, start + chance.randint(1, 3), chance.choice(owners))
            for start in chance.sample(range(40), 4)
        ]
        apply((chance.choice(["put", "put_bookings"]), resource_id, True, bookings), number, index, plain)
        if number % 10 == 0:
            wanted = window(start := chance.randint(0, 40), start + 2)
            assert_agree(index, plain, (wanted, at(0), timedelta(0), ReservationId(chance.choice(owners))))


def test_reservations_are_told_apart_after_old_ones_were_forgotten() -> None:
    index = Availability()
    for resource_id, owner in (("3", "short-lived"), ("1", "r1"), ("2", "r2")):
        index.put(make_resource(resource_id), [make_booking(resource_id, 0, 9, owner)])
    for _ in range(3000):
        index.put(make_resource("3"), [make_booking("3", 0, 9, owner=None)])

    index.put(make_resource("10"), [make_booking("10", 0, 9, "r3")])

    for owner, resource_id in (("r1", "1"), ("r2", "2"), ("r3", "10")):
        free = index.free(
            window(1, 2), now=at(0), cleaning_time=timedelta(0), ignoring={ReservationId(owner)}
        )
        assert ids_in(index, free) == {resource_id}


def is_free(
    bookings: Iterable[Booking], wanted: Interval, *, now: float = 0, cleaning_time: timedelta = timedelta(0)
) -> bool:
    index = Availability()
    index.put(make_resource("1"), bookings)
    return bool(index.free(wanted, now=at(now), cleaning_time=cleaning_time)[0])


def test_what_was_loaded_can_be_changed_like_the_rest() -> None:
    index, plain = Availability(), PlainList()
    for number, resource_id in enumerate(HOST_IDS):
        plain.resources[resource_id] = make_resource(resource_id)
        plain.bookings[resource_id] = [make_booking(resource_id, number, number + 2)]
    index.load(plain.resources.values(), in_parts(plain.bookings.values()))

    apply(("put_bookings", HOST_IDS[0], True, [make_booking(HOST_IDS[0], 20, 21, "r2")]), 1, index, plain)
    apply(("drop", HOST_IDS[1], True, []), 2, index, plain)
    apply(("put", HOST_IDS[1], True, [make_booking(HOST_IDS[1], 3, 4, "r3")]), 3, index, plain)

    for start in range(24):
        for owner in (None, *RESERVATION_IDS):
            assert_agree(index, plain, (window(start, start + 1), at(0), timedelta(0), owner))


EXPIRING = st.lists(
    st.tuples(
        st.sampled_from(["put", "replace", "bury", "drop"]),
        st.sampled_from(HOST_IDS),
        st.sampled_from(RESERVATION_IDS),
        st.none() | HOURS,
        HOURS,
    ),
    max_size=25,
)


@given(EXPIRING)
def test_bookings_that_expire_count_until_then(
    steps: list[tuple[str, ResourceId, ReservationId, int | None, int]],
) -> None:
    index = Availability()
    index.load([make_resource(each) for each in HOST_IDS], [])
    plain: dict[tuple[ResourceId, ReservationId], int | None] = {}
    now = 0

    for action, resource_id, owner, expires, time in steps:
        now = max(now, time)
        mine = replace(
            make_booking(resource_id, 0, 9, owner), expires_at=None if expires is None else at(expires)
        )
        if action == "bury":
            index.put_bookings(resource_id, 0, ())
            plain = {key: each for key, each in plain.items() if key[0] != resource_id}
        elif action == "put":
            index.put_bookings(resource_id, 0, [mine])
            plain = {key: each for key, each in plain.items() if key[0] != resource_id}
            plain[resource_id, owner] = expires
        elif action == "replace":
            index.put_bookings_of(resource_id, 0, {owner: [mine]})
            plain[resource_id, owner] = expires
        index.bookings.drop_expired(at(now))
        plain = {key: each for key, each in plain.items() if each is None or each > now}
        free = index.free(window(1, 2), now=at(0), cleaning_time=timedelta(0))
        assert ids_in(index, free) == set(HOST_IDS) - {each for each, _ in plain}


HELD = st.lists(
    st.tuples(st.sampled_from(HOST_IDS[:2]), st.lists(st.tuples(HOURS, HOURS), max_size=3), HOURS),
    max_size=25,
)


@given(HELD, st.booleans())
def test_what_offers_for_a_lease_hold_expires_beside_the_bookings_of_the_lease(
    steps: list[tuple[ResourceId, list[tuple[int, int]], int]], is_loaded: bool
) -> None:
    mine, now, held = RESERVATION_IDS[0], 0, dict[ResourceId, list[tuple[int, int]]]()
    kept = [make_booking(each, 0, 1, mine) for each in HOST_IDS[:2]]
    index = Availability()
    index.load([make_resource(each) for each in HOST_IDS], in_parts([kept]), [])

    for resource_id, offered, time in steps:
        now = max(now, time)
        bookings = [make_booking(resource_id, 0, 1, mine)]
        for start, expires in offered:
            piece = make_booking(resource_id, start + 1, start + 2, mine)
            bookings.append(replace(piece, expires_at=at(expires)))
        if is_loaded:
            index.put_bookings(resource_id, 0, bookings)
        else:
            index.put_bookings_of(resource_id, 0, {mine: bookings})
        held[resource_id] = offered
        index.bookings.drop_expired(at(now))

        for hour in range(25):
            expected = set(HOST_IDS)
            expected -= {
                each
                for each in HOST_IDS[:2]
                if hour == 0 or any(start == hour - 1 and end > now for start, end in held.get(each, []))
            }
            asked = window(hour, hour + 1)
            free = index.free(asked, now=at(0), cleaning_time=timedelta(0))
            assert ids_in(index, free) == expected
            assert index.free(asked, now=at(0), cleaning_time=HOUR, ignoring=[mine]).all()
    assert len(index.bookings.owner_codes([mine])) >= 1


class TestFree:
    def test_windows_that_touch_do_not_conflict(self) -> None:
        booked = [make_booking("1", 1, 2), make_booking("1", 3, 4)]

        assert is_free(booked, window(2, 3))
        assert not is_free(booked, window(1.99, 3))
        assert not is_free(booked, window(2, 3.01))

    def test_cleaning_time_is_owed_on_both_sides(self) -> None:
        booked = [make_booking("1", 1, 2), make_booking("1", 5, 6)]

        assert is_free(booked, window(3, 4), cleaning_time=HOUR)
        assert not is_free(booked, window(2.9, 4), cleaning_time=HOUR)
        assert not is_free(booked, window(3, 4.1), cleaning_time=HOUR)

    def test_a_resource_released_late_is_not_free_now(self) -> None:
        overdue = [make_booking("1", 1, 2)]

        assert not is_free(overdue, window(3, 4), now=3)
        assert is_free(overdue, window(3.1, 4), now=3)
        assert is_free([make_booking("1", 1, 2, released=2.5)], window(3, 4), now=3)

    def test_cleaning_starts_when_a_resource_is_released_late(self) -> None:
        late = [make_booking("1", 1, 2, owner=None, released=3)]

        assert is_free(late, window(4, 5), now=3.5, cleaning_time=HOUR)
        assert not is_free(late, window(3.5, 5), now=3.5, cleaning_time=HOUR)
