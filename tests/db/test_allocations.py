"""Allocations of resources, and the generations that guard them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa
from clocks import ManualClock
from log import changes_after
from samples import SHARE, at, make_allocation, make_host, make_lease, window
from statements import counted

from blazar.db.allocations import SqlAllocations
from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import Allocation, ReservationId, ResourceId
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.allocations import BookedWindow

ONE, TWO, THREE = (ResourceId(each) for each in "123")
R0, R1, S0 = (ReservationId(each) for each in ("a-r0", "a-r1", "b-r0"))


@pytest.fixture(autouse=True)
def facts(store: SqlStore) -> None:
    """Insert hosts 1 to 3, a lease ``a`` from 2 to 4 and a lease ``b`` from 4 to 6."""
    with store.begin() as transaction:
        for number in "123":
            transaction.of(HOST_STORE).insert(make_host(number))
        transaction.leases.insert(make_lease("a", start=2, end=4, reservations=2))
        transaction.leases.insert(make_lease("b", start=4, end=6))
        transaction.commit()


def write(store: SqlStore, change: Callable[[SqlAllocations], object]) -> None:
    with store.begin() as transaction:
        change(transaction.allocations)
        transaction.commit()


def book(store: SqlStore, *new: Allocation) -> None:
    write(store, lambda allocations: allocations.insert(new))


def generations(store: SqlStore) -> dict[ResourceId, int]:
    with store.read() as transaction:
        return dict(transaction.availability.generations([ONE, TWO, THREE]))


def held(store: SqlStore, *reservation_ids: ReservationId) -> tuple[Allocation, ...]:
    with store.read() as transaction:
        return transaction.allocations.of_reservations(reservation_ids)


class TestClaim:
    def test_a_claim_moves_its_resources_on_and_no_others(self, store: SqlStore) -> None:
        write(store, lambda allocations: allocations.claim({ONE: 0, TWO: 0}))

        assert generations(store) == {ONE: 1, TWO: 1, THREE: 0}

    @pytest.mark.parametrize("expected", [{ONE: 1}, {ONE: 0, TWO: 1}, {ONE: 0, ResourceId("gone"): 0}])
    def test_a_claim_on_anything_stale_or_gone_is_refused_whole(
        self, store: SqlStore, expected: dict[ResourceId, int]
    ) -> None:
        with pytest.raises(ConcurrentUpdate):
            write(store, lambda allocations: allocations.claim(expected))

        assert generations(store) == {ONE: 0, TWO: 0, THREE: 0}

    def test_a_claim_on_nothing_is_fine(self, store: SqlStore, engine: sa.Engine) -> None:
        with counted(engine) as statements:
            write(store, lambda allocations: allocations.claim({}))

        assert statements.count("SELECT", "UPDATE", "INSERT") == 0

    def test_every_claim_and_touch_is_in_the_log(self, store: SqlStore) -> None:
        with store.read() as transaction:
            before = transaction.availability.last_change()

        write(store, lambda allocations: allocations.claim({TWO: 0, ONE: 0}))
        write(store, lambda allocations: allocations.touch([THREE]))
        write(store, lambda allocations: allocations.touch([]))

        with store.read() as transaction:
            logged = changes_after(transaction, before)
        assert [each[1:] for each in logged] == [(ONE, False), (TWO, False), (THREE, False)]
        assert generations(store) == {ONE: 1, TWO: 1, THREE: 1}

    @pytest.mark.parametrize("others", [{}, {TWO: 0}])
    def test_of_several_claims_at_the_same_time_one_wins(
        self, store: SqlStore, others: dict[ResourceId, int]
    ) -> None:
        claimants = 4
        barrier = threading.Barrier(claimants)

        def try_to_claim(number: int) -> bool:
            expected = {ONE: 0, **others} if number % 2 else {**others, ONE: 0}
            barrier.wait(timeout=10)
            try:
                write(store, lambda allocations: allocations.claim(expected))
            except ConcurrentUpdate:
                return False
            return True

        with ThreadPoolExecutor(claimants) as threads:
            outcomes = list(threads.map(try_to_claim, range(claimants)))

        assert sorted(outcomes) == [False, False, False, True]
        assert generations(store)[ONE] == 1

    def test_a_claim_that_was_rolled_back_leaves_the_resource_to_others(self, store: SqlStore) -> None:
        with store.begin() as transaction:
            transaction.allocations.claim({ONE: 0})

        write(store, lambda allocations: allocations.claim({ONE: 0}))

        assert generations(store)[ONE] == 1


class TestHolding:
    def test_allocations_come_back_as_they_went(self, store: SqlStore) -> None:
        new = (make_allocation("1", R0, 2, 4), make_allocation("2", R1, 2, 4, share=SHARE))

        book(store, *new, make_allocation("3", S0, 4, 6))

        assert held(store, R0, R1) == new
        assert held(store) == ()
        assert held(store, ReservationId("unknown")) == ()

    def test_moving_gives_the_unreleased_ones_another_window(self, store: SqlStore) -> None:
        book(
            store,
            make_allocation("1", R0, 2, 4),
            make_allocation("2", R0, 2, 4),
            make_allocation("3", S0, 4, 6),
        )
        write(store, lambda allocations: allocations.release(R0, [TWO], at(3)))

        write(store, lambda allocations: allocations.move([R0, R1], window(2, 9), began_at=at(2)))

        assert held(store, R0, S0) == (make_allocation("1", R0, 2, 9), make_allocation("3", S0, 4, 6))
        with store.read() as transaction:
            [cleaned] = transaction.availability.bookings([TWO])
        assert cleaned.window == window(2, 4)

    def test_what_came_into_a_lease_later_keeps_its_start_while_that_is_in_the_window(
        self, store: SqlStore
    ) -> None:
        book(store, make_allocation("1", R0, 2, 4), make_allocation("2", R0, 3, 4))

        write(store, lambda allocations: allocations.move([R0], window(2, 6), began_at=at(2)))
        assert held(store, R0) == (make_allocation("1", R0, 2, 6), make_allocation("2", R0, 3, 6))

        write(store, lambda allocations: allocations.move([R0], window(2, 3), began_at=at(2)))
        assert held(store, R0) == (make_allocation("1", R0, 2, 3), make_allocation("2", R0, 2, 3))

    def test_some_or_all_allocations_of_a_reservation_can_be_forgotten(self, store: SqlStore) -> None:
        book(store, *(make_allocation(number, R0, 2, 4) for number in "123"))

        write(store, lambda allocations: allocations.remove(R0, []))
        assert len(held(store, R0)) == 3

        write(store, lambda allocations: allocations.remove(R0, [ONE]))
        assert [each.resource_id for each in held(store, R0)] == [TWO, THREE]

        write(store, lambda allocations: allocations.remove(R0))
        assert held(store, R0) == ()

    def test_many_allocations_are_deleted_by_one_statement(self, store: SqlStore, engine: sa.Engine) -> None:
        book(store, *(make_allocation(number, R0, 2, 4) for number in "123"))
        unknown = [ResourceId(f"unknown-{number}") for number in range(300)]
        sent: list[tuple[str, bool]] = []

        def note(connection: object, cursor: object, text: str, values: object, *more: object) -> None:
            sent.append((text.split()[0], bool(more[-1])))

        sa.event.listen(engine, "before_cursor_execute", note)
        write(store, lambda allocations: allocations.remove(R0, [ONE, TWO, *unknown]))
        sa.event.remove(engine, "before_cursor_execute", note)

        assert sent.count(("DELETE", False)) == 1
        assert not any(has_many for _, has_many in sent)
        assert [each.resource_id for each in held(store, R0)] == [THREE]

    def test_what_is_being_cleaned_is_not_forgotten_with_the_rest(self, store: SqlStore) -> None:
        book(store, make_allocation("1", R0, 2, 4), make_allocation("2", R0, 2, 4))
        write(store, lambda allocations: allocations.release(R0, [ONE], at(4)))

        write(store, lambda allocations: allocations.remove(R0))

        with store.read() as transaction:
            assert transaction.allocations.count_on(ONE) == 1
            assert transaction.allocations.count_on(TWO) == 0


class TestRelease:
    def test_a_resource_without_cleaning_is_free_at_once(self, store: SqlStore) -> None:
        book(store, make_allocation("1", R0, 2, 4), make_allocation("2", R0, 2, 4))

        write(store, lambda allocations: allocations.release(R0, [ONE], None))

        assert [each.resource_id for each in held(store, R0)] == [TWO]
        with store.read() as transaction:
            assert transaction.allocations.count_on(ONE) == 0
        assert generations(store) == {ONE: 1, TWO: 0, THREE: 0}

    def test_a_resource_that_is_cleaned_stays_in_the_books_but_is_held_no_more(self, store: SqlStore) -> None:
        book(store, make_allocation("1", R0, 2, 4))

        write(store, lambda allocations: allocations.release(R0, [ONE], at(4.5)))

        assert held(store, R0) == ()
        with store.read() as transaction:
            assert transaction.allocations.count_on(ONE) == 1
            [booking] = transaction.availability.bookings([ONE])
        assert (booking.window, booking.released_at) == (window(2, 4), at(4.5))
        assert generations(store)[ONE] == 1

    def test_releasing_again_changes_no_instant(self, store: SqlStore) -> None:
        book(store, make_allocation("1", R0, 2, 4))

        write(store, lambda allocations: allocations.release(R0, [ONE], at(4)))
        write(store, lambda allocations: allocations.release(R0, [ONE], at(5)))
        write(store, lambda allocations: allocations.release(R0, [], at(6)))

        with store.read() as transaction:
            [booking] = transaction.availability.bookings([ONE])
        assert booking.released_at == at(4)

    def test_purging_forgets_what_was_released_before(self, store: SqlStore) -> None:
        book(store, *(make_allocation(number, R0, 2, 4) for number in "123"))
        write(store, lambda allocations: allocations.release(R0, [ONE], at(4)))
        write(store, lambda allocations: allocations.release(R0, [TWO], at(5)))
        before = generations(store)

        write(store, lambda allocations: allocations.purge_released(at(5)))

        with store.read() as transaction:
            counts = [transaction.allocations.count_on(each) for each in (ONE, TWO, THREE)]
        assert counts == [0, 1, 1]
        assert generations(store) == {**before, ONE: before[ONE] + 1}


class TestWaiting:
    def test_earlier_holders_are_those_that_have_not_released_the_resource(self, store: SqlStore) -> None:
        book(store, make_allocation("1", R0, 2, 4), make_allocation("2", R0, 2, 4))
        book(store, make_allocation("1", S0, 4, 6), make_allocation("3", S0, 4, 6))

        def holders(*reservation_ids: ReservationId, start: float) -> dict[ResourceId, ReservationId]:
            with store.read() as transaction:
                held = transaction.allocations.held_before(reservation_ids, at(start))
                return {key: each.reservation_id for key, each in held.items()}

        assert holders(S0, start=4) == {ONE: R0}
        assert holders(S0, start=2) == {}
        assert holders(R0, start=2) == {}
        assert holders(R0, S0, start=9) == {}
        assert holders(start=9) == {}

        write(store, lambda allocations: allocations.release(R0, [ONE], at(4)))

        assert holders(S0, start=4) == {}

    def test_those_leases_wait_for_a_resource_that_have_begun_and_hold_it(self, store: SqlStore) -> None:
        book(
            store,
            make_allocation("1", R0, 2, 4),
            make_allocation("2", R1, 2, 4),
            make_allocation("1", S0, 4, 6),
        )

        def waiting(*resource_ids: ResourceId, now: float) -> set[str]:
            with store.read() as transaction:
                return set(transaction.allocations.waiting_leases(resource_ids, at(now)))

        assert waiting(ONE, TWO, now=1.9) == set()
        assert waiting(ONE, TWO, now=2) == {"a"}
        assert waiting(ONE, now=4) == {"a", "b"}
        assert waiting(TWO, now=9) == {"a"}
        assert waiting(THREE, now=9) == set()
        assert waiting(now=9) == set()

        write(store, lambda allocations: allocations.release(R0, [ONE], at(4)))

        assert waiting(ONE, now=4) == {"b"}


class TestListing:
    @pytest.fixture(autouse=True)
    def booked(self, store: SqlStore) -> None:
        book(
            store,
            make_allocation("1", S0, 4, 6),
            make_allocation("1", R0, 2, 4),
            make_allocation("2", R1, 2, 4),
        )

    @staticmethod
    def listed(store: SqlStore, clock: ManualClock, **which: str) -> list[tuple[str, str]]:
        with store.read() as transaction:
            found = transaction.allocations.list_booked(now=clock.now(), **which)  # type: ignore[arg-type]
        return [(each.resource_id, each.reservation_id) for each in found]

    def test_a_booking_tells_whose_it_is_and_when(self, store: SqlStore, clock: ManualClock) -> None:
        with store.read() as transaction:
            [found] = transaction.allocations.list_booked(now=clock.now(), reservation_id=S0)

        assert found == BookedWindow(
            resource_id=ONE, reservation_id=S0, lease_id=make_lease("b").id, start=at(4), end=at(6)
        )

    def test_present_and_future_ones_are_listed_soonest_first(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        assert self.listed(store, clock) == [(ONE, R0), (TWO, R1), (ONE, S0)]

        clock.set(at(4.1))

        assert self.listed(store, clock) == [(ONE, S0)]

    def test_of_one_lease_or_reservation_past_ones_are_listed_too(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        clock.set(at(99))

        assert self.listed(store, clock, lease_id="a") == [(ONE, R0), (TWO, R1)]
        assert self.listed(store, clock, reservation_id=R1) == [(TWO, R1)]
        assert self.listed(store, clock, lease_id="b", reservation_id=R1) == []
        assert self.listed(store, clock, lease_id="unknown") == []

    def test_one_resource_can_be_asked_for(self, store: SqlStore, clock: ManualClock) -> None:
        assert self.listed(store, clock, resource_id=ONE) == [(ONE, R0), (ONE, S0)]
        assert self.listed(store, clock, resource_id=TWO, lease_id="b") == []

    def test_released_resources_are_not_listed(self, store: SqlStore, clock: ManualClock) -> None:
        write(store, lambda allocations: allocations.release(R0, [ONE], at(4)))

        assert self.listed(store, clock) == [(TWO, R1), (ONE, S0)]

    def test_the_dates_are_the_leases_own(self, store: SqlStore, clock: ManualClock) -> None:
        lease = make_lease("b", start=4, end=6)
        with store.begin() as transaction:
            transaction.leases.replace(lease, replace(lease, end=at(4)), at(4))
            transaction.commit()

        with store.read() as transaction:
            [found] = transaction.allocations.list_booked(now=clock.now(), lease_id="b")
        assert (found.start, found.end) == (at(4), at(4))


def test_resources_that_two_leases_hold_at_the_same_time_are_found(store: SqlStore) -> None:
    # No database refuses a share of a host that is allocated as a whole.
    book(store, make_allocation("1", R0, 2, 4), make_allocation("1", S0, 3, 6, share=SHARE))
    book(store, make_allocation("2", R0, 2, 4), make_allocation("2", S0, 4, 6))
    book(store, make_allocation("3", R1, 2, 6, share=SHARE), make_allocation("3", S0, 4, 6, share=SHARE))

    with store.read() as transaction:
        assert transaction.allocations.list_overlaps(9) == ((ONE, "a", "b"),)
        assert transaction.allocations.list_overlaps(0) == ()


def test_the_holders_of_a_project_are_its_reservations_with_allocations(store: SqlStore) -> None:
    own, idle = make_lease("own", project_id="p1", user_id="u1"), make_lease("idle", project_id="p1")
    other = make_lease("other", project_id="p2")
    with store.begin() as transaction:
        transaction.leases.insert_many([own, idle, other])
        transaction.commit()
    first, second = own.reservations[0].id, other.reservations[0].id
    held_by = ((ONE, first), (TWO, first), (THREE, second))
    book(store, *(make_allocation(each, reservation_id, 1, 5) for each, reservation_id in held_by))

    with store.read() as transaction:
        assert transaction.allocations.holders_of("p1") == {first: "u1"}
        assert transaction.allocations.holders_of("p3") == {}
